#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "sampler/code_cache.hpp"
#include "sampler/stack_reader.hpp"

namespace sonde {

// A frame of C or C++ code.
struct NativeFrame {
  std::string name;    // demangled; empty: not known
  std::string module;  // path of the program or library
  std::uint64_t address = 0;
  std::uint64_t stack = 0;  // where its part of the stack begins; 0: not known
};

// Walks over the C stack of a thread that is stopped by this process.
class NativeUnwinder {
 public:
  virtual ~NativeUnwinder() = default;
  // Innermost first. False where it could not begin, or broke off before a thread's first function.
  virtual bool unwind(pid_t thread, std::vector<NativeFrame>& out) = 0;
};

// Puts the Python frames into the C stack: each activation of the interpreter's evaluation function
// is replaced by the Python frames that it runs (entries[i]: frame i is the outermost of one), and
// what else the interpreter does for itself is left out. The activations are known by where they
// lie on the stack, else by the function's name. False where the numbers of activations differ by
// more than one: then `out` has the C frames before the Python frames.
bool merge_stacks(const std::vector<NativeFrame>& native, const std::vector<SampledFrame>& python,
                  const std::vector<FrameEntry>& entries, CodeCache& functions,
                  std::vector<SampledFrame>& out);

}  // namespace sonde
