#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// All copies (or memsets) of one name, such as "Memcpy HtoD (Pinned -> Device)".
struct CopyStats {
  std::string name;
  SliceKind kind = SliceKind::Memcpy;
  std::string direction;  // "HtoD", "DtoD", …; empty where the name does not tell
  std::string source;     // kind of memory: "Pageable", "Pinned", "Device", …; empty alike
  std::string target;
  std::uint64_t count = 0;
  Nanos time = 0;
  // Over the copies whose size and duration the file tells.
  std::uint64_t sized_count = 0;
  std::int64_t bytes = 0;
  Nanos sized_time = 0;
  double min_bandwidth = 0;  // bytes per nanosecond, which is GB/s
  double max_bandwidth = 0;

  std::optional<double> mean_bandwidth() const {
    if (sized_time <= 0) return std::nullopt;
    return static_cast<double>(bytes) / static_cast<double>(sized_time);
  }
  bool pageable() const { return source == "Pageable" || target == "Pageable"; }
};

// By name, names ascending; copies before memsets.
std::vector<CopyStats> copy_stats(const Trace& trace);

// Adds `more` to `into`, which keeps its order. The order of merging does not matter.
void merge_copy_stats(std::vector<CopyStats>& into, const std::vector<CopyStats>& more);

}  // namespace sonde
