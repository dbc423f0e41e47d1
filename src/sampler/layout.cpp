#include "sampler/layout.hpp"

#include <array>
#include <cstring>

namespace sonde {
namespace {

#if defined(__aarch64__)
constexpr std::uint32_t kMutexes = 16;  // two pthread mutexes of 48 bytes instead of 40
#else
constexpr std::uint32_t kMutexes = 0;
#endif

// What 3.8, 3.9 and 3.10 have in common.
PythonLayout frame_object_layout(int minor) {
  PythonLayout out;
  out.version = {3, minor, -1, true};
  out.lines = LineFormat::AddressPairs;
  out.runtime = {32, 568 + kMutexes};
  out.interpreter = {0, 8, 856, 0};
  out.thread.frame = 24;
  out.thread.handle = 176;
  out.frame.caller = 24;
  out.frame.code = 32;
  out.frame.instruction = 104;
  out.frame.locals = 360;
  out.frame.size = 112;
  out.frame.is_index = true;
  out.code = {40, 104, 112, 0, 120, 0, 36, 16, 72, 28};
  out.object.cached_keys = 864;
  out.object.ascii_size = 48;
  out.object.compact_size = 72;
  return out;
}

// 3.11 and later.
PythonLayout interpreter_frame_layout(int minor) {
  PythonLayout out;
  out.version = {3, minor, -1, true};
  out.frame.code = 0;
  out.frame.caller = 8;
  out.frame.instruction = 56;
  out.frame.entry = 70;
  out.frame.locals = 72;
  out.frame.size = 72;
  out.code = {68, 112, 120, 128, 136, 192, 48, 52, 96, 80};
  out.object.cached_keys = 880;
  out.c_owner = 3;
  return out;
}

// The table that _PyRuntime begins with, by number of its 64-bit word.
struct DebugTable {
  std::size_t interpreters, next, threads, modules, lock, lock_state, locked, holder;
  std::size_t thread_next, thread_interpreter, frame, handle, native_id;
  std::size_t frame_size, caller, code, instruction, locals, owner;
  std::size_t file, name, qualified_name, lines, first_line, arguments, local_names, bytecode;
  std::size_t type, type_name, type_flags, tuple_items;
  std::size_t ascii_size;
  std::size_t words;
};

// Words 0, 1 and 2 are the cookie, the version and whether the build is free-threaded.
constexpr DebugTable kTable313 = {
    5,  8,  9,  11, 14, 15, 17, 18,  // runtime_state from 3, interpreter_state from 6
    21, 22, 23, 24, 25,              // thread_state from 19
    28, 29, 30, 31, 32, 33,          // interpreter_frame from 28
    35, 36, 37, 38, 39, 40, 41, 43,  // code_object from 34
    45, 47, 49, 51,                  // pyobject from 44, type_object from 46, tuple_object from 50
    70, 71};                         // unicode_object from 67

// 3.14 has threads_main, two generations behind the lock's holder, two words more of a frame, one
// more of a code object, and sets before dictionaries.
constexpr DebugTable kTable314 = {5,  8,  9,  12, 15, 16, 18, 19,  // interpreter_state from 6
                                  24, 25, 26, 27, 28,              // thread_state from 22
                                  31, 32, 33, 34, 35, 36,          // interpreter_frame from 31
                                  40, 41, 42, 43, 44, 45, 46, 48,  // code_object from 39
                                  51, 53, 55, 57,  // pyobject from 50, type 52, tuple 56
                                  80, 81};         // unicode_object from 77

}  // namespace

PythonVersion PythonVersion::from_hex(std::uint64_t hex) {
  PythonVersion out;
  out.major = static_cast<int>(hex >> 24 & 0xFF);
  out.minor = static_cast<int>(hex >> 16 & 0xFF);
  out.micro = static_cast<int>(hex >> 8 & 0xFF);
  out.final = (hex >> 4 & 0xF) == 0xF;
  return out;
}

std::string PythonVersion::text() const {
  std::string out = std::to_string(major) + "." + std::to_string(minor);
  if (micro >= 0) out += "." + std::to_string(micro);
  if (!final) out += " (a release to try out)";
  return out;
}

std::optional<PythonLayout> known_layout(int minor) {
  PythonLayout out;
  switch (minor) {
    case 8:
      out = frame_object_layout(minor);
      out.runtime.holder = 1368 + kMutexes;
      out.interpreter.modules = 56;
      out.object.cached_keys = 872;
      return out;
    case 9:
      return frame_object_layout(minor);
    case 10:
      out = frame_object_layout(minor);
      out.lines = LineFormat::Ranges;
      out.frame.instruction = 96;
      out.frame.locals = 352;
      out.frame.counts_units = true;
      out.object.cached_keys = 872;
      return out;
    case 11:
      out = interpreter_frame_layout(minor);
      out.runtime = {40, 576 + kMutexes};
      out.interpreter = {0, 16, 888, 0};
      out.thread.frame = 56;
      out.thread.inner = 8;
      out.thread.handle = 152;
      out.thread.native_id = 160;
      out.frame.code = 32;
      out.frame.caller = 48;
      out.frame.entry = 68;
      out.c_owner = 255;
      out.code = {72, 112, 120, 128, 136, 184, 48, 56, 96, 80};
      out.object.cached_keys = 872;
      out.object.ascii_size = 48;
      out.object.compact_size = 72;
      return out;
    case 12:
      out = interpreter_frame_layout(minor);
      out.runtime = {40, 0};
      out.interpreter = {0, 72, 944, 384};
      out.lock = {16, 8};
      out.thread.frame = 56;
      out.thread.inner = 0;
      out.thread.handle = 136;
      out.thread.native_id = 144;
      return out;
    default:
      return {};
  }
}

Result<PythonLayout> read_debug_offsets(const Memory& memory, Address runtime) {
  std::array<std::uint64_t, 96> words{};
  constexpr std::size_t kHead = 3;
  if (!memory.read(runtime, words.data(), kHead * sizeof words[0]) ||
      std::memcmp(words.data(), "xdebugpy", 8) != 0) {
    return Error{ErrorCode::Unsupported, "the interpreter does not tell its layout", {}, {}, {}};
  }
  const PythonVersion version = PythonVersion::from_hex(words[1]);
  const bool known = version.major == 3 && (version.minor == 13 || version.minor == 14);
  if (!known || !version.final) {
    return Error{ErrorCode::Unsupported,
                 "the layout of Python " + version.text() + " is not known",
                 {},
                 {},
                 "Sonde reads CPython 3.8 to 3.14"};
  }
  if (words[2] != 0) {
    return Error{ErrorCode::Unsupported,
                 "Python " + version.text() + " is a free-threaded build, which Sonde cannot read",
                 {},
                 {},
                 "use a build with the interpreter's lock"};
  }
  const DebugTable& table = version.minor == 13 ? kTable313 : kTable314;
  if (!memory.read(runtime, words.data(), table.words * sizeof words[0])) {
    return Error{ErrorCode::Unsupported, "the interpreter's layout cannot be read", {}, {}, {}};
  }
  bool sane = true;
  const auto word = [&](std::size_t at) {
    constexpr std::uint64_t kLargest = 16u << 20;
    if (words[at] > kLargest) sane = false;
    return static_cast<std::uint32_t>(words[at]);
  };
  PythonLayout out = interpreter_frame_layout(version.minor);
  out.version = version;
  out.runtime = {word(table.interpreters), 0};
  out.interpreter = {word(table.next), word(table.threads), word(table.modules), word(table.lock)};
  const std::uint32_t lock_state = word(table.lock_state);
  if (word(table.locked) < lock_state || word(table.holder) < lock_state) sane = false;
  out.lock = {word(table.locked) - lock_state, word(table.holder) - lock_state};
  out.thread.next = word(table.thread_next);
  out.thread.interpreter = word(table.thread_interpreter);
  out.thread.frame = word(table.frame);
  out.thread.handle = word(table.handle);
  out.thread.native_id = word(table.native_id);
  out.frame.caller = word(table.caller);
  out.frame.code = word(table.code);
  out.frame.instruction = word(table.instruction);
  out.frame.locals = word(table.locals);
  out.frame.entry = word(table.owner);
  out.frame.size = word(table.locals);
  out.frame.tags = version.minor >= 14 ? 3 : 0;
  out.code.file = word(table.file);
  out.code.name = word(table.name);
  out.code.qualified_name = word(table.qualified_name);
  out.code.lines = word(table.lines);
  out.code.first_line = word(table.first_line);
  out.code.arguments = word(table.arguments);
  out.code.local_names = word(table.local_names);
  out.code.bytecode = word(table.bytecode);
  out.object.type = word(table.type);
  out.object.type_name = word(table.type_name);
  out.object.type_flags = word(table.type_flags);
  out.object.tuple_items = word(table.tuple_items);
  out.object.ascii_size = word(table.ascii_size);
  out.object.compact_size = out.object.ascii_size + 16;
  out.object.values = 8;
  constexpr std::uint32_t kLargestStructure = 4096;
  for (const std::uint32_t offset :
       {out.thread.next,         out.thread.interpreter, out.thread.frame,    out.thread.handle,
        out.thread.native_id,    out.frame.caller,       out.frame.code,      out.frame.instruction,
        out.frame.entry,         out.frame.size,         out.code.file,       out.code.name,
        out.code.qualified_name, out.code.lines,         out.code.first_line, out.code.bytecode,
        out.lock.locked,         out.lock.holder,        out.object.type,     out.object.type_name,
        out.object.ascii_size,   out.object.tuple_items}) {
    if (offset > kLargestStructure) sane = false;
  }
  if (!sane) {
    return Error{ErrorCode::BrokenInput, "the interpreter's layout makes no sense", {}, {}, {}};
  }
  return out;
}

}  // namespace sonde
