#include "trace/string_pool.hpp"

#include <cstring>

namespace sonde {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;

std::uint64_t load8(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Sixteen bytes per multiplication: kernel names are hundreds of bytes long.
std::uint32_t hash_of(std::string_view text) {
  constexpr std::uint64_t k0 = 0x2D358DCCAA6C78A5ull;
  constexpr std::uint64_t k1 = 0x8BB84B93962EACC9ull;
  const char* p = text.data();
  std::size_t n = text.size();
  std::uint64_t h = k0 ^ n;
  while (n > 16) {
    h = fold(load8(p) ^ k1, load8(p + 8) ^ h);
    p += 16;
    n -= 16;
  }
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (n >= 8) {
    a = load8(p);
    b = load8(p + n - 8);
  } else if (n > 0) {
    std::memcpy(&a, p, n);
  }
  h = fold(a ^ k1, b ^ h);
  return static_cast<std::uint32_t>(h ^ (h >> 32));
}

}  // namespace

StringPool::StringPool() : slots_(1024, 0) {
  entries_.reserve(256);
  intern("");
}

StringId StringPool::intern(std::string_view text) {
  if (text.size() > UINT32_MAX) text = text.substr(0, UINT32_MAX);
  const std::uint32_t hash = hash_of(text);
  const std::uint32_t slot = slot_for(text, hash);
  if (slots_[slot] != 0) return StringId(slots_[slot] - 1);
  const auto index = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({store(text), static_cast<std::uint32_t>(text.size()), hash});
  slots_[slot] = index + 1;
  if (entries_.size() * 2 > slots_.size()) grow();
  return StringId(index);
}

StringId StringPool::find(std::string_view text) const {
  const std::uint32_t slot = slot_for(text, hash_of(text));
  return slots_[slot] != 0 ? StringId(slots_[slot] - 1) : StringId();
}

std::size_t StringPool::bytes() const {
  return stored_bytes_ + entries_.capacity() * sizeof(Entry) +
         slots_.capacity() * sizeof(slots_[0]);
}

const char* StringPool::store(std::string_view text) {
  if (text.size() > free_bytes_) {
    const std::size_t size = text.size() > kChunkBytes / 4 ? text.size() : kChunkBytes;
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    stored_bytes_ += size;
    if (size != kChunkBytes) {
      std::memcpy(chunks_.back().get(), text.data(), text.size());
      return chunks_.back().get();
    }
    free_ = chunks_.back().get();
    free_bytes_ = size;
  }
  char* at = free_;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return at;
}

std::uint32_t StringPool::slot_for(std::string_view text, std::uint32_t hash) const {
  const auto mask = static_cast<std::uint32_t>(slots_.size() - 1);
  for (std::uint32_t i = hash & mask;; i = (i + 1) & mask) {
    if (slots_[i] == 0) return i;
    const Entry& entry = entries_[slots_[i] - 1];
    if (entry.hash == hash && entry.size == text.size() &&
        (text.empty() || std::memcmp(entry.data, text.data(), text.size()) == 0)) {
      return i;
    }
  }
}

void StringPool::grow() {
  slots_.assign(slots_.size() * 4, 0);
  const auto mask = static_cast<std::uint32_t>(slots_.size() - 1);
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    std::uint32_t i = entries_[index].hash & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = index + 1;
  }
}

}  // namespace sonde
