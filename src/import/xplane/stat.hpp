#pragma once

#include <cstdint>
#include <string_view>

#include "trace/ids.hpp"

namespace sonde {

// Statistics (key and value) of events that mean something to Sonde. What they are called in the
// file stands in stat.cpp.
enum class KnownStat : std::uint8_t {
  None,
  CorrelationId,
  ContextId,
  DeviceId,
  KernelDetails,
  MemcpyDetails,
  MemsetDetails,
  AllocationDetails,
  FreeDetails,
  ResidencyDetails,
  StepNumber,
  StepName,
  IsRoot,
  ProducerType,
  ProducerId,
  ConsumerType,
  ConsumerId,
  HloOp,
  HloCategory,
  TfOp,
  AllocatorName,
  BytesReserved,
  BytesAllocated,
  AllocationBytes,
  Address,
  IndexOnHost,
};

struct StatName {
  KnownStat known = KnownStat::None;
  // Another value for every event: kept with the event, not in a list that others share.
  bool varies = false;
};
StatName stat_name(std::string_view name);

// The name of a statistic of one plane.
struct StatKey {
  StringId key;
  StatName name;
};

struct StatValue {
  enum class Type : std::uint8_t { None, Integer, Unsigned, Real, Text, Bytes };
  Type type = Type::None;
  std::int64_t integer = 0;  // of Integer and Unsigned, bit for bit
  double real = 0;
  std::string_view text{};  // of Text and Bytes
  StringId text_id{};       // of a Text that is in the trace's pool already

  // The value as a whole number, also where it is a text of digits; `otherwise` where it is none.
  std::int64_t whole(std::int64_t otherwise) const;
};

struct Stat {
  StatKey key;
  StatValue value;
};

// What one-line details of kernels, copies and memsets say. -1 and kNoNumber where they are silent.
struct KernelDetails {
  std::int32_t registers = -1;
  std::int64_t shared_memory = -1;
  std::int32_t grid[3] = {-1, -1, -1};
  std::int32_t block[3] = {-1, -1, -1};
  float occupancy = -1;
};
KernelDetails parse_kernel_details(std::string_view text);
// "kind_src:… kind_dst:… size:BYTES …", in older files "num_bytes:BYTES".
std::int64_t parse_details_bytes(std::string_view text);

}  // namespace sonde
