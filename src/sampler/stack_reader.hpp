#pragma once

#include <cstdint>
#include <vector>

#include "sampler/memory.hpp"
#include "sampler/runtime_finder.hpp"

namespace sonde {

inline constexpr std::size_t kMaxThreads = 4096;
inline constexpr std::size_t kMaxFrames = 4096;

// A thread state of the interpreter.
struct PythonThread {
  Address state = 0;
  Address interpreter = 0;
  Address handle = 0;           // pthread_t
  std::uint64_t native_id = 0;  // as the process itself sees it; 0: not told
};

// One frame as it lies in memory.
struct RawFrame {
  Address address = 0;
  Address code = 0;
  std::int64_t instruction = 0;  // byte offset of the instruction at work; negative: not begun
  bool is_entry = false;   // the outermost frame of one activation of the interpreter's C function
  Address activation = 0;  // there, from 3.12 on: a place on the C stack, in that activation's part
};

// Whether a frame is the outermost one of an activation, and of which.
struct FrameEntry {
  bool is_entry = false;
  Address activation = 0;  // 0: not told
};

// Follows the interpreter's lists. Nothing of what is read is believed: lists are bounded, a frame
// without code ends a stack.
class StackReader {
 public:
  StackReader(const Memory& memory, const PythonRuntime& runtime)
      : memory_(memory), runtime_(runtime) {}

  // False where the interpreter cannot be read at all (it ended, or has not begun).
  bool read_threads(std::vector<PythonThread>& out) const;

  enum class Outcome : std::uint8_t {
    Whole,
    Cut,     // deeper than kMaxFrames, or a ring
    Broken,  // a frame could not be read: what was read so far
  };
  // Innermost first.
  Outcome read_stack(Address thread_state, std::vector<RawFrame>& out);
  // The frame at work, for a check whether it changed meanwhile; 0 where there is none.
  Address top_frame(Address thread_state) const;

  // The thread state that holds the interpreter's lock; 0 where nobody does.
  Address lock_holder(Address interpreter) const;

 private:
  bool read_frame_bytes(Address address, void* out, std::size_t size);

  const Memory& memory_;
  const PythonRuntime& runtime_;
  // Pages that frames lie on: read once for each stack.
  struct Page {
    Address start = 0;
    std::vector<char> bytes;
  };
  std::vector<Page> pages_;
  std::size_t pages_used_ = 0;
};

}  // namespace sonde
