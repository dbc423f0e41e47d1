#include "import/memory_timeline/memory_timeline.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "import/json/json_cursor.hpp"
#include "import/json/json_document.hpp"
#include "trace/builder.hpp"

namespace sonde {
namespace {

constexpr std::array<std::string_view, 8> kCategories = {"Parameter", "Optimizer state", "Input",
                                                         "Temporary", "Activation",      "Gradient",
                                                         "Autograd",  "Unknown"};

enum Action : std::int64_t { kPreexisting = 1, kCreate = 2, kNewVersion = 3, kDestroy = 4 };

struct Entry {
  std::int64_t time = 0;
  std::int64_t action = 0;
  std::int64_t bytes = 0;
  std::int64_t category = 0;

  bool sensible() const {
    constexpr std::int64_t kMost = std::int64_t{1} << 50;
    return time >= -1 && time <= kMaxTime && action >= kPreexisting && action <= kDestroy &&
           bytes >= -kMost && bytes <= kMost && category >= 0 &&
           category < static_cast<std::int64_t>(kCategories.size());
  }
};

bool take_entry(JsonCursor& in, Entry& out) {
  out.time = out.action = out.bytes = out.category = kNoNumber;
  if (!in.take('[')) return false;
  if (!in.integer(out.time) || !in.take(',') || !in.integer(out.action) || !in.take(','))
    return false;
  if (!in.integer(out.bytes) || !in.take(',') || !in.integer(out.category)) return false;
  return in.take(']');
}

}  // namespace

bool looks_like_memory_timeline(std::string_view head) {
  JsonCursor in(head);
  Entry entry;
  return in.take('[') && in.peek() == '[' && take_entry(in, entry) && entry.sensible();
}

Result<Trace> import_memory_timeline(const ImportInput& input) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
  Result<JsonDocument> document = read_json_document(input.source, kMaxBytes, "record fewer steps");
  if (!document) return document.error();
  std::vector<Entry> entries;
  std::uint64_t odd = 0;
  for (const simdjson::dom::element item : json_items(document->root)) {
    Entry entry;
    std::array<std::int64_t*, 4> fields = {&entry.time, &entry.action, &entry.bytes,
                                           &entry.category};
    std::size_t count = 0;
    for (const simdjson::dom::element value : json_items(item)) {
      if (count < fields.size()) *fields[count] = json_integer(value);
      ++count;
    }
    if (count != fields.size() || !entry.sensible()) {
      ++odd;
    } else {
      entries.push_back(entry);
    }
  }
  // What was there before the recording has no time: it is there from the beginning.
  std::int64_t first = kMaxTime;
  for (const Entry& entry : entries) {
    if (entry.time >= 0) first = std::min(first, entry.time);
  }
  if (first == kMaxTime) first = 0;
  for (Entry& entry : entries) entry.time = std::max(entry.time, first);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.time < b.time; });

  TraceBuilder builder;
  Track track;
  track.type = TrackType::Counter;
  track.name = builder.intern("memory");
  const TrackId track_id = builder.add_track(track);
  std::array<std::int64_t, kCategories.size()> by_category{};
  std::int64_t total = 0;
  const auto add_capped = [](std::int64_t& sum, std::int64_t bytes) {
    sum = std::clamp<std::int64_t>(sum + bytes, 0, std::int64_t{1} << 62);
  };
  for (const Entry& entry : entries) {
    const auto category = static_cast<std::size_t>(entry.category);
    const StringId name = builder.intern(kCategories[category]);
    add_capped(by_category[category], entry.bytes);
    CounterValue value;
    value.time = entry.time;
    value.track = track_id;
    value.counter = builder.intern("memory by category");
    value.series = name;
    value.value = static_cast<double>(by_category[category]);
    builder.add_counter(value);
    // A new version takes bytes from one category and gives them to another: no memory moves.
    if (entry.action == kNewVersion) continue;
    add_capped(total, entry.bytes);
    Allocation allocation;
    allocation.time = entry.time;
    allocation.bytes = entry.bytes;
    allocation.total_allocated = total;
    allocation.track = track_id;
    allocation.device_type = 1;
    allocation.device = 0;
    allocation.tag = name;
    builder.add_allocation(allocation);
  }
  builder.nest(1);
  TraceMeta& meta = builder.meta();
  meta.format = "memory_timeline";
  meta.producer = "PyTorch memory timeline";
  meta.input_bytes = document->bytes;
  meta.file_events = entries.size() + odd;
  meta.profile_memory = true;
  meta.wall_clock = first > 0;  // times are Unix times
  builder.losses().add("odd_entries", Severity::Warning,
                       "Entries that are not four sensible numbers; they are left out.", odd);
  builder.losses().merge(input.source.losses());
  return builder.finish();
}

}  // namespace sonde
