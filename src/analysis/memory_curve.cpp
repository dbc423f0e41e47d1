#include "analysis/memory_curve.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/saturated.hpp"
#include "trace/system_counters.hpp"

namespace sonde {
namespace {

std::int64_t whole_bytes(double value) { return std::max<std::int64_t>(saturated_round(value), 0); }

std::string label_of(const Trace& trace, const std::string& worker, const CounterValue& value) {
  const Track& track = trace.track(value.track);
  const std::string_view domain = trace.text(track.name);
  if (domain == system_counters::kProcesses) return "all processes";
  const std::string_view series = trace.text(value.series);
  if (!series.empty()) return std::string(series);
  if (trace.meta().format == "sonde") {
    if (!domain.empty() && domain != "process") return std::string(domain);
    std::string out = "process " + std::to_string(track.pid);
    if (const std::string_view name = trace.text(track.process); !name.empty())
      out += " (" + std::string(name) + ")";
    return out;
  }
  if (const std::string_view process = trace.text(track.process); !process.empty())
    return std::string(process);
  return worker;
}

void add_curves(const Trace& trace, const std::string& worker, std::vector<MemoryCurve>& out) {
  const StringId resident = trace.strings().find(system_counters::kResident);
  const StringId told_peak = trace.strings().find(system_counters::kPeakResident);
  std::map<std::tuple<TrackId, StringId, StringId>, std::size_t> known;
  std::map<TrackId, std::int64_t> told;  // peaks between two looks
  for (const CounterValue& value : trace.counters()) {
    if (told_peak.valid() && value.counter == told_peak) {
      std::int64_t& peak = told[value.track];
      peak = std::max(peak, whole_bytes(value.value));
      continue;
    }
    const bool memory = (resident.valid() && value.counter == resident) ||
                        (trace.meta().profile_memory && trace.meta().format != "sonde");
    if (!memory) continue;
    const auto [at, added] =
        known.try_emplace({value.track, value.counter, value.series}, out.size());
    if (added) {
      out.emplace_back();
      out.back().label = label_of(trace, worker, value);
      out.back().whole = trace.text(trace.track(value.track).name) == system_counters::kProcesses;
    }
    MemoryCurve& curve = out[at->second];
    const std::int64_t bytes = whole_bytes(value.value);
    if (bytes > curve.peak) {
      curve.peak = bytes;
      curve.peak_time = value.time;
    }
    curve.points.push_back({value.time, bytes});
  }
  for (const auto& [key, index] : known) {
    const auto peak = told.find(std::get<0>(key));
    if (peak != told.end()) out[index].peak = std::max(out[index].peak, peak->second);
  }
}

void put_in_order(std::vector<MemoryCurve>& out) {
  for (MemoryCurve& curve : out) {
    std::stable_sort(curve.points.begin(), curve.points.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    // The first look may come before the program has its memory, the last one when it is gone.
    const auto has_memory = [](const MemoryCurve::Point& point) { return point.bytes > 0; };
    curve.points.erase(std::find_if(curve.points.rbegin(), curve.points.rend(), has_memory).base(),
                       curve.points.end());
    curve.points.erase(curve.points.begin(),
                       std::find_if(curve.points.begin(), curve.points.end(), has_memory));
  }
  std::stable_sort(out.begin(), out.end(), [](const MemoryCurve& a, const MemoryCurve& b) {
    return std::tuple(!a.whole, -a.peak) < std::tuple(!b.whole, -b.peak);
  });
}

}  // namespace

std::vector<MemoryCurve> memory_curves(std::span<const NamedTrace> traces) {
  std::vector<MemoryCurve> out;
  for (const NamedTrace& named : traces) add_curves(named.trace, named.worker, out);
  put_in_order(out);
  return out;
}

std::vector<MemoryCurve> memory_curves(const Trace& trace, const std::string& worker) {
  std::vector<MemoryCurve> out;
  add_curves(trace, worker, out);
  put_in_order(out);
  return out;
}

std::vector<MemoryCurve::Point> thin_out(const std::vector<MemoryCurve::Point>& points,
                                         std::size_t count) {
  if (points.size() <= count || count == 0) return points;
  const Nanos first = points.front().time;
  const double part =
      std::max(1.0, static_cast<double>(points.back().time - first)) / static_cast<double>(count);
  std::vector<MemoryCurve::Point> out;
  std::size_t last = SIZE_MAX;
  for (const MemoryCurve::Point& point : points) {
    const auto index = std::min(
        count - 1, static_cast<std::size_t>(static_cast<double>(point.time - first) / part));
    if (index != last) {
      out.push_back(point);
      last = index;
    } else if (point.bytes > out.back().bytes) {
      out.back() = point;
    }
  }
  return out;
}

ProcessAllocations process_allocations(std::span<const NamedTrace> traces) {
  ProcessAllocations out;
  const auto add = [](std::int64_t& into, std::int64_t value) {
    into = saturated_sum(into, value);
  };
  for (const NamedTrace& named : traces) {
    for (const ProcessMemory::Site& site : named.trace.process_memory().sites) {
      out.known = true;
      AllocationTotals& totals = site.native ? out.native : out.python;
      add(totals.allocations, site.allocations);
      add(totals.allocated, site.allocated_bytes);
      add(totals.live, site.live_bytes());
      add(totals.at_peak, site.peak_bytes);
    }
  }
  return out;
}

}  // namespace sonde
