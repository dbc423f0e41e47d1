#pragma once

#include <cstddef>
#include <cstdint>

// The part of NVTX's binary interface that the recorder uses, in its own words.
// tests/gpu/abi/nvtx_abi_check.cpp compares it with NVIDIA's headers where they are.

namespace sonde::capture::nvtx {

inline constexpr std::uint32_t kCallbacksTable = 1;

using Function = void (*)();
// Slots of the program's own module; the first one is not used. A handler goes into `*table[slot]`.
using FunctionTable = Function**;

struct CallbacksTable {
  std::size_t struct_size;
  int (*get_module_function_table)(int module, FunctionTable* table, unsigned* size);
};

using GetExportTable = const void* (*)(std::uint32_t id);

enum class Module : int { Core = 1, Core2 = 5 };

enum class Core : unsigned {
  MarkEx = 1,
  MarkA = 2,
  MarkW = 3,
  RangeStartEx = 4,
  RangeStartA = 5,
  RangeStartW = 6,
  RangeEnd = 7,
  RangePushEx = 8,
  RangePushA = 9,
  RangePushW = 10,
  RangePop = 11,
  NameCategoryA = 12,
  NameCategoryW = 13,
  NameOsThreadA = 14,
  NameOsThreadW = 15,
};

enum class Core2 : unsigned {
  DomainMarkEx = 1,
  DomainRangeStartEx = 2,
  DomainRangeEnd = 3,
  DomainRangePushEx = 4,
  DomainRangePop = 5,
  DomainNameCategoryA = 8,
  DomainNameCategoryW = 9,
  DomainRegisterStringA = 10,
  DomainRegisterStringW = 11,
  DomainCreateA = 12,
  DomainCreateW = 13,
};

enum class PayloadType : std::int32_t {
  None = 0,
  Unsigned64 = 1,
  Signed64 = 2,
  Double = 3,
  Unsigned32 = 4,
  Signed32 = 5,
  Float = 6,
};

enum class MessageType : std::int32_t { None = 0, Text = 1, WideText = 2, Registered = 3 };

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  PayloadType payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  MessageType message_type;
  const void* message;
};
static_assert(sizeof(EventAttributes) == 48);

}  // namespace sonde::capture::nvtx
