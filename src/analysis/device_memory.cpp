#include "analysis/device_memory.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "base/saturated.hpp"
#include "trace/system_counters.hpp"

namespace sonde {
namespace {

namespace names = system_counters;

constexpr std::int32_t kCpu = 0;

void add_point(MemoryCurve& curve, Nanos time, std::int64_t bytes) {
  if (bytes > curve.peak) {
    curve.peak = bytes;
    curve.peak_time = time;
  }
  curve.points.push_back({time, bytes});
}

class Collector {
 public:
  Collector(const NamedTrace& named, std::vector<DeviceMemory>& out) : named_(named), out_(out) {}

  void add_allocations() {
    std::vector<const Allocation*> order;
    for (const Allocation& allocation : named_.trace.allocations()) order.push_back(&allocation);
    std::stable_sort(order.begin(), order.end(),
                     [](const Allocation* a, const Allocation* b) { return a->time < b->time; });
    std::map<std::string, std::int64_t> totals;
    for (const Allocation* allocation : order) {
      const std::string device = label_of(allocation->device_type, allocation->device);
      DeviceMemory& memory = entry(device, DeviceMemory::Count::Allocated);
      if (allocation->out_of_memory) {
        ++memory.failed;
        continue;
      }
      if (allocation->bytes > 0) ++memory.allocations;
      std::int64_t& total = totals[device];
      // What was there before the recording may be freed in it.
      total = std::max<std::int64_t>(saturated_sum(total, allocation->bytes), 0);
      if (allocation->total_allocated != kNoNumber) total = allocation->total_allocated;
      add_point(memory.curve, allocation->time, total);
      if (allocation->total_reserved != kNoNumber && allocation->total_reserved > 0) {
        add_point(entry(device, DeviceMemory::Count::Reserved).curve, allocation->time,
                  allocation->total_reserved);
      }
    }
  }

  void add_counters() {
    const Trace& trace = named_.trace;
    const StringId in_use = trace.strings().find(names::kGpuMemory);
    for (const CounterValue& value : trace.counters()) {
      const std::string_view counter = trace.text(value.counter);
      const std::string_view domain = trace.text(trace.track(value.track).name);
      const std::int64_t bytes = std::max<std::int64_t>(saturated_round(value.value), 0);
      if (counter.starts_with(names::kTakenFromCuda)) {
        const std::string device =
            "GPU " + std::string(counter.substr(names::kTakenFromCuda.size()));
        add_point(entry(with_name(device), DeviceMemory::Count::Reserved).curve, value.time, bytes);
      } else if (in_use.valid() && value.counter == in_use && domain.starts_with(names::kGpu)) {
        const std::string device = "GPU " + std::string(domain.substr(names::kGpu.size()));
        add_point(entry(device, DeviceMemory::Count::InUse).curve, value.time, bytes);
      }
    }
  }

 private:
  std::string label_of(std::int32_t type, std::int32_t device) const {
    if (type == kCpu) return "CPU";
    return with_name("GPU " + std::to_string(device));
  }

  std::string with_name(const std::string& device) const {
    for (const Device& known : named_.trace.meta().devices) {
      if (device == "GPU " + std::to_string(known.id) && !known.name.empty())
        return device + ": " + known.name;
    }
    return device;
  }

  DeviceMemory& entry(const std::string& device, DeviceMemory::Count count) {
    const auto [at, added] = known_.try_emplace({device, count}, out_.size());
    if (added) {
      DeviceMemory& memory = out_.emplace_back();
      memory.named = &named_;
      memory.count = count;
      memory.curve.label = device;
    }
    return out_[at->second];
  }

  const NamedTrace& named_;
  std::vector<DeviceMemory>& out_;
  std::map<std::tuple<std::string, DeviceMemory::Count>, std::size_t> known_;
};

}  // namespace

std::vector<DeviceMemory> device_memory(std::span<const NamedTrace> traces) {
  std::vector<DeviceMemory> out;
  for (const NamedTrace& named : traces) {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    Collector collector(named, out);
    collector.add_allocations();
    collector.add_counters();
    std::stable_sort(out.begin() + first, out.end(),
                     [](const DeviceMemory& a, const DeviceMemory& b) {
                       // GPUs before the host.
                       const bool a_host = a.curve.label == "CPU";
                       const bool b_host = b.curve.label == "CPU";
                       return std::tie(a_host, a.curve.label, a.count) <
                              std::tie(b_host, b.curve.label, b.count);
                     });
  }
  return out;
}

}  // namespace sonde
