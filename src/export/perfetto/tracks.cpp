#include "export/perfetto/tracks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/json_writer.hpp"

namespace sonde::perfetto {
namespace {

constexpr std::int32_t kExplicitOrder = 3;
constexpr std::int32_t kNeverMerge = 2;

bool small(std::int64_t number) { return number > 0 && number <= INT32_MAX; }

std::int32_t rank(std::int64_t sort_index) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(sort_index, INT32_MIN, INT32_MAX));
}

// Of the tracks that are no threads of the format's own sense, and of those whose process is not
// what its pid says, the description tells what they are.
constexpr std::array<std::string_view, 5> kTypes = {"thread", "stream", "async", "span", "counter"};

}  // namespace

TrackTable::TrackTable(const Trace& trace, const std::vector<std::uint32_t>& lanes,
                       const std::vector<bool>& processes, PacketWriter& packets)
    : trace_(trace), packets_(packets), processes_(lanes.size()), lanes_(lanes.size()) {
  // A process is its pid and name; the streams of a device are kept together like one.
  using Key = std::tuple<std::int64_t, std::int32_t, std::string_view, bool>;
  std::map<Key, std::uint64_t> known;
  std::set<std::pair<std::int64_t, std::int64_t>> threads;
  std::map<std::int64_t, std::pair<std::string_view, std::string_view>> of_pid;
  std::set<std::int64_t> doubtful;  // pids of several processes
  for (const Track& track : trace.tracks()) {
    if (track.type == TrackType::Stream) continue;
    const std::pair names(trace.text(track.process), trace.text(track.labels));
    if (of_pid.try_emplace(track.pid, names).first->second != names) doubtful.insert(track.pid);
  }
  // Readers take what device work lies on for a stream.
  std::vector<bool> device_work(lanes.size());
  for (const SliceId slice : all_slices(trace)) {
    const SliceKind kind = trace.slices().kind(slice);
    if (is_device_work(kind) || kind == SliceKind::DeviceRange)
      device_work[trace.slices().track(slice).index()] = true;
  }
  for (std::size_t t = 0; t < lanes.size(); ++t) {
    if (lanes[t] == 0 && !processes[t]) continue;
    const Track& track = trace.tracks()[t];
    const bool stream = track.type == TrackType::Stream;
    const Key key{track.pid, stream ? track.device : -1, trace.text(track.process), stream};
    const auto [at, fresh] = known.try_emplace(key, 0);
    if (fresh) at->second = write_process(track, doubtful.contains(track.pid));
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
      const std::int64_t sort = track.sort_index;
      if (sort != kNoNumber) descriptor.add_int32(field::kSiblingRank, rank(sort));
      if (doubtful.contains(track.pid) || device_work[t] || track.device != -1 ||
          (sort != kNoNumber && rank(sort) != sort))
        descriptor.add_string(field::kDescription, described(track, "thread"));
      packets_.track(text);
      lanes_[t].push_back(next_++);
    }
  }
}

std::uint64_t TrackTable::write_process(const Track& track, bool doubtful) {
  const std::string name(trace_.text(track.process));
  if (track.type == TrackType::Stream) {
    std::string shown = track.device >= 0 ? "GPU " + std::to_string(track.device) : "GPU";
    if (!name.empty()) shown += " (" + name + ")";
    return plain(0, shown, track.sort_index, described(track, "process"));
  }
  if (!small(track.pid))
    return plain(0, name.empty() ? "process " + std::to_string(track.pid) : name, track.sort_index,
                 described(track, "process"));
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
  if (doubtful) descriptor.add_string(field::kDescription, described(track, "process"));
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
  if (number > 0) return plain(parent, name, number, R"({"sonde": {"type": "lane"}})");
  return plain(parent, name, track.sort_index,
               described(track, kTypes[static_cast<std::size_t>(track.type)]));
}

// {"sonde": {"type": "stream", "pid": 1, …}}
std::string TrackTable::described(const Track& track, std::string_view type) const {
  JsonWriter json;
  const auto text = [&](std::string_view key, StringId id) {
    const std::string_view content = trace_.text(id);
    if (!content.empty()) json.member(key, content);
  };
  json.begin_object();
  json.key("sonde");
  json.begin_object();
  json.member("type", type);
  json.member("pid", track.pid);
  text("process", track.process);
  text("labels", track.labels);
  if (type != "process") {
    json.member("tid", track.tid);
    if (track.device != -1) json.member("device", track.device);
    if (track.sort_index != kNoNumber) json.member("sort_index", track.sort_index);
    text("name", track.name);
  }
  json.end_object();
  json.end_object();
  return json.take();
}

std::uint64_t TrackTable::plain(std::uint64_t parent, std::string_view name,
                                std::int64_t sort_index, std::string_view description) {
  std::string text;
  protozero::pbf_writer descriptor(text);
  descriptor.add_uint64(field::kUuid, next_);
  if (parent != 0) descriptor.add_uint64(field::kParentUuid, parent);
  descriptor.add_string(field::kTrackName, name.data(), name.size());
  descriptor.add_int32(field::kChildOrdering, kExplicitOrder);
  if (sort_index != kNoNumber) descriptor.add_int32(field::kSiblingRank, rank(sort_index));
  if (!description.empty())
    descriptor.add_string(field::kDescription, description.data(), description.size());
  descriptor.add_int32(field::kSiblingMerge, kNeverMerge);
  packets_.track(text);
  return next_++;
}

std::uint64_t TrackTable::counter(TrackId track, std::string_view counter,
                                  std::string_view series) {
  std::string name(counter);
  if (!series.empty() && series != "value" && series != name)
    name += (name.empty() ? "" : " ") + std::string(series);
  JsonWriter json;
  if (!series.empty()) {
    json.begin_object();
    json.key("sonde");
    json.begin_object();
    json.member("type", "counter");
    json.member("counter", counter);
    json.member("series", series);
    json.end_object();
    json.end_object();
  }
  return write_counter(track, name, name.find("bytes") != std::string::npos, json.text());
}

std::uint64_t TrackTable::total(TrackId track, std::string_view name) {
  return write_counter(track, name, true, {});
}

std::uint64_t TrackTable::write_counter(TrackId track, std::string_view name, bool bytes,
                                        std::string_view description) {
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
  if (!description.empty())
    descriptor.add_string(field::kDescription, description.data(), description.size());
  packets_.track(text);
  return next_++;
}

std::uint64_t TrackTable::global() {
  if (global_ == 0) global_ = plain(0, "Global markers", -1, {});
  return global_;
}

}  // namespace sonde::perfetto
