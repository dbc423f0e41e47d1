#pragma once

#include <sys/types.h>

#include <utility>

namespace sonde {

// Tells a signal to the whole process group from one to Sonde alone, which the kernel does not: a
// process beside Sonde, in the same group, that does nothing but keep the signals that it gets.
class GroupWitness {
 public:
  // Before there is a second thread. Where no process can be made, nothing is ever seen.
  static GroupWitness start();
  GroupWitness() = default;
  ~GroupWitness() { stop(); }
  GroupWitness(GroupWitness&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), socket_(std::exchange(other.socket_, -1)) {}
  GroupWitness& operator=(GroupWitness&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(socket_, other.socket_);
    return *this;
  }

  // Whether the witness has got the signal, too, since it was asked last.
  bool saw(int signal) const;
  void stop();

 private:
  pid_t pid_ = 0;
  int socket_ = -1;
};

}  // namespace sonde
