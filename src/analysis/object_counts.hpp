#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// How many objects of a type there are, or how many more.
struct ObjectCount {
  std::string_view type;  // the trace's
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

std::vector<ObjectCount> object_counts(const Trace& trace, std::size_t snapshot);

// What `after` has more than `before`, types of either: those of `after` first, in their order.
std::vector<ObjectCount> object_difference(const std::vector<ObjectCount>& before,
                                           const std::vector<ObjectCount>& after);

}  // namespace sonde
