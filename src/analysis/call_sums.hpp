#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/call_tree.hpp"

namespace sonde {

// Functions with what each of them cost, and who called whom: what call graphs are drawn from.
// Lists of costs hold types.size() numbers for each row, as in CallProfile.
struct CallSums {
  struct Function {
    std::string_view name;
    std::string_view file;
    std::string_view module;
    std::int32_t line = 0;
    std::int64_t calls = 0;
    std::int64_t primitive_calls = 0;
  };
  struct Call {
    std::uint32_t caller = 0;
    std::uint32_t callee = 0;
    std::int32_t line = 0;  // of the call, where it is known
    std::int64_t calls = 0;
    std::int64_t primitive_calls = 0;
  };
  struct Line {
    std::uint32_t function = 0;
    std::string_view file;
    std::int32_t line = 0;
  };

  std::vector<CallValueType> types;
  std::vector<Function> functions;
  std::vector<std::int64_t> function_self;
  std::vector<std::int64_t> function_total;
  std::vector<Call> calls;
  std::vector<std::int64_t> call_self;
  std::vector<std::int64_t> call_total;
  std::vector<Line> lines;  // in the order of the functions; empty where nothing is known of lines
  std::vector<std::int64_t> line_self;
  bool sampled = false;         // calls are samples
  std::vector<CallTree> trees;  // what the texts live in, where the sums were made of a tree

  std::int64_t cost(const std::vector<std::int64_t>& costs, std::size_t row,
                    std::size_t type) const {
    const std::size_t at = row * types.size() + type;
    return at < costs.size() ? costs[at] : 0;
  }
};

// The numbers of the trace's own call profile where it has one; else sums over its call tree.
// `weight` as in CallTreeOptions.
Result<CallSums> sum_calls(const Trace& trace, const std::string& weight);

}  // namespace sonde
