#include "analysis/launches.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace sonde {

std::vector<LaunchStats> launch_stats(const Trace& trace) {
  const SliceColumns& slices = trace.slices();
  const Links& links = trace.launch_to_device();
  std::map<StringId, LaunchStats> by_name;
  SliceId last;
  // Links stand in the order of their calls.
  for (std::size_t i = 0; i < links.size(); ++i) {
    const SliceId call = links.from(i);
    const SliceId work = links.to(i);
    LaunchStats& stats = by_name[slices.name(call)];
    stats.call = slices.name(call);
    if (call != last) {
      ++stats.calls;
      stats.call_time += slices.duration(call);
      last = call;
    }
    ++stats.work;
    // The clocks of host and device may differ a little.
    const Nanos delay = std::max<Nanos>(slices.start(work) - slices.start(call), 0);
    stats.delay += delay;
    stats.longest_delay = std::max(stats.longest_delay, delay);
  }
  std::vector<LaunchStats> out;
  out.reserve(by_name.size());
  for (const auto& [name, stats] : by_name) out.push_back(stats);
  std::stable_sort(out.begin(), out.end(),
                   [](const LaunchStats& a, const LaunchStats& b) { return a.work > b.work; });
  return out;
}

LaunchQueue launch_queue(const Trace& trace) {
  const SliceColumns& slices = trace.slices();
  const Links& links = trace.launch_to_device();
  std::vector<std::pair<Nanos, std::int64_t>> changes;
  changes.reserve(2 * links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Nanos asked = slices.start(links.from(i));
    const Nanos done = slices.end(links.to(i));
    if (done < asked) continue;
    changes.emplace_back(asked, 1);
    changes.emplace_back(done, -1);
  }
  LaunchQueue out;
  if (changes.empty()) return out;
  std::sort(changes.begin(), changes.end());
  out.begin = changes.front().first;
  out.end = changes.back().first;
  std::int64_t length = 0;
  double area = 0;
  double empty = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const Nanos time = changes[i].first;
    for (; i < changes.size() && changes[i].first == time; ++i) length += changes[i].second;
    out.longest = std::max(out.longest, length);
    if (out.points.empty() || out.points.back().length != length) {
      out.points.push_back({time, length});
    }
    const auto lasts = static_cast<double>((i < changes.size() ? changes[i].first : time) - time);
    area += static_cast<double>(length) * lasts;
    if (length == 0) empty += lasts;
  }
  if (out.end > out.begin) {
    out.mean = area / static_cast<double>(out.end - out.begin);
    out.empty = empty / static_cast<double>(out.end - out.begin);
  }
  return out;
}

std::vector<QueuePart> queue_parts(const LaunchQueue& queue, Nanos begin, Nanos end,
                                   std::size_t count) {
  std::vector<QueuePart> out;
  if (queue.points.empty() || end <= begin || count == 0) return out;
  const auto border = [&](std::size_t part) {
    return begin + static_cast<Nanos>(static_cast<double>(end - begin) * static_cast<double>(part) /
                                      static_cast<double>(count));
  };
  auto at = queue.points.begin();
  std::int64_t length = 0;
  for (std::size_t i = 0; i < count; ++i) {
    QueuePart part{border(i), i + 1 == count ? end : border(i + 1), 0, 0};
    if (part.end <= part.start) continue;
    while (at != queue.points.end() && at->time <= part.start) length = (at++)->length;
    part.longest = length;
    Nanos since = part.start;
    double area = 0;
    for (; at != queue.points.end() && at->time < part.end; ++at) {
      area += static_cast<double>(length) * static_cast<double>(at->time - since);
      since = at->time;
      length = at->length;
      part.longest = std::max(part.longest, length);
    }
    area += static_cast<double>(length) * static_cast<double>(part.end - since);
    part.mean = area / static_cast<double>(part.end - part.start);
    out.push_back(part);
  }
  return out;
}

}  // namespace sonde
