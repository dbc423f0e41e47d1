#include "analysis/mxnet_stats.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/libstdcxx_map.hpp"
#include "base/flat_map.hpp"

namespace sonde {
namespace {

constexpr std::string_view kStorage = "Device Storage";
constexpr std::string_view kMarkers = ",instant_marker";

// A row while it is summed up.
struct Entry {
  MxnetStat stat;
  StringId name;
  Nanos nanos = 0;
};

// The rows of a category in the order of their first record. Slices and counters are kept apart,
// as the trace keeps them.
struct Section {
  std::vector<Entry> slices;
  std::vector<Entry> counters;
};

class Collector {
 public:
  void add_duration(std::string_view category, StringId name, std::string_view text,
                    Nanos duration) {
    Entry& entry = find(category, name, text, false);
    ++entry.stat.count;
    entry.nanos += duration;
    take(entry.stat, static_cast<double>(duration) / 1000);
  }

  void add_value(std::string_view category, StringId name, std::string_view text, double value) {
    if (!std::isfinite(value)) return;
    Entry& entry = find(category, name, text, true);
    entry.stat.counter = true;
    ++entry.stat.count;
    entry.stat.total = value;
    take(entry.stat, value);
  }

  void add_heading(std::string_view category) { section(category); }

  bool has_counter(std::string_view category, std::string_view name) const {
    const auto known = sections_.find(category);
    return known != sections_.end() &&
           std::any_of(known->second.counters.begin(), known->second.counters.end(),
                       [&](const Entry& e) { return e.stat.name == name; });
  }

  std::vector<MxnetSection> finish() {
    std::vector<MxnetSection> out;
    for (auto& [category, section] : sections_) {
      MxnetSection& made = out.emplace_back();
      made.category = category;
      made.memory = category == kStorage || category == "Pool Memory";
      for (Entry& entry : section.slices)
        entry.stat.total = static_cast<double>(entry.nanos) / 1000;
      append_merged(section, made.rows);
    }
    return out;
  }

 private:
  static void take(MxnetStat& stat, double value) {
    stat.min = std::min(stat.min, value);
    stat.max = std::max(stat.max, value);
  }

  // Strings are numbered as they first appear, so that their numbers tell how slices and counters
  // followed each other in the file.
  static void append_merged(Section& section, std::vector<MxnetStat>& rows) {
    auto slice = section.slices.begin();
    auto counter = section.counters.begin();
    while (slice != section.slices.end() || counter != section.counters.end()) {
      const bool take_slice = counter == section.counters.end() ||
                              (slice != section.slices.end() && slice->name < counter->name);
      rows.push_back(std::move((take_slice ? slice++ : counter++)->stat));
    }
  }

  Section& section(std::string_view category) {
    const auto known = sections_.find(category);
    return known != sections_.end() ? known->second : sections_[std::string(category)];
  }

  Entry& find(std::string_view category, StringId name, std::string_view text, bool counter) {
    Section& in = section(category);
    std::vector<Entry>& list = counter ? in.counters : in.slices;
    const auto next = static_cast<std::uint32_t>(list.size());
    // The address of a section is its identity: nodes of a map stay where they are.
    std::uint64_t key = mix_bits(reinterpret_cast<std::uintptr_t>(&list)) + name.value;
    for (;; key = mix_bits(key + 1)) {
      const Place place = places_.get_or_insert(key, {&list, next});
      if (place.list != &list) continue;
      if (place.index == next) {
        Entry& entry = list.emplace_back();
        entry.name = name;
        entry.stat.name = text;
        return entry;
      }
      if (list[place.index].stat.name == text) return list[place.index];
    }
  }

  struct Place {
    const std::vector<Entry>* list = nullptr;
    std::uint32_t index = 0;
  };

  std::map<std::string, Section, std::less<>> sections_;
  FlatMap<Place> places_;
};

// The category of a slice that the file gave none.
std::string_view category_by_kind(SliceKind kind, std::string_view device_family) {
  switch (kind) {
    case SliceKind::Operator:
    case SliceKind::OperatorInner:
    case SliceKind::Communication:
      return "operator";
    case SliceKind::Runtime:
    case SliceKind::Driver:
      return device_family == "ROCm"   ? "HIP_API"
             : device_family == "XPU"  ? "XPU_API"
             : device_family == "MTIA" ? "MTIA_API"
                                       : "CUDA_API";
    case SliceKind::Api:
      return "API";
    case SliceKind::UserRange:
    case SliceKind::DataLoader:
    case SliceKind::Forward:
    case SliceKind::Backward:
    case SliceKind::Optimizer:
      return "event";  // ranges around operators: MXNet's users would make events of them
    default:
      return kind_name(kind);
  }
}

bool is_operator_category(std::string_view category) {
  return category == "operator" || category == "Custom Operator";
}

void add_slices(const Trace& trace, MxnetTable table, Collector& into) {
  const SliceColumns& slices = trace.slices();
  for (const SliceId slice : all_slices(trace)) {
    const SliceKind kind = slices.kind(slice);
    if (kind == SliceKind::Span) continue;  // the recording itself
    std::string_view category;
    if (const StringId* own = trace.categories().find(slice)) category = trace.text(*own);
    const bool second_record = kind == SliceKind::Other && is_operator_category(category);
    if (second_record && table == MxnetTable::New) continue;
    if (category.empty()) category = category_by_kind(kind, trace.meta().device_family);
    if (kind == SliceKind::Step) {  // "ProfilerStep#12": the number would make a row of each
      const std::string_view name = trace.name(slice);
      into.add_duration(category, StringId(std::uint32_t{0}), name.substr(0, name.find('#')),
                        slices.duration(slice));
      continue;
    }
    into.add_duration(category, slices.name(slice), trace.name(slice), slices.duration(slice));
  }
}

void add_counters(const Trace& trace, Collector& into) {
  for (const CounterValue& value : trace.counters()) {
    const Track& track = trace.track(value.track);
    std::string_view category;
    if (track.type == TrackType::Counter) category = trace.text(track.name);
    if (category.empty()) category = trace.text(track.process);
    if (category.empty()) category = "counter";
    std::string name(trace.text(value.counter));
    const std::string_view series = trace.text(value.series);
    if (!series.empty() && series != name) name.append(": ").append(series);
    into.add_value(category, value.counter, name, value.value);
  }
}

// The bytes that each device has got since the start, as MXNet counts them: never below 0.
void add_allocations(const Trace& trace, Collector& into) {
  const std::vector<Allocation>& all = trace.allocations();
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return all[a].time < all[b].time; });
  struct Held {
    std::string name;
    bool counted = false;
    double bytes = 0;
    StringId id;
  };
  std::map<std::pair<std::int32_t, std::int32_t>, Held> devices;
  for (const std::uint32_t i : order) {
    const Allocation& allocation = all[i];
    if (allocation.out_of_memory) continue;
    Held& held = devices[{allocation.device_type, allocation.device}];
    if (held.name.empty()) {
      held.name = (allocation.device_type == 0 ? "Memory: cpu/" : "Memory: gpu/") +
                  std::to_string(std::max(allocation.device, 0));
      held.counted = into.has_counter(kStorage, held.name);
      held.id = StringId(std::uint32_t{0});
    }
    if (held.counted) continue;
    held.bytes = std::max(0.0, held.bytes + static_cast<double>(allocation.bytes));
    into.add_value(kStorage, held.id, held.name, held.bytes);
  }
}

double key_of(const MxnetStat& stat, MxnetSort key) {
  switch (key) {
    case MxnetSort::Total:
      return stat.total;
    case MxnetSort::Average:
      return stat.average(MxnetTable::New);
    case MxnetSort::Min:
      return stat.min;
    case MxnetSort::Max:
      return stat.max;
    case MxnetSort::Count:
      break;
  }
  return static_cast<double>(stat.count);
}

bool is_whole(double value) { return std::trunc(value) == value; }

}  // namespace

double MxnetStat::average(MxnetTable table) const {
  if (!counter) return count == 0 ? 0 : total / static_cast<double>(count);
  const double half = (max - min) / 2;
  return table == MxnetTable::New && is_whole(max) && is_whole(min) ? std::trunc(half) : half;
}

std::vector<MxnetSection> mxnet_stats(const Trace& trace, MxnetTable table) {
  Collector collector;
  add_slices(trace, table, collector);
  add_counters(trace, collector);
  add_allocations(trace, collector);
  for (const Marker& marker : trace.markers()) {
    const std::string_view category = trace.text(trace.track(marker.track).process);
    if (category.ends_with(kMarkers)) collector.add_heading(category);
  }
  return collector.finish();
}

void order_by_hash(MxnetSection& section) {
  std::vector<std::string_view> names;
  for (const MxnetStat& row : section.rows) names.push_back(row.name);
  std::vector<MxnetStat> rows;
  rows.reserve(section.rows.size());
  for (const std::uint32_t at : libstdcxx_map_order(names)) rows.push_back(section.rows[at]);
  section.rows = std::move(rows);
}

void order_by_key(MxnetSection& section, MxnetSort key, bool ascending) {
  std::sort(section.rows.begin(), section.rows.end(), [&](const MxnetStat& a, const MxnetStat& b) {
    const double first = key_of(a, key);
    const double second = key_of(b, key);
    if (first != second) return ascending ? first < second : first > second;
    return a.name > b.name;
  });
}

}  // namespace sonde
