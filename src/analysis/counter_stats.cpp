#include "analysis/counter_stats.hpp"

#include <map>
#include <tuple>

namespace sonde {

std::vector<CounterStats> counter_stats(const Trace& trace) {
  std::vector<CounterStats> out;
  std::vector<Nanos> first_time;
  std::vector<Nanos> last_time;
  std::map<std::tuple<TrackId, StringId, StringId>, std::size_t> rows;
  for (const CounterValue& value : trace.counters()) {
    const auto [at, inserted] =
        rows.try_emplace({value.track, value.counter, value.series}, out.size());
    const std::size_t row = at->second;
    if (inserted) {
      out.push_back({value.track, value.counter, value.series, 0, value.value, value.value,
                     value.time, value.value});
      first_time.push_back(value.time);
      last_time.push_back(value.time);
    }
    CounterStats& stats = out[row];
    ++stats.values;
    if (value.value > stats.peak) {
      stats.peak = value.value;
      stats.peak_time = value.time;
    }
    if (value.time < first_time[row]) {
      first_time[row] = value.time;
      stats.first = value.value;
    }
    if (value.time >= last_time[row]) {
      last_time[row] = value.time;
      stats.last = value.value;
    }
  }
  return out;
}

}  // namespace sonde
