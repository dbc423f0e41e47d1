#include "analysis/memcpy.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace sonde {
namespace {

// "Memcpy HtoD (Pinned -> Device)" in its parts; other names leave them empty.
void read_name(CopyStats& stats) {
  const std::string_view name = stats.name;
  constexpr std::string_view kPrefix = "Memcpy ";
  if (!name.starts_with(kPrefix)) return;
  const std::size_t open = name.find(" (");
  stats.direction =
      name.substr(kPrefix.size(),
                  open == std::string_view::npos ? std::string_view::npos : open - kPrefix.size());
  const std::size_t arrow = name.find(" -> ");
  const std::size_t close = name.rfind(')');
  if (open == std::string_view::npos || arrow == std::string_view::npos ||
      close == std::string_view::npos || open + 2 > arrow || arrow + 4 > close) {
    return;
  }
  stats.source = name.substr(open + 2, arrow - open - 2);
  stats.target = name.substr(arrow + 4, close - arrow - 4);
}

void add_sized(CopyStats& stats, std::int64_t bytes, Nanos duration) {
  const double bandwidth = static_cast<double>(bytes) / static_cast<double>(duration);
  stats.min_bandwidth = stats.sized_count ? std::min(stats.min_bandwidth, bandwidth) : bandwidth;
  stats.max_bandwidth = std::max(stats.max_bandwidth, bandwidth);
  ++stats.sized_count;
  stats.bytes += bytes;
  stats.sized_time += duration;
}

using Key = std::pair<SliceKind, std::string_view>;

Key key_of(const CopyStats& stats) { return {stats.kind, stats.name}; }

}  // namespace

std::vector<CopyStats> copy_stats(const Trace& trace) {
  const SliceColumns& slices = trace.slices();
  std::map<Key, CopyStats> groups;
  for (const SliceId slice : all_slices(trace)) {
    const SliceKind kind = slices.kind(slice);
    if (kind != SliceKind::Memcpy && kind != SliceKind::Memset) continue;
    CopyStats& stats = groups[{kind, trace.name(slice)}];
    if (stats.count == 0) {
      stats.name = trace.name(slice);
      stats.kind = kind;
      read_name(stats);
    }
    ++stats.count;
    stats.time += slices.duration(slice);
    const DeviceRow* row = trace.device_work().find(slice);
    if (row && row->bytes >= 0 && slices.duration(slice) > 0) {
      add_sized(stats, row->bytes, slices.duration(slice));
    }
  }
  std::vector<CopyStats> out;
  out.reserve(groups.size());
  for (auto& [key, stats] : groups) out.push_back(std::move(stats));
  return out;
}

void merge_copy_stats(std::vector<CopyStats>& into, const std::vector<CopyStats>& more) {
  for (const CopyStats& stats : more) {
    const auto at = std::lower_bound(
        into.begin(), into.end(), stats,
        [](const CopyStats& a, const CopyStats& b) { return key_of(a) < key_of(b); });
    if (at == into.end() || key_of(*at) != key_of(stats)) {
      into.insert(at, stats);
      continue;
    }
    at->count += stats.count;
    at->time += stats.time;
    if (stats.sized_count) {
      at->min_bandwidth =
          at->sized_count ? std::min(at->min_bandwidth, stats.min_bandwidth) : stats.min_bandwidth;
      at->max_bandwidth = std::max(at->max_bandwidth, stats.max_bandwidth);
    }
    at->sized_count += stats.sized_count;
    at->bytes += stats.bytes;
    at->sized_time += stats.sized_time;
  }
}

}  // namespace sonde
