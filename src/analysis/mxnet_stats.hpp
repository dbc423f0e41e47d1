#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// The two tables of aggregate statistics that MXNet has had: that of releases 1.2 to 1.4, and the
// one that came after it.
enum class MxnetTable : std::uint8_t { Old, New };

enum class MxnetSort : std::uint8_t { Total, Average, Min, Max, Count };

// All records of one name in one category. Durations are in microseconds, counters in their own
// unit. MXNet's numbers are whole; traces of others may have fractions.
struct MxnetStat {
  std::string name;
  bool counter = false;
  std::uint64_t count = 0;
  double total = 0;  // of a counter its latest value
  double min = kMinLimit;
  double max = 0;

  // A minimum is never above this, since MXNet starts from it.
  static constexpr double kMinLimit = 2147483647;

  // Total by count; for a counter half of its range, in MXNet's newer table of whole numbers.
  double average(MxnetTable table) const;
};

struct MxnetSection {
  std::string category;
  bool memory = false;  // bytes, not time
  std::vector<MxnetStat> rows;
};

// The statistics of a trace, categories in the order of their bytes, rows in the order of their
// first record.
//
// Slices that have a category of their own count under it. Others have one by their kind: operators
// "operator", calls of the runtime and the driver "CUDA_API" (or that of another family), ranges
// without a domain "event", the rest the name of their kind. Counters count under the name of their
// track, or of their process. Allocations count as "Memory: <device>" of "Device Storage" where the
// trace has no counter of that name. A category that has markers only is there without rows.
//
// The old table counts the second record that MXNet's files have of each operator; the new one does
// not.
std::vector<MxnetSection> mxnet_stats(const Trace& trace, MxnetTable table);

// Puts the rows into the order in which the old table prints them: that of a hash map.
void order_by_hash(MxnetSection& section);

// Puts the rows into the order of the new table: the greatest first, or the smallest. Equal ones
// stand in the reverse order of their names, either way.
void order_by_key(MxnetSection& section, MxnetSort key, bool ascending);

}  // namespace sonde
