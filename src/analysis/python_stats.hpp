#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/function_profile.hpp"

namespace sonde {

// The table that Python's pstats module works on, and what it does with it: functions in their
// order, each with its callers. Texts belong to the traces.
class PythonStats {
 public:
  // What identifies a function; ordered as Python orders such a tuple.
  struct Key {
    std::string_view file;
    std::int32_t line = 0;
    std::string_view name;

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Numbers {
    std::int64_t calls = 0;
    std::int64_t primitive_calls = 0;
    double self = 0;  // seconds, or what unit() says
    double total = 0;

    void add(const Numbers& other);
  };
  struct Caller {
    Key key;
    Numbers numbers;
  };
  struct Function {
    Key key;
    Numbers numbers;
    std::vector<Caller> callers;  // each once, in the order of the file
  };

  // What the numbers of `trace` are; not found where it has no functions.
  static std::optional<PythonStats> of(const Trace& trace);

  // Sums up, as Stats.add().
  void add(const PythonStats& other);
  // Forgets the folders of files; functions that become alike are one from then on. Of callers that
  // become alike the last one stays, as in Python.
  void strip_dirs();

  const std::vector<Function>& functions() const { return functions_; }
  // Whom each function called, in the order of functions().
  std::vector<std::vector<Caller>> callees() const;
  const Function* find(const Key& key) const;

  // Over all functions, as they were before strip_dirs().
  std::int64_t calls() const { return calls_; }
  std::int64_t primitive_calls() const { return primitive_calls_; }
  double self() const { return self_; }

  ProfileSource source() const { return source_; }
  bool sampled() const { return sampled_; }
  bool call_costs_known() const { return call_costs_known_; }
  bool self_known() const { return self_known_; }  // false: self has what was called
  const ProfileCost& cost() const { return cost_; }
  bool in_seconds() const { return cost_.unit == "ns"; }

 private:
  void read_counted(const Trace& trace);
  void read_derived(const Trace& trace);
  Function& function(const Key& key);
  void sum_up();

  std::vector<Function> functions_;
  std::map<Key, std::size_t> index_;
  std::int64_t calls_ = 0;
  std::int64_t primitive_calls_ = 0;
  double self_ = 0;
  ProfileSource source_ = ProfileSource::Counted;
  ProfileCost cost_;
  bool sampled_ = false;
  bool call_costs_known_ = true;
  bool self_known_ = true;
};

// "file.py:12(name)", and "{built-in method …}" for functions that have no file.
std::string python_standard_name(const PythonStats::Key& key);

// The sort keys of pstats by all abbreviations of theirs that it takes.
struct PythonSortKey {
  std::vector<int> columns;  // 0 primitive calls, 1 calls, 2 self, 3 total, 4 file, 5 line, 6 name,
                             // 7 standard name; -1 - n: the largest first
  std::string description;
};
const std::map<std::string, PythonSortKey>& python_sort_keys();
const std::vector<std::string>& python_sort_names();  // the whole words, in Python's order

// Rows of functions() in the order of these keys, each one of python_sort_keys(); rows that are
// alike stay in their order.
std::vector<std::size_t> sort_python_stats(const PythonStats& stats,
                                           std::span<const std::string> keys);

// Which of a profile's costs a report of time is about: time where there is some, else the first.
std::size_t time_cost(const std::vector<ProfileCost>& costs);

}  // namespace sonde
