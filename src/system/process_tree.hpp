#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// One process as /proc tells it.
struct ProcessStat {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';
  std::uint64_t cpu_ticks = 0;  // its own and that of children it has waited for
  std::int64_t threads = 0;
  std::uint64_t start_ticks = 0;
  std::int64_t resident_pages = 0;
  std::string name;
};

// Reads the text of /proc/PID/stat; false where it is none. The name inside may hold anything.
bool parse_process_stat(std::string_view text, ProcessStat& out);

// Sums over a process and all its descendants. Times and counts are since the start of the
// processes and never fall.
struct TreeTotals {
  std::int64_t processes = 0;
  std::int64_t threads = 0;
  std::int64_t cpu_nanos = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t context_switches = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
};

// The memory of one process at a sample.
struct ProcessMemoryUse {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // with the number, the identity of the process
  std::string name;
  std::int64_t resident_bytes = 0;
};

// Watches a process and its descendants from outside. A descendant stays known when its parent ends
// before it.
class ProcessTree {
 public:
  // `proc` is the folder of the process file system, another one for tests.
  explicit ProcessTree(pid_t root, std::string proc = "/proc");

  TreeTotals sample();
  std::size_t size() const { return members_.size(); }
  // Looks for new descendants; all that are there now, without counting anything of them.
  std::vector<pid_t> processes();
  // Those that the last sample found alive.
  const std::vector<ProcessMemoryUse>& memory() const { return memory_; }
  // Resident bytes with each shared page divided among those who share it; nothing where the system
  // does not tell. Takes the longer the larger the process is.
  std::optional<std::int64_t> proportional_bytes(pid_t pid) const;

 private:
  void find_children();
  void find_children_by_scan();
  bool read_stat(pid_t pid, ProcessStat& out) const;
  void add_io(pid_t pid, TreeTotals& totals) const;
  void add_switches(pid_t pid, std::int64_t threads, TreeTotals& totals) const;

  std::string proc_;
  std::map<pid_t, std::uint64_t> members_;  // start time: a number given anew is another process
  std::vector<ProcessMemoryUse> memory_;
  TreeTotals latest_;
  std::int64_t page_bytes_;
  std::int64_t ticks_per_second_;
  unsigned samples_ = 0;
};

}  // namespace sonde
