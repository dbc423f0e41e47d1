#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "sampler/memory.hpp"
#include "sampler/stack_reader.hpp"

namespace sonde {

// Which thread of the system a thread of the interpreter is.
class TaskIds {
 public:
  TaskIds(pid_t process, const Memory& memory);

  // The thread's number as this process (Sonde) sees it, 0 where it cannot be told. `all` are the
  // threads that are there now.
  pid_t find(const PythonThread& thread, const std::vector<PythonThread>& all);
  // All threads of the process.
  std::vector<pid_t> tasks() const;

 private:
  // The number inside of the process's own pid namespace -> outside.
  void read_namespace();
  std::uint64_t inner_id(const PythonThread& thread, const std::vector<PythonThread>& all);
  void find_offset(const std::vector<PythonThread>& all);

  pid_t process_;
  const Memory& memory_;
  bool own_namespace_;  // numbers are the same on both sides
  std::map<std::uint64_t, pid_t> outer_;
  std::map<Address, std::uint64_t> by_handle_;
  // Where struct pthread keeps the thread's number: interpreters to 3.10 do not tell it.
  int offset_ = -1;
  unsigned tries_ = 0;
};

}  // namespace sonde
