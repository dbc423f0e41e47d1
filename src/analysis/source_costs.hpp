#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/function_profile.hpp"
#include "analysis/source_lines.hpp"  // the text that is shown beside the costs

namespace sonde {

// All that is known of a line of source.
struct SourceLine {
  std::int32_t line = 0;
  std::int64_t hits = 0;          // executions, or samples
  double cost = 0;                // of the line itself, or with what it called
  double total = 0;               // of samples: with what it called
  std::int64_t allocated = 0;     // bytes
  std::int64_t peak = 0;          // bytes live when the process had most
  std::int64_t increment = 0;     // change of the process's memory
  std::int64_t device = 0;        // GPU time in nanoseconds, counted once
  std::int64_t device_total = 0;  // with what the line called
};

struct SourceFile {
  std::string_view file;
  std::vector<SourceLine> lines;  // ascending
  std::int64_t hits = 0;
  double cost = 0;
  std::int64_t allocated = 0;
  std::int64_t peak = 0;
  std::int64_t device = 0;
};

struct SourceCosts {
  ProfileSource source = ProfileSource::None;
  ProfileCost cost;  // what `cost` counts
  double whole = 0;  // all files together
  bool hits_are_samples = false;
  bool with_calls = false;  // costs of lines include what they called
  bool has_cost = false;
  bool has_total = false;
  bool has_memory = false;  // allocated and peak
  bool has_increments = false;
  bool has_device = false;
  std::vector<SourceFile> files;  // the dearest first, then by memory, GPU time and name

  // The file that is asked for: the whole name, else the only one that ends in it at a "/"; null
  // where there is none, or more than one.
  const SourceFile* find(std::string_view name) const;
};

// Of all traces of a run together. `weight` names the cost where there are several.
SourceCosts source_costs(std::span<const NamedTrace> traces, const ProfileChoice& choice = {},
                         std::string_view weight = {});
SourceCosts source_costs(const Trace& trace, std::string_view weight = {});

}  // namespace sonde
