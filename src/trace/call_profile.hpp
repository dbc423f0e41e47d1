#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/ids.hpp"

namespace sonde {

// One kind of cost that a profile counts: time in nanoseconds, instructions, bytes …
struct CostType {
  StringId name;  // "time", "Ir", "alloc_space"
  StringId unit;  // "ns", "bytes", "count", or empty
};

// Sums that a deterministic profiler kept instead of a timeline: what each function cost, who
// called it, and what each line cost. The lists of costs hold types.size() numbers for each row,
// row by row; costs of time are nanoseconds.
struct CallProfile {
  struct Function {
    StringId name;
    StringId file;    // "~" and "" as the writer has them; invalid where it has none
    StringId module;  // shared object or module; invalid where the file has none
    std::int32_t line = 0;
    std::int64_t calls = 0;            // all of them
    std::int64_t primitive_calls = 0;  // without those from within the function itself
    StringId qualified_name{};         // "Network.forward", where the writer tells it besides
  };

  // The calls of one function by another; at one place of its source where the file tells.
  struct Call {
    FunctionId caller;
    FunctionId callee;
    std::int32_t line = 0;
    std::int64_t calls = 0;
    std::int64_t primitive_calls = 0;
  };

  struct Line {
    FunctionId function;
    StringId file;  // differs from the function's where code was inlined
    std::int32_t line = 0;
    std::int64_t hits = 0;
  };

  std::vector<CostType> types;
  std::vector<Function> functions;
  std::vector<std::int64_t> function_self;
  std::vector<std::int64_t> function_total;  // with callees; recursion counted once
  std::vector<Call> calls;
  std::vector<std::int64_t> call_self;   // the callee's own, when called from there
  std::vector<std::int64_t> call_total;  // with what the callee called
  std::vector<Line> lines;
  std::vector<std::int64_t> line_self;  // without calls, where the writer tells them apart
  double tick = 1e-9;                   // seconds that the writer's clock counted in
  bool sampled = false;                 // calls are samples, not calls
  bool call_costs_known = true;         // false: the file only counts calls; their costs are 0
  bool callee_self_known = true;        // false: call_self is 0; the file has call_total only
  bool self_known = true;       // false: the costs of lines and functions include what they called
  bool line_self_known = true;  // false: those of lines do, whatever self_known says of functions

  bool empty() const { return functions.empty(); }
  std::size_t bytes() const {
    return types.size() * sizeof(CostType) + functions.size() * sizeof(Function) +
           calls.size() * sizeof(Call) + lines.size() * sizeof(Line) +
           (function_self.size() + function_total.size() + call_self.size() + call_total.size() +
            line_self.size()) *
               sizeof(std::int64_t);
  }
};

}  // namespace sonde
