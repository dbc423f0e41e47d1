#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "trace/selection.hpp"

namespace sonde {

// The options that cut a piece out of a trace, the same for every command that has them.
struct CutOptions {
  std::string from;
  std::string to_time;
  std::string step;
  std::string kind;
  std::int64_t rank = kAnyRank;
  std::string process;  // pid, or the name of its file

  static constexpr std::int64_t kAnyRank = -1;

  void define(Options& options);
  bool any() const { return picks() || rank != kAnyRank || !process.empty(); }
  // Whether they leave out parts of a trace, and not only whole ones.
  bool picks() const { return !from.empty() || !to_time.empty() || !step.empty() || !kind.empty(); }

  // Whether the words make sense, before anything is read.
  Result<bool> check() const;
  // What they mean for the trace that has these steps.
  Result<TraceFilter> filter(const std::vector<Selection::Step>& steps) const;
};

// "1.5s", "200ms", "10us", "500ns", "2min" as nanoseconds.
Result<Nanos> parse_time(std::string_view text);

}  // namespace sonde
