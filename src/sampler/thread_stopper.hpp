#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace sonde {

// Holds single threads of other processes still for a moment. All calls come from one thread.
//
// A thread is seized for each stop and let go right behind it, so that its signals are its own in
// between; where this process is killed, the kernel lets go of it. A stop sends no signal; blocking
// system calls are begun anew by the kernel.
class ThreadStopper {
 public:
  ThreadStopper() = default;
  ~ThreadStopper();
  ThreadStopper(const ThreadStopper&) = delete;
  ThreadStopper& operator=(const ThreadStopper&) = delete;

  enum class Outcome : std::uint8_t {
    Stopped,  // until release()
    Gone,     // the thread ended
    Refused,  // not allowed, or another tracer has it; errno tells
    Late,     // it did not stop in time (waits in the kernel); it is let go of when it does
  };
  // One thread at a time.
  Outcome stop(pid_t process, pid_t thread);
  void release();

  // Lets go of those that stopped late. True where none is left.
  bool release_late();

  std::uint64_t stops() const { return stops_; }
  std::uint64_t stopped_nanos() const { return stopped_nanos_; }

 private:
  struct Held {
    pid_t process = 0;
    pid_t thread = 0;
  };
  bool is_late(pid_t thread) const;

  Held held_;
  std::vector<Held> late_;
  std::uint64_t stop_time_ = 0;
  std::uint64_t stops_ = 0;
  std::uint64_t stopped_nanos_ = 0;
};

// Nanoseconds of the monotonic clock.
std::uint64_t monotonic_nanos();

}  // namespace sonde
