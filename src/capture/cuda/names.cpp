#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/cuda/collector.hpp"

// Kernels name themselves by the address of a text, which another text may take over when a module
// is unloaded. So every record's text is compared with what is known of its address.

namespace sonde::capture::cuda {

using cupti::NameEntry;
using cupti::NameType;

namespace {

constexpr std::uint32_t kFirstSlots = 1 << 12;
constexpr std::uint32_t kMostNames = 1 << 20;
constexpr std::size_t kMaxText = 64 * 1024;
constexpr std::uint32_t kFunctions = 4096;

// In two tables: by address, and by text.
struct Slot {
  std::uint64_t key;  // the address, or the hash of the text
  const char* text;   // in the file
  std::uint32_t size;
  std::uint32_t id;  // 0: nothing here
};

struct Table {
  Slot* slots;
  std::uint32_t capacity;
  std::uint32_t count;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Table by_address;
Table by_text;
std::uint32_t last_id;
bool noted[2][kFunctions];

Slot* map_slots(std::uint32_t count) {
  void* const memory = mmap(nullptr, count * sizeof(Slot), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Slot*>(memory);
}

std::uint64_t mix(std::uint64_t key) {
  key ^= key >> 33;
  key *= 0xFF51'AFD7'ED55'8CCDu;
  return key ^ key >> 33;
}

Slot& place_of(const Table& table, std::uint64_t key, const char* text, std::size_t size) {
  for (std::uint64_t at = mix(key);; ++at) {
    Slot& slot = table.slots[at & (table.capacity - 1)];
    if (slot.id == 0) return slot;
    if (slot.key == key && (!text || (slot.size == size && memcmp(slot.text, text, size) == 0))) {
      return slot;
    }
  }
}

bool has_room(Table& table) {
  if (table.capacity > 0 && table.count < table.capacity / 2) return true;
  const std::uint32_t capacity = table.capacity ? table.capacity * 2 : kFirstSlots;
  if (capacity > 4 * kMostNames) return false;
  Slot* const slots = map_slots(capacity);
  if (!slots) return false;
  const Table grown{slots, capacity, table.count};
  for (std::uint32_t i = 0; i < table.capacity; ++i) {
    const Slot& slot = table.slots[i];
    if (slot.id == 0) continue;
    std::uint64_t at = mix(slot.key);
    while (grown.slots[at & (capacity - 1)].id != 0) ++at;
    grown.slots[at & (capacity - 1)] = slot;
  }
  if (table.slots) munmap(table.slots, table.capacity * sizeof(Slot));
  table = grown;
  return true;
}

std::uint64_t hash_of(const char* text, std::size_t size) {
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211u;
  }
  return hash;
}

// nullptr where there is no room.
const char* write_entry(NameType type, std::uint64_t key, const char* text, std::size_t size,
                        std::uint32_t id) {
  char* const at = append_name((sizeof(NameEntry) + size + 7) & ~std::size_t{7});
  if (!at) return nullptr;
  auto* const entry = reinterpret_cast<NameEntry*>(at);
  entry->key = key;
  entry->type = type;
  entry->size = static_cast<std::uint32_t>(size);
  memcpy(at + sizeof *entry, text, size);
  __atomic_store_n(&entry->id, id, __ATOMIC_RELEASE);
  return at + sizeof *entry;
}

std::uint32_t find_or_add(const char* text) {
  const auto address = reinterpret_cast<std::uintptr_t>(text);
  if (!has_room(by_address) || !has_room(by_text)) return 0;
  Slot& seen = place_of(by_address, address, nullptr, 0);
  if (seen.id != 0 && strncmp(seen.text, text, seen.size) == 0 && text[seen.size] == 0) {
    return seen.id;
  }
  const std::size_t size = strnlen(text, kMaxText);
  Slot& known = place_of(by_text, hash_of(text, size), text, size);
  if (known.id == 0) {
    if (last_id == kMostNames) return 0;
    const char* const kept = write_entry(NameType::Text, address, text, size, last_id + 1);
    if (!kept) return 0;
    known = {hash_of(text, size), kept, static_cast<std::uint32_t>(size), ++last_id};
    ++by_text.count;
  } else {
    // The same text at another address: told for buffers that never come back.
    write_entry(NameType::Text, address, known.text, known.size, known.id);
  }
  if (seen.id == 0) ++by_address.count;
  seen = {address, known.text, known.size, known.id};
  return known.id;
}

}  // namespace

std::uint32_t name_id(const char* text) {
  if (!text) return 0;
  pthread_mutex_lock(&mutex);
  const std::uint32_t id = find_or_add(text);
  pthread_mutex_unlock(&mutex);
  if (id == 0) __atomic_fetch_add(&header().lost_names, std::uint64_t{1}, __ATOMIC_RELAXED);
  return id;
}

void note_function(const Cupti& functions, Domain domain, std::uint32_t function) {
  if (function >= kFunctions) return;
  bool& done = noted[domain == Domain::Driver][function];
  if (__atomic_exchange_n(&done, true, __ATOMIC_RELAXED)) return;
  const char* name = nullptr;
  if (functions.cuptiGetCallbackName(domain, function, &name) != kSuccess || !name) return;
  pthread_mutex_lock(&mutex);
  write_entry(domain == Domain::Driver ? NameType::DriverCall : NameType::RuntimeCall, function,
              name, strnlen(name, kMaxText), ++last_id);
  pthread_mutex_unlock(&mutex);
}

}  // namespace sonde::capture::cuda
