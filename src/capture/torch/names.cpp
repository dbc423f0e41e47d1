#include "capture/torch/names.hpp"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "sonde/sonde.h"

namespace sonde::capture::torch {
namespace {

constexpr std::size_t kStoreBytes = 1 << 20;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

std::uint64_t NameCache::hash_of(const char* bytes, std::size_t size) {
  std::uint64_t hash = 0x9E3779B97F4A7C15u ^ size;
  for (; size >= 8; bytes += 8, size -= 8) {
    std::uint64_t word;
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  std::uint64_t rest = 0;
  memcpy(&rest, bytes, size);
  hash = (hash ^ rest) * 0xD6E8FEB86659FD93u;
  hash ^= hash >> 32;
  return hash == 0 ? 1 : hash;
}

std::uint32_t NameCache::look_up(std::uint64_t hash, const char* key, std::size_t size) const {
  for (std::size_t i = hash % kEntries, tries = 0; tries < 64; i = (i + 1) % kEntries, ++tries) {
    const Entry& entry = entries_[i];
    const std::uint64_t found = __atomic_load_n(&entry.hash, __ATOMIC_ACQUIRE);
    if (found == 0) return 0;
    if (found == hash && entry.size == size && memcmp(entry.key, key, size) == 0) return entry.id;
  }
  return 0;
}

std::uint32_t NameCache::add(std::uint64_t hash, const char* key, std::size_t size,
                             const char* text) {
  const std::uint32_t id = sonde_intern(text);
  if (id == 0) return 0;
  pthread_mutex_lock(&lock);
  if (look_up(hash, key, size) == 0 && used_ < kEntries / 2 && size <= kStoreBytes) {
    if (store_left_ < size) {
      void* const more =
          mmap(nullptr, kStoreBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      store_ = more == MAP_FAILED ? nullptr : static_cast<char*>(more);
      store_left_ = store_ ? kStoreBytes : 0;
    }
    for (std::size_t i = hash % kEntries, tries = 0; store_left_ >= size && store_ && tries < 64;
         i = (i + 1) % kEntries, ++tries) {
      Entry& entry = entries_[i];
      if (entry.hash != 0) continue;
      memcpy(store_, key, size);
      entry.key = store_;
      entry.size = static_cast<std::uint32_t>(size);
      entry.id = id;
      __atomic_store_n(&entry.hash, hash, __ATOMIC_RELEASE);
      store_ += size;
      store_left_ -= size;
      ++used_;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return id;
}

std::uint32_t NameCache::find(const char* text) {
  const std::size_t size = strlen(text);
  const std::uint64_t hash = hash_of(text, size);
  if (const std::uint32_t id = look_up(hash, text, size)) return id;
  return add(hash, text, size, text);
}

}  // namespace sonde::capture::torch
