#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "sampler/line_table.hpp"
#include "sampler/memory.hpp"

namespace sonde {

struct PythonVersion {
  int major = 0;
  int minor = 0;
  int micro = -1;  // -1: not known
  bool final = true;

  static PythonVersion from_hex(std::uint64_t hex);
  std::string text() const;
};

// Where the structures of an interpreter have their fields, in bytes; 64-bit release builds.
struct PythonLayout {
  PythonVersion version;
  LineFormat lines = LineFormat::Locations;

  struct {
    std::uint32_t interpreters = 0;
    std::uint32_t holder = 0;  // the thread with the interpreter's lock, to 3.11
  } runtime;
  struct {
    std::uint32_t next = 0;
    std::uint32_t threads = 0;
    std::uint32_t modules = 0;
    std::uint32_t lock = 0;  // pointer to it, from 3.12 on
  } interpreter;
  struct {
    std::uint32_t locked = 0;
    std::uint32_t holder = 0;
  } lock;
  struct {
    std::uint32_t next = 8;
    std::uint32_t interpreter = 16;
    std::uint32_t frame = 0;      // to the frame, or to what points to it (3.11, 3.12)
    std::int32_t inner = -1;      // there: where the frame is told; -1: directly
    std::uint32_t handle = 0;     // pthread_t
    std::uint32_t native_id = 0;  // 0: there is none (to 3.10)
  } thread;
  struct {
    std::uint32_t code = 0;
    std::uint32_t caller = 0;
    std::uint32_t instruction = 0;
    std::uint32_t entry = 0;  // 3.11: 1 in the outermost frame of a C activation; else `owner`
    std::uint32_t locals = 0;
    std::uint32_t size = 0;     // of what has to be read
    std::uint64_t tags = 0;     // bits of the code's address that mean something else
    bool counts_units = false;  // f_lasti in instructions of two bytes (3.10)
    bool is_index = false;      // f_lasti, not a pointer (to 3.10)
  } frame;
  std::uint8_t c_owner =
      255;  // frames with this owner, or a higher one, are a C activation (3.12+)
  struct {
    std::uint32_t first_line = 0;
    std::uint32_t file = 0;
    std::uint32_t name = 0;
    std::uint32_t qualified_name = 0;  // 0: there is none
    std::uint32_t lines = 0;
    std::uint32_t bytecode = 0;  // 0: in an object of its own (to 3.10)
    std::uint32_t flags = 0;
    std::uint32_t arguments = 0;    // co_argcount
    std::uint32_t local_names = 0;  // tuple
    std::uint32_t local_count = 0;  // co_nlocals
  } code;
  struct {
    std::uint32_t type = 8;
    std::uint32_t type_name = 24;
    std::uint32_t type_flags = 168;
    std::uint32_t basic_size = 32;
    std::uint32_t dictionary = 288;  // tp_dictoffset
    std::uint32_t cached_keys = 0;   // ht_cached_keys
    std::uint32_t values = 0;        // from the start of PyDictValues
    std::uint32_t tuple_items = 24;
    std::uint32_t ascii_size = 40;
    std::uint32_t compact_size = 56;
  } object;

  bool has_long_tags() const { return version.minor >= 12; }
};

// The layout of 3.8 to 3.12, for this machine's architecture.
std::optional<PythonLayout> known_layout(int minor);
// From 3.13 on the interpreter tells at the begin of _PyRuntime.
Result<PythonLayout> read_debug_offsets(const Memory& memory, Address runtime);

}  // namespace sonde
