#include "export/perfetto/tracks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/call_tree.hpp"

namespace sonde::perfetto {
namespace {

constexpr std::int32_t kExplicitOrder = 3;
constexpr std::int32_t kNeverMerge = 2;

bool small(std::int64_t number) { return number > 0 && number <= INT32_MAX; }

std::int32_t rank(std::int64_t sort_index) {
  if (sort_index == kNoNumber) return 0;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(sort_index, INT32_MIN, INT32_MAX));
}

}  // namespace

TrackTable::TrackTable(const Trace& trace, const std::vector<std::uint32_t>& lanes,
                       PacketWriter& packets)
    : trace_(trace), packets_(packets), processes_(lanes.size()), lanes_(lanes.size()) {
  // A process is its pid and name; the streams of a device are kept together like one.
  using Key = std::tuple<std::int64_t, std::int32_t, std::string_view, bool>;
  std::map<Key, std::uint64_t> known;
  std::set<std::pair<std::int64_t, std::int64_t>> threads;
  for (std::size_t t = 0; t < lanes.size(); ++t) {
    const Track& track = trace.tracks()[t];
    const bool stream = track.type == TrackType::Stream;
    const Key key{track.pid, stream ? track.device : -1, trace.text(track.process), stream};
    const auto [at, fresh] = known.try_emplace(key, 0);
    if (fresh) at->second = write_process(track);
    processes_[t] = at->second;
    for (std::uint32_t n = 0; n < lanes[t]; ++n) {
      const bool thread = n == 0 && track.type == TrackType::Thread && small(track.pid) &&
                          threads.insert({track.pid, track.tid}).second;
      if (!thread) {
        const std::uint64_t parent = n == 0 ? processes_[t] : lanes_[t][0];
        lanes_[t].push_back(write_lane(track, parent, n));
        continue;
      }
      std::string text;
      protozero::pbf_writer descriptor(text);
      descriptor.add_uint64(field::kUuid, next_);
      descriptor.add_uint64(field::kParentUuid, processes_[t]);
      {
        protozero::pbf_writer message(descriptor, field::kThread);
        message.add_int32(1, static_cast<std::int32_t>(track.pid));
        message.add_int64(2, track.tid);
        const std::string_view name = trace.text(track.name);
        if (!name.empty()) message.add_string(5, name.data(), name.size());
      }
      packets_.track(text);
      lanes_[t].push_back(next_++);
    }
  }
}

std::uint64_t TrackTable::write_process(const Track& track) {
  const std::string name(trace_.text(track.process));
  if (track.type == TrackType::Stream) {
    std::string shown = track.device >= 0 ? "GPU " + std::to_string(track.device) : "GPU";
    if (!name.empty()) shown += " (" + name + ")";
    return plain(0, shown, track.sort_index);
  }
  if (!small(track.pid)) return plain(0, name.empty() ? "process 0" : name, track.sort_index);
  std::string text;
  protozero::pbf_writer descriptor(text);
  descriptor.add_uint64(field::kUuid, next_);
  {
    protozero::pbf_writer process(descriptor, field::kProcess);
    process.add_int32(1, static_cast<std::int32_t>(track.pid));
    if (!name.empty()) process.add_string(6, name);
    const std::string labels(trace_.text(track.labels));
    if (!labels.empty()) process.add_string(8, labels);
  }
  descriptor.add_int32(field::kChildOrdering, kExplicitOrder);
  packets_.track(text);
  return next_++;
}

std::uint64_t TrackTable::write_lane(const Track& track, std::uint64_t parent,
                                     std::uint32_t number) {
  std::string name(trace_.text(track.name));
  if (track.type == TrackType::Stream && !name.starts_with("stream"))
    name = "stream " + std::to_string(track.tid);
  while (name.ends_with(' ')) name.pop_back();
  if (name.empty()) name = "thread " + std::to_string(track.tid);
  if (number > 0) name += " (overlap " + std::to_string(number) + ")";
  return plain(parent, name, number > 0 ? number : track.sort_index);
}

std::uint64_t TrackTable::plain(std::uint64_t parent, std::string_view name,
                                std::int64_t sort_index) {
  std::string text;
  protozero::pbf_writer descriptor(text);
  descriptor.add_uint64(field::kUuid, next_);
  if (parent != 0) descriptor.add_uint64(field::kParentUuid, parent);
  descriptor.add_string(field::kTrackName, name.data(), name.size());
  descriptor.add_int32(field::kChildOrdering, kExplicitOrder);
  descriptor.add_int32(field::kSiblingRank, rank(sort_index));
  descriptor.add_int32(field::kSiblingMerge, kNeverMerge);
  packets_.track(text);
  return next_++;
}

std::uint64_t TrackTable::counter(TrackId track, std::string_view name, bool bytes) {
  std::string text;
  protozero::pbf_writer descriptor(text);
  descriptor.add_uint64(field::kUuid, next_);
  descriptor.add_uint64(field::kParentUuid, processes_[track.index()]);
  descriptor.add_string(field::kTrackName, name.data(), name.size());
  {
    protozero::pbf_writer counter(descriptor, field::kCounter);
    constexpr std::int32_t kCount = 2;
    constexpr std::int32_t kSizeBytes = 3;
    counter.add_int32(3, bytes ? kSizeBytes : kCount);
  }
  packets_.track(text);
  return next_++;
}

std::uint64_t TrackTable::global() {
  if (global_ == 0) global_ = plain(0, "Global markers", -1);
  return global_;
}

}  // namespace sonde::perfetto
