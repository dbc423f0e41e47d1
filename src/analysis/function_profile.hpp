#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace_set.hpp"

namespace sonde {

// Where the numbers of a function come from.
enum class ProfileSource : std::uint8_t {
  None,     // the trace has nothing that could be called a function
  Counted,  // sums that a profiler kept (Trace::call_profile)
  Samples,  // stacks of samples
  Slices,   // a timeline
};

// What is counted: "time" in "ns", "Ir" in "count", "memory" in "bytes".
struct ProfileCost {
  std::string name;
  std::string unit;
  bool timed = true;  // each sample is one look at the program; else its weight may stand for many
};

// The functions of one or more traces, what they cost, who called whom, and what their lines cost.
// The lists of costs have costs.size() numbers for each row. Texts belong to the traces.
struct FunctionProfile {
  struct Function {
    std::string_view name;
    std::string_view file;
    std::string_view module;
    std::int32_t line = 0;
    std::int64_t calls = 0;             // of samples: how many have it on their stack
    std::int64_t primitive_calls = 0;   // without those from within the function itself
    std::string_view qualified_name{};  // "Network.forward", where it is known besides

    std::string_view best_name() const { return qualified_name.empty() ? name : qualified_name; }
  };
  struct Call {
    std::uint32_t caller = 0;
    std::uint32_t callee = 0;
    std::int64_t calls = 0;
  };
  struct Line {
    std::uint32_t function = 0;
    std::string_view file;
    std::int32_t line = 0;
    std::int64_t hits = 0;
  };

  ProfileSource source = ProfileSource::None;
  std::vector<ProfileCost> costs;
  std::vector<double> whole;  // what all functions together cost by themselves

  std::vector<Function> functions;
  std::vector<double> self;
  std::vector<double> total;  // with callees; recursion counted once
  std::vector<Call> calls;
  std::vector<double> call_self;
  std::vector<double> call_total;
  std::vector<Line> lines;
  std::vector<double> line_self;
  std::vector<double> line_total;  // with what was called there; of samples only, else empty

  bool calls_are_samples = false;
  bool self_known = true;         // false: the costs of functions include what they called
  bool line_self_known = true;    // false: the costs of a line include what it called
  bool call_costs_known = true;   // false: calls are counted only
  bool callee_self_known = true;  // false: call_self is 0

  double self_of(std::size_t function, std::size_t cost) const {
    return self[function * costs.size() + cost];
  }
  double total_of(std::size_t function, std::size_t cost) const {
    return total[function * costs.size() + cost];
  }
};

// What a profile is wanted for: a trace may know functions from one source and lines from another.
enum class ProfileNeed : std::uint8_t { Functions, Lines };

struct ProfileChoice {
  ProfileNeed need = ProfileNeed::Functions;
  ProfileSource source = ProfileSource::None;  // None: the best that there is
};

// From sums, else from samples, else from slices of threads: what the trace has.
FunctionProfile function_profile(const Trace& trace, const ProfileChoice& choice = {});

// The sum over all traces; functions are the same where name, file, module and line are. All
// numbers come from one source, the first of profile_sources(): `left_out` counts the traces that
// have others only.
FunctionProfile function_profile(std::span<const NamedTrace> traces,
                                 std::size_t* left_out = nullptr, const ProfileChoice& choice = {});

// All sources that the traces have for the need; first the best one that a process of a recorded
// run has, of other traces that of the first one.
std::vector<ProfileSource> profile_sources(std::span<const NamedTrace> traces, ProfileNeed need);

// The profile with one of its costs only.
FunctionProfile with_one_cost(FunctionProfile profile, std::size_t cost);

// Whether the trace is what a profiler of functions or of memory writes, rather than a timeline of
// a training: there are functions, samples or counters, and neither steps, operators nor device
// work.
bool is_function_profile(const Trace& trace);

}  // namespace sonde
