#pragma once

#include <cstddef>
#include <cstdint>

// The part of NVTX's payload extension (from 3.1 on) that the recorder uses, in its own words.
// tests/gpu/abi/nvtx_payload_abi_check.cpp compares it with NVIDIA's headers where they are.

namespace sonde::capture::nvtx {

inline constexpr std::uint16_t kPayloadModule = 2;
// The high byte of the module's compatibility number; the layouts below are those of the first one.
inline constexpr std::uint16_t kPayloadGeneration = 1;
// The type of an event's payload that is a list of PayloadData, `reserved` of them.
inline constexpr std::int32_t kExtendedPayload = static_cast<std::int32_t>(0xDFBD0009u);

struct ModuleSegment {
  std::size_t id;
  std::size_t count;
  std::intptr_t* slots;
};

struct ModuleInfo {
  std::uint16_t nvtx_version;
  std::uint16_t struct_size;
  std::uint16_t module;
  std::uint16_t compatibility;
  std::size_t segment_count;
  ModuleSegment* segments;
  std::intptr_t (*get_export)(std::uint32_t);
  const void* information;
};

enum class PayloadSlot : unsigned {
  SchemaRegister = 0,
  EnumRegister = 1,
  Mark = 2,
  RangePush = 3,
  RangePop = 4,
  RangeStart = 5,
  RangeEnd = 6,
  DomainIsEnabled = 7,
  EventSubmit = 16,
  EventBatchSubmit = 17,
};

struct PayloadData {
  std::uint64_t schema;
  std::size_t size;  // SIZE_MAX: not told
  const void* bytes;
};

struct SchemaEntry {
  std::uint64_t flags;
  std::uint64_t type;
  const char* name;
  const char* description;
  std::uint64_t detail;  // length, or index of the entry that tells it, or that selects a member
  std::uint64_t offset;
  const void* semantics;
  const void* reserved;
};

struct SchemaAttributes {
  std::uint64_t fields;
  const char* name;
  std::uint64_t type;
  std::uint64_t flags;
  const SchemaEntry* entries;
  std::size_t count;
  std::size_t static_size;
  std::size_t pack;
  std::uint64_t id;
  void* extension;
};

struct EnumEntry {
  const char* name;
  std::uint64_t value;
  std::int8_t is_flag;
};

struct EnumAttributes {
  std::uint64_t fields;
  const char* name;
  const EnumEntry* entries;
  std::size_t count;
  std::size_t size;
  std::uint64_t id;
  void* extension;
};

// Fields that were set: bits of SchemaAttributes::fields and EnumAttributes::fields.
namespace schema_field {
inline constexpr std::uint64_t kName = 2, kType = 4, kFlags = 8, kEntries = 16, kCount = 32,
                               kStaticSize = 64, kPack = 128, kId = 256;
}
namespace enum_field {
inline constexpr std::uint64_t kName = 2, kEntries = 4, kCount = 8, kSize = 16, kId = 32;
}

enum class SchemaType : std::uint64_t { Static = 1, Dynamic = 2, Union = 3, SelectingUnion = 4 };

namespace entry_flag {
inline constexpr std::uint64_t kPointer = 2, kFromBase = 4, kFromHere = 8, kArray = 7 << 4,
                               kFixed = 1 << 4, kZeroEnded = 2 << 4, kLengthIndex = 3 << 4,
                               kHide = 1 << 9, kMessage = 1 << 10, kMeaning = 3 << 10;
}

namespace entry_type {
inline constexpr std::uint64_t kChar = 1, kUnsignedChar = 2, kShort = 3, kUnsignedShort = 4,
                               kInt = 5, kUnsignedInt = 6, kLong = 7, kUnsignedLong = 8,
                               kLongLong = 9, kUnsignedLongLong = 10, kInt8 = 11, kUint8 = 12,
                               kInt16 = 13, kUint16 = 14, kInt32 = 15, kUint32 = 16, kInt64 = 17,
                               kUint64 = 18, kFloat = 19, kDouble = 20, kLongDouble = 21,
                               kSize = 22, kAddress = 23, kWideChar = 24, kChar8 = 25, kChar16 = 26,
                               kChar32 = 27, kByte = 32, kInt128 = 33, kUint128 = 34, kFloat16 = 42,
                               kFloat32 = 43, kFloat64 = 44, kFloat128 = 45, kBfloat16 = 50,
                               kTf32 = 52, kCategory = 68, kColor = 69, kScope = 70,
                               kProcess32 = 71, kProcess64 = 72, kThread32 = 73, kThread64 = 74,
                               kText = 75, kTextUtf8 = 76, kTextUtf16 = 77, kTextUtf32 = 78,
                               kRegisteredText = 80, kSelector = 100, kReferenced = 1022,
                               kRaw = 1023, kFirstStatic = 1 << 24,
                               kFirstDynamic = std::uint64_t{1} << 32;
}

}  // namespace sonde::capture::nvtx
