#include "analysis/hot_slices.hpp"

#include <algorithm>

#include "base/flat_map.hpp"

namespace sonde {

std::vector<NameStats> hot_slices(const Trace& trace) {
  const SliceColumns& slices = trace.slices();
  std::vector<NameStats> out;
  FlatMap<std::uint32_t> rows;
  const auto row_of = [&](StringId name) -> NameStats& {
    bool inserted = false;
    const std::uint32_t row =
        rows.get_or_insert(name.value, static_cast<std::uint32_t>(out.size()), &inserted);
    if (inserted) out.push_back({name, 0, 0, 0});
    return out[row];
  };
  for (const SliceId slice : all_slices(trace)) {
    NameStats& stats = row_of(slices.name(slice));
    ++stats.calls;
    stats.total += slices.duration(slice);
    stats.self += slices.duration(slice);
  }
  for (const SliceId slice : all_slices(trace)) {
    const SliceId parent = slices.parent(slice);
    if (parent.valid()) row_of(slices.name(parent)).self -= slices.duration(slice);
  }
  // Children that overlap each other may add up to more than their parent.
  for (NameStats& stats : out) stats.self = std::max<Nanos>(stats.self, 0);
  std::stable_sort(out.begin(), out.end(),
                   [](const NameStats& a, const NameStats& b) { return a.self > b.self; });
  return out;
}

}  // namespace sonde
