#include "analysis/gpu_utilization.hpp"

#include <algorithm>
#include <map>

namespace sonde {
namespace {

struct DeviceKernels {
  std::vector<Interval> spans;
  struct Occupied {
    Interval span;
    double blocks_per_sm;
  };
  std::vector<Occupied> blocks;
  double occupancy_sum = 0;
  double occupancy_time = 0;
};

std::map<std::int32_t, DeviceKernels> kernels_by_device(const Trace& trace, Unplaced unplaced) {
  std::map<std::int32_t, DeviceKernels> devices;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) != SliceKind::Kernel) continue;
    const DeviceRow* row = trace.device_work().find(slice);
    std::int32_t id = row ? row->device : -1;
    if (id < 0 && unplaced == Unplaced::OnTheirTracks)
      id = trace.track(trace.slices().track(slice)).device;
    if (!row || id < 0) continue;
    DeviceKernels& device = devices[id];
    const Interval span{trace.slices().start(slice), trace.slices().end(slice)};
    device.spans.push_back(span);
    if (row->blocks_per_sm > 0) device.blocks.push_back({span, row->blocks_per_sm});
    if (row->occupancy >= 0) {
      device.occupancy_sum +=
          static_cast<double>(row->occupancy) * static_cast<double>(span.length());
      device.occupancy_time += static_cast<double>(span.length());
    }
  }
  return devices;
}

// Sweeps over the kernels' ends: a moment counts with the blocks per SM of all kernels that run in
// it, at most 1.
double occupied_time(const std::vector<DeviceKernels::Occupied>& kernels) {
  struct Edge {
    Nanos time;
    bool is_end;
    double blocks;
  };
  std::vector<Edge> edges;
  edges.reserve(kernels.size() * 2);
  for (const DeviceKernels::Occupied& kernel : kernels) {
    edges.push_back({kernel.span.start, false, kernel.blocks_per_sm});
    edges.push_back({kernel.span.end, true, -kernel.blocks_per_sm});
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.time != b.time ? a.time < b.time : a.is_end < b.is_end;
  });
  double sum = 0;
  double blocks = 0;
  std::size_t open = 0;
  Nanos since = 0;
  for (const Edge& edge : edges) {
    if (open > 0) sum += std::min(blocks, 1.0) * static_cast<double>(edge.time - since);
    since = edge.time;
    blocks += edge.blocks;
    open += edge.is_end ? -1 : 1;
    if (open == 0) blocks = 0;  // no rounding error is carried on
  }
  return sum;
}

}  // namespace

std::vector<GpuUtilization> gpu_utilization(const Trace& trace, const Interval& window,
                                            Unplaced unplaced) {
  std::vector<GpuUtilization> out;
  const auto span = static_cast<double>(window.length());
  for (auto& [id, kernels] : kernels_by_device(trace, unplaced)) {
    GpuUtilization gpu;
    gpu.device = id;
    if (window.length() > 0) {
      const Intervals busy = merge_intervals(std::move(kernels.spans));
      gpu.utilization = static_cast<double>(length_within(busy, window)) / span;
      gpu.sm_efficiency = occupied_time(kernels.blocks) / span;
    }
    if (kernels.occupancy_time > 0) gpu.occupancy = kernels.occupancy_sum / kernels.occupancy_time;
    out.push_back(gpu);
  }
  return out;
}

std::vector<UtilizationSeries> utilization_series(const Trace& trace, const Interval& window) {
  constexpr Nanos kMaxBuckets = 100;
  std::vector<UtilizationSeries> out;
  if (window.length() <= 0) return out;
  Nanos bucket = 1000;
  while (window.length() > bucket * kMaxBuckets) bucket *= 10;
  const auto buckets = static_cast<std::size_t>(window.length() / bucket);
  for (auto& [id, kernels] : kernels_by_device(trace, Unplaced::LeftOut)) {
    const Intervals busy = clip(merge_intervals(std::move(kernels.spans)), window);
    if (busy.empty()) continue;
    UtilizationSeries series{id, window.start, bucket, {}};
    series.share.reserve(buckets);
    for (std::size_t b = 0; b < buckets; ++b) {
      const Nanos start = window.start + static_cast<Nanos>(b) * bucket;
      series.share.push_back(static_cast<double>(length_within(busy, {start, start + bucket})) /
                             static_cast<double>(bucket));
    }
    out.push_back(std::move(series));
  }
  return out;
}

}  // namespace sonde
