#include "import/sonde_run/cupti/device_memory.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "trace/system_counters.hpp"

namespace sonde::cupti {

void DeviceMemory::finish() {
  TraceBuilder& builder = context_.builder;
  std::stable_sort(allocations_.begin(), allocations_.end(),
                   [](const Allocation& a, const Allocation& b) { return a.time < b.time; });
  // A framework that takes its memory in large pieces tells itself what it does with them; what it
  // took from CUDA would count the same bytes again, and becomes a curve.
  const bool told = std::any_of(builder.allocations().begin(), builder.allocations().end(),
                                [](const Allocation& known) { return known.device_type == 1; });
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> totals;
  for (Allocation& allocation : allocations_) {
    std::int64_t& total = totals[{allocation.device_type, allocation.device}];
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(total, allocation.bytes, &sum))
      total = std::max<std::int64_t>(sum, 0);
    allocation.total_allocated = total;
    if (!told) {
      builder.add_allocation(allocation);
      continue;
    }
    if (allocation.device_type != 1) continue;
    CounterValue value;
    value.time = allocation.time;
    value.track = context_.tracks.domain(TrackType::Counter, builder.intern("GPU"));
    value.counter = builder.intern(std::string(system_counters::kTakenFromCuda) +
                                   std::to_string(allocation.device));
    value.value = static_cast<double>(total);
    builder.add_counter(value);
  }
  if (!told && !allocations_.empty()) builder.meta().profile_memory = true;
}

}  // namespace sonde::cupti
