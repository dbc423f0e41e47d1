#pragma once

#include <cstddef>
#include <cstdint>

// What the library that counts memory (libsonde_memory.so) and the agent of an interpreter know of
// each other. The library may be preloaded, and then sees malloc and its like as well, or be loaded
// by the agent, and then sees what the interpreter's allocators are asked for only.

namespace sonde::memory {

inline constexpr std::uint32_t kInterfaceVersion = 1;
inline constexpr std::uint64_t kDefaultGap = 512 * 1024;

// One frame of the interpreter, as it can be read without its help. `name` and `file` tell a new
// code object at an old address from the old one.
struct PythonFrame {
  const void* code;
  const void* name;
  const void* file;
  std::int32_t first_line;
  std::int32_t instruction;  // as line() takes it
};

// Texts are UTF-8, cut, and end with a 0 byte.
struct CodeText {
  char name[1024];
  char qualified_name[2048];
  char file[4096];
  std::uint32_t flags;  // tables::CodeFlags
};

// How to read the interpreter's stacks. All of it is called inside of an allocation, on any thread,
// with or without the interpreter's lock: it may read, and do nothing else.
struct PythonSource {
  // The frames of this thread, the innermost one first. 0 where it runs no Python code.
  int (*walk)(PythonFrame* out, int most);
  std::int32_t (*line)(const void* code, std::int32_t instruction);
  void (*describe)(const void* code, CodeText* out);
  // The recorder's file of this process: sonde_path().
  int (*recording)(char* path, std::size_t size);
};

// The same as CPython's PyMemAllocatorEx.
struct Allocator {
  void* context;
  void* (*malloc)(void* context, std::size_t size);
  void* (*calloc)(void* context, std::size_t count, std::size_t size);
  void* (*realloc)(void* context, void* old, std::size_t size);
  void (*free)(void* context, void* block);
};
inline constexpr int kDomains = 3;  // CPython's raw, mem and object

// What the whole is at a moment, in estimate where samples are taken.
struct Totals {
  std::uint64_t samples;
  std::uint64_t allocated_bytes;
  std::int64_t live_bytes;
  std::int64_t peak_bytes;
  std::uint64_t lost;  // samples without room
};

struct Interface {
  std::uint32_t version;
  bool preloaded;  // malloc and its like are seen
  // Begins to count, or goes on after pause(). `gap` 0: every allocation. `source` stays in use.
  void (*start)(const PythonSource* source, std::uint64_t gap);
  // What is live now is what stays live in the tables.
  void (*pause)();
  // pause(), and the file is closed in order. A start() afterwards begins a new one.
  void (*finish)();
  // The allocator to set in the place of `inner`. It forwards to `inner` for as long as the process
  // lives.
  void (*wrap)(int domain, const Allocator* inner, Allocator* out);
  // While watched, allocations and frees of a thread add up to a number of bytes that says whether
  // it is worth looking at the process's memory again.
  void (*watch)(bool on);
  std::uint64_t (*activity)();
  // Called inside of an allocation now and then while watched, and again and again while much is
  // allocated: it may do no more than PythonSource's functions, and must be quick to see that there
  // is nothing to do. nullptr: nobody.
  void (*set_look)(void (*look)());
  void (*totals)(Totals* out);
  // What this thread allocates until quiet(false) is not the program's.
  void (*quiet)(bool on);
};

}  // namespace sonde::memory

// nullptr where the library is of another version.
extern "C" const sonde::memory::Interface* sonde_memory_interface(std::uint32_t version);
using SondeMemoryInterface = const sonde::memory::Interface* (*)(std::uint32_t version);
