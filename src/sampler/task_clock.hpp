#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sonde {

// What the scheduler says of a thread.
struct TaskTimes {
  std::uint64_t cpu_nanos = 0;
  std::uint64_t waited_nanos = 0;  // for a processor
  std::uint64_t turns = 0;         // on a processor
  friend bool operator==(const TaskTimes&, const TaskTimes&) = default;
};

// The text of /proc/PID/task/TID/schedstat; false where it is none.
bool parse_task_times(std::string_view text, TaskTimes& out);
// State and CPU time (in ticks) in the text of /proc/PID/task/TID/stat; false where it is none.
bool parse_task_stat(std::string_view text, char& state, std::uint64_t& cpu_ticks);

// The times and states of the threads of one process. Files stay open: they are read many times a
// second.
class TaskClock {
 public:
  explicit TaskClock(pid_t process);
  ~TaskClock();
  TaskClock(const TaskClock&) = delete;
  TaskClock& operator=(const TaskClock&) = delete;

  // False where the thread is not there.
  bool read(pid_t thread, TaskTimes& out);
  // 'R' running, 'S' waiting, ...; 'X' where the thread is not there.
  char state(pid_t thread) const;
  std::string name(pid_t thread) const;  // as the system has it
  void forget(pid_t thread);

 private:
  bool read_stat(pid_t thread, TaskTimes& out) const;

  std::string folder_;
  std::map<pid_t, int> files_;
  std::uint64_t nanos_per_tick_;
  bool exact_ = true;  // this system has schedstat
};

}  // namespace sonde
