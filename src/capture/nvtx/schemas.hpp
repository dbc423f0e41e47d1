#pragma once

#include "capture/nvtx/payload_abi.hpp"
#include "capture/nvtx/ranges.hpp"

// What the program registered of its payloads: copies of its own, as all of NVTX's arguments are
// valid during the call only.

namespace sonde::capture::nvtx {

inline constexpr std::size_t kMostEntries = 256;       // of a schema
inline constexpr std::size_t kMostEnumerators = 4096;  // of an enumeration
inline constexpr std::size_t kMostSchemas = 65536;     // of the program

struct Enumerator {
  const char* name;
  std::uint64_t value;
  bool is_flag;
};

// A schema, or an enumeration.
struct Schema {
  Schema* next;
  const Domain* domain;
  std::uint64_t id;
  const char* name;  // may be nullptr
  bool is_enum;
  SchemaType type;
  std::size_t count;
  std::size_t size;  // of the data, of an enumeration's value; 0: to be found out
  std::size_t pack;  // 0: nothing is packed
  const SchemaEntry* entries;
  const Enumerator* enumerators;
};

// The number under which payloads name it; 0 where it makes no sense or there is no room.
std::uint64_t register_schema(const Domain& domain, const SchemaAttributes* attributes);
std::uint64_t register_enum(const Domain& domain, const EnumAttributes* attributes);
// nullptr where nobody registered it.
const Schema* find_schema(const Domain& domain, std::uint64_t id);

}  // namespace sonde::capture::nvtx
