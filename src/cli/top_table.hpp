#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/table.hpp"
#include "sampler/thread_sample.hpp"

namespace sonde {

enum class TopSort : std::uint8_t { Own, Total, OwnTime, TotalTime };

struct TopLook {
  TopSort sort = TopSort::Own;
  bool lines = false;  // a row for each line instead of each function
  bool idle = false;   // threads that wait count too
};

// What `sonde top` shows: sums over samples, of the newest interval and since the start. 100 % is
// one thread all the time.
class TopSums {
 public:
  void add(const ThreadSample& sample, const TopLook& look);
  // The interval ends: what it had is what rows() shows until the next one does.
  void end_interval(std::uint64_t nanos);
  void clear();

  Table rows(const TopLook& look, std::size_t most) const;
  struct Totals {
    std::size_t threads = 0;  // seen in the last interval
    std::size_t busy = 0;     // those of them that ran
    double lock_percent = 0;  // the interpreter's lock was held
    double cpu_percent = 0;
  };
  Totals totals() const { return totals_; }

 private:
  struct Key {
    const FunctionInfo* function;
    int line;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Row {
    std::uint64_t own = 0;  // of the interval at work, ns
    std::uint64_t total = 0;
    double own_percent = 0;  // of the interval before
    double total_percent = 0;
    std::uint64_t all_own = 0;  // since the start
    std::uint64_t all_total = 0;
  };
  struct Thread {
    bool seen = false;
    bool ran = false;
  };

  std::map<Key, Row> rows_;
  std::map<pid_t, Thread> threads_;
  std::uint64_t lock_ = 0;
  std::uint64_t cpu_ = 0;
  Totals totals_;
  std::vector<Key> seen_;
};

}  // namespace sonde
