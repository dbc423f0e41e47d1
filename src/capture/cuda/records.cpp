#include <string.h>

#include "capture/cuda/collector.hpp"

namespace sonde::capture::cuda {

using cupti::Kind;

namespace {

bool own_call;

std::uint32_t number_at(const std::uint8_t* record, std::size_t offset) {
  std::uint32_t value;
  memcpy(&value, record + offset, sizeof value);
  return value;
}

// The address of the text becomes the id of the kept name.
void keep_name(std::uint8_t* field) {
  const char* text;
  memcpy(&text, field, sizeof text);
  const std::uint64_t id = name_id(text);
  memcpy(field, &id, sizeof id);
}

void measure(std::uint32_t kind, std::size_t bytes) {
  if (kind >= cupti::kMaxKinds) return;
  std::uint32_t& known = header().record_bytes[kind];
  if (known == 0 || bytes < known) {
    __atomic_store_n(&known, static_cast<std::uint32_t>(bytes), __ATOMIC_RELAXED);
  }
}

void look_at(const Cupti& functions, std::uint8_t* record, std::size_t bytes) {
  const std::uint32_t kind = number_at(record, 0) & ~cupti::kUnfinished;
  measure(kind, bytes);
  switch (static_cast<Kind>(kind)) {
    case Kind::Kernel:
    case Kind::ConcurrentKernel:
      if (bytes >= cupti::kernel::kLeast) keep_name(record + cupti::kernel::kName);
      break;
    case Kind::Memory:
      if (bytes >= cupti::memory::kLeast) keep_name(record + cupti::memory::kName);
      break;
    case Kind::Runtime:
      note_function(functions, Domain::Runtime, number_at(record, cupti::call::kFunction));
      break;
    case Kind::Driver:
      note_function(functions, Domain::Driver, number_at(record, cupti::call::kFunction));
      if (number_at(record, cupti::call::kThread) == header().helper_thread) {
        __atomic_store_n(&own_call, true, __ATOMIC_RELAXED);
      }
      break;
    default:
      break;
  }
}

}  // namespace

std::uint64_t digest(const Cupti& functions, std::uint8_t* buffer, std::size_t used) {
  std::uint64_t count = 0;
  std::uint8_t* next = nullptr;
  if (used == 0 || functions.cuptiActivityGetNextRecord(buffer, used, &next) != kSuccess) return 0;
  while (next) {
    std::uint8_t* const record = next;
    // The step to the next record tells the size of this one; where the last one ends is known.
    if (functions.cuptiActivityGetNextRecord(buffer, used, &next) != kSuccess) next = nullptr;
    if (next && next <= record) break;
    look_at(functions, record, static_cast<std::size_t>((next ? next : buffer + used) - record));
    ++count;
  }
  return count;
}

bool heard_own_call() { return __atomic_exchange_n(&own_call, false, __ATOMIC_RELAXED); }

}  // namespace sonde::capture::cuda
