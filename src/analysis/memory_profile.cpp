#include "analysis/memory_profile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace sonde {
namespace {

// What a marker of an allocation says beyond the allocation itself.
struct Details {
  std::int64_t available = kNoNumber;
  std::int64_t lifetime_peak = kNoNumber;
  std::int64_t requested = kNoNumber;
  double fragmentation = -1;
  std::string_view region;
  std::string_view data_type;
  std::string_view shape;
};

struct Event {
  const Allocation* allocation = nullptr;
  Details details;
};

double number(const Trace& trace, const MarkerArg& arg) {
  return ArgumentValue(arg).number(trace, -1);
}

// Markers and allocations were written in pairs, in the same order.
class DetailReader {
 public:
  explicit DetailReader(const Trace& trace) : trace_(trace) {
    const StringId allocation = trace.strings().find("MemoryAllocation");
    const StringId deallocation = trace.strings().find("MemoryDeallocation");
    for (std::size_t i = 0; i < trace.markers().size(); ++i) {
      const StringId name = trace.markers()[i].name;
      if (name.valid() && (name == allocation || name == deallocation)) markers_.push_back(i);
    }
    paired_ = markers_.size() == trace.allocations().size();
  }

  Details of(std::size_t allocation) const {
    Details out;
    if (!paired_) return out;
    for (const MarkerArg& arg : trace_.marker_arguments().of(MarkerId(markers_[allocation]))) {
      const std::string_view key = trace_.text(arg.key());
      const ArgumentValue value(arg);
      if (key == "bytes_available")
        out.available = value.integer(trace_, kNoNumber);
      else if (key == "peak_bytes_in_use")
        out.lifetime_peak = value.integer(trace_, kNoNumber);
      else if (key == "requested_bytes")
        out.requested = value.integer(trace_, kNoNumber);
      else if (key == "fragmentation")
        out.fragmentation = number(trace_, arg);
      else if (key == "region_type")
        out.region = trace_.text(value.text());
      else if (key == "data_type")
        out.data_type = trace_.text(value.text());
      else if (key == "shape" || key == "tensor_shapes")
        out.shape = trace_.text(value.text());
    }
    return out;
  }

 private:
  const Trace& trace_;
  std::vector<std::size_t> markers_;
  bool paired_ = false;
};

using DevicePlace = std::pair<std::int32_t, std::int32_t>;  // type and number

DevicePlace device_of(const Allocation& allocation) {
  return {allocation.device_type, allocation.device};
}

// The devices whose totals go on from one pool to the next: the pools are parts of one allocator
// there, not allocators of their own.
std::set<DevicePlace> devices_with_one_total(const Trace& trace) {
  struct Seen {
    std::int64_t total = kNoNumber;
    StringId pool;
    bool pools = false;
    bool broken = false;
  };
  std::map<DevicePlace, Seen> devices;
  for (const Allocation& allocation : trace.allocations()) {
    if (allocation.out_of_memory) continue;
    Seen& seen = devices[device_of(allocation)];
    const std::int64_t total = allocation.total_allocated;
    if (total == kNoNumber) {
      seen.broken = true;
      continue;
    }
    if (seen.total != kNoNumber) {
      seen.broken = seen.broken || total - allocation.bytes != seen.total;
      seen.pools = seen.pools || allocation.pool != seen.pool;
    }
    seen.total = total;
    seen.pool = allocation.pool;
  }
  std::set<DevicePlace> out;
  for (const auto& [device, seen] : devices) {
    if (seen.pools && !seen.broken) out.insert(device);
  }
  return out;
}

std::string allocator_name(const Trace& trace, const Allocation& allocation, bool by_pool) {
  const std::string_view pool = trace.text(allocation.pool);
  if (by_pool && !pool.empty()) return std::string(pool);
  if (allocation.device_type == 0) return "CPU";
  return "device " + std::to_string(std::max(0, allocation.device));
}

void find_live(const Trace& trace, const std::vector<Event>& events, std::size_t peak_at,
               AllocatorProfile& out) {
  // What is alive behind the peak's own event.
  std::unordered_map<std::uint64_t, const Event*> alive;
  for (std::size_t i = 0; i <= peak_at; ++i) {
    const Event& event = events[i];
    if (event.allocation->bytes > 0)
      alive[event.allocation->address] = &event;
    else
      alive.erase(event.allocation->address);
  }
  using Key = std::tuple<std::string_view, std::int64_t, std::int64_t, std::string_view,
                         std::string_view, std::string_view>;
  std::map<Key, std::uint64_t> groups;
  for (const auto& [address, event] : alive) {
    const std::int64_t bytes = event->allocation->bytes;
    const Details& details = event->details;
    const std::int64_t requested = details.requested == kNoNumber ? bytes : details.requested;
    ++groups[{trace.text(event->allocation->tag), bytes, requested, details.region,
              details.data_type, details.shape}];
  }
  std::int64_t known = 0;
  for (const auto& [key, count] : groups) {
    LiveAllocation live;
    std::tie(live.op, live.allocated, live.requested, live.region, live.data_type, live.shape) =
        key;
    live.count = count;
    known += live.allocated * static_cast<std::int64_t>(count);
    out.live.push_back(live);
  }
  std::stable_sort(out.live.begin(), out.live.end(),
                   [](const LiveAllocation& a, const LiveAllocation& b) {
                     return a.allocated * static_cast<std::int64_t>(a.count) >
                            b.allocated * static_cast<std::int64_t>(b.count);
                   });
  out.unexplained = std::max<std::int64_t>(0, out.peak.heap - known);
}

}  // namespace

std::vector<AllocatorProfile> memory_profile(const Trace& trace) {
  const DetailReader details(trace);
  const std::set<DevicePlace> one_total = devices_with_one_total(trace);
  std::map<std::string, std::vector<Event>> allocators;
  for (std::size_t i = 0; i < trace.allocations().size(); ++i) {
    const Allocation& allocation = trace.allocations()[i];
    if (allocation.out_of_memory) continue;
    const bool by_pool = !one_total.contains(device_of(allocation));
    allocators[allocator_name(trace, allocation, by_pool)].push_back({&allocation, details.of(i)});
  }
  std::vector<AllocatorProfile> out;
  for (auto& [name, events] : allocators) {
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return a.allocation->time < b.allocation->time;
    });
    AllocatorProfile profile;
    profile.name = name;
    std::int64_t running = 0;
    std::size_t peak_at = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Allocation& allocation = *events[i].allocation;
      const Details& extra = events[i].details;
      running = std::max<std::int64_t>(0, running + allocation.bytes);
      ++(allocation.bytes > 0 ? profile.allocations : profile.frees);
      MemoryPoint point;
      point.time = allocation.time;
      point.bytes = allocation.bytes;
      point.heap = allocation.total_allocated == kNoNumber ? running : allocation.total_allocated;
      // Only where the allocator tells what is free is "reserved" what programs hold besides.
      if (extra.available != kNoNumber && allocation.total_reserved != kNoNumber)
        point.stack = allocation.total_reserved;
      point.free = extra.available;
      point.fragmentation = extra.fragmentation;
      if (extra.available != kNoNumber)
        profile.capacity = std::max(profile.capacity, point.in_use() + extra.available);
      profile.lifetime_peak = std::max(profile.lifetime_peak, extra.lifetime_peak);
      profile.points.push_back(point);
      // Of several peaks the last.
      if (point.in_use() >= profile.points[peak_at].in_use()) peak_at = i;
    }
    profile.peak = profile.points[peak_at];
    find_live(trace, events, peak_at, profile);
    out.push_back(std::move(profile));
  }
  return out;
}

std::vector<MemoryPoint> sample_points(const std::vector<MemoryPoint>& points, std::size_t count) {
  if (points.size() <= count || count == 0) return points;
  const std::size_t width = (points.size() + count - 1) / count;
  std::vector<MemoryPoint> out;
  for (std::size_t at = 0; at < points.size(); at += width) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end =
        points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), at + width));
    out.push_back(*std::max_element(begin, end, [](const MemoryPoint& a, const MemoryPoint& b) {
      return a.in_use() < b.in_use();
    }));
  }
  return out;
}

}  // namespace sonde
