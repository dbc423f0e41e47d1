#include "analysis/devices.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace sonde {
namespace {

struct Work {
  DeviceStats stats;
  std::vector<Interval> all;
  std::vector<Interval> kernels;
  std::map<std::int64_t, std::pair<std::uint64_t, std::vector<Interval>>> streams;
};

void add(Work& work, SliceKind kind, std::int64_t stream, const Interval& when) {
  if (kind == SliceKind::Kernel) {
    ++work.stats.kernels;
    work.stats.kernel_time += when.length();
    work.kernels.push_back(when);
  } else if (kind == SliceKind::Memcpy) {
    ++work.stats.copies;
    work.stats.copy_time += when.length();
  } else {
    ++work.stats.memsets;
    work.stats.memset_time += when.length();
  }
  work.all.push_back(when);
  auto& [count, intervals] = work.streams[stream];
  ++count;
  intervals.push_back(when);
}

DeviceStats finish(Work&& work, const Trace& trace, std::int32_t id, const Interval& steps) {
  DeviceStats out = std::move(work.stats);
  out.id = id;
  for (const Device& device : trace.meta().devices) {
    if (device.id == id) out.properties = device;
  }
  out.busy = total_length(merge_intervals(std::move(work.all)));
  const Intervals kernels = merge_intervals(std::move(work.kernels));
  out.kernel_busy = total_length(kernels);
  out.step_kernel_busy = length_within(kernels, steps);
  for (auto& [stream, content] : work.streams) {
    out.streams.push_back(
        {stream, content.first, total_length(merge_intervals(std::move(content.second)))});
  }
  return out;
}

}  // namespace

void add_gpu_times(const Trace& trace, const DeviceUse& use, GpuTimesById& out) {
  if (use.devices.empty()) return;
  std::vector<Interval> steps;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) != SliceKind::Step) continue;
    steps.push_back({trace.slices().start(slice), trace.slices().end(slice)});
  }
  const Nanos step_time = total_length(merge_intervals(std::move(steps)));
  for (const DeviceStats& device : use.devices) {
    GpuTimes& times = out[device.id];
    times.kernels += device.kernel_busy;
    times.steps = std::max(times.steps, step_time);
  }
}

DeviceUse device_use(const Trace& trace, const Interval& steps) {
  const SliceColumns& slices = trace.slices();
  std::map<std::int32_t, Work> devices;
  std::vector<ThreadStats> threads(trace.tracks().size());
  std::vector<std::vector<Interval>> operators(trace.tracks().size());
  for (const SliceId slice : all_slices(trace)) {
    const SliceKind kind = slices.kind(slice);
    const Interval when{slices.start(slice), slices.end(slice)};
    const std::size_t track = slices.track(slice).index();
    if (is_device_work(kind)) {
      const DeviceRow* row = trace.device_work().find(slice);
      const Track& lane = trace.tracks()[track];
      const bool told = row && row->device >= 0;
      const std::int64_t stream = row && row->stream != kNoNumber ? row->stream : lane.tid;
      add(devices[told ? row->device : lane.device], kind, stream, when);
    } else if (is_launch_call(kind)) {
      ++threads[track].runtime_calls;
      threads[track].runtime_time += when.length();
    } else if (is_host_operator(kind)) {
      ++threads[track].operators;
      operators[track].push_back(when);
    }
  }

  DeviceUse out;
  for (auto& [id, work] : devices) out.devices.push_back(finish(std::move(work), trace, id, steps));
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (threads[i].operators == 0 && threads[i].runtime_calls == 0) continue;
    threads[i].track = TrackId(i);
    threads[i].operator_time = total_length(merge_intervals(std::move(operators[i])));
    out.threads.push_back(threads[i]);
  }
  return out;
}

}  // namespace sonde
