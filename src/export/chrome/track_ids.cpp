#include "export/chrome/track_ids.hpp"

#include <map>
#include <set>
#include <tuple>

#include "export/text_forms.hpp"

namespace sonde {
namespace {

// A pid of 0 may stand for a text in the file, which is then the name of the process: so it is
// where no track of that process is a stream or has a label, as the GPUs of PyTorch's traces have.
std::set<StringId> named_only(const Trace& trace) {
  std::set<StringId> texts;
  std::set<StringId> numbers;
  for (const Track& track : trace.tracks()) {
    if (track.pid != 0 || !track.process.valid()) continue;
    const bool number =
        track.type == TrackType::Stream || track.device >= 0 || track.labels.valid();
    (number ? numbers : texts).insert(track.process);
  }
  for (const StringId number : numbers) texts.erase(number);
  return texts;
}

}  // namespace

std::vector<TrackIds> assign_track_ids(const Trace& trace) {
  const std::set<StringId> texts = named_only(trace);
  // A number stands for one process: another one of the same number goes by its name.
  std::map<std::int64_t, StringId> process_of;
  std::set<std::tuple<std::string, std::int64_t, std::string>> taken;
  const auto place = [](const TrackIds& ids) {
    std::string pid = ids.pid.is_text ? "t" + ids.pid.text : "n" + std::to_string(ids.pid.number);
    if (ids.lane) pid += "\nlane\n" + ids.lane_category;
    return std::tuple(std::move(pid), ids.tid.is_text || ids.lane ? 0 : ids.tid.number,
                      ids.lane          ? ids.lane_id
                      : ids.tid.is_text ? "t" + ids.tid.text
                                        : std::string());
  };

  std::vector<TrackIds> all;
  all.reserve(trace.tracks().size());
  for (const Track& track : trace.tracks()) {
    TrackIds ids;
    const std::string process(trace.text(track.process));
    const std::string name(trace.text(track.name));
    bool named = track.pid == 0 && track.process.valid() && texts.contains(track.process);
    if (!named) {
      const auto [known, fresh] = process_of.try_emplace(track.pid, track.process);
      named = !fresh && track.process.valid() && known->second != track.process;
    }
    if (named)
      ids.pid = {0, true, process};
    else
      ids.pid.number = track.pid;
    ids.tid.number = track.tid;
    if (track.type == TrackType::Async) {
      ids.lane = true;
      const std::size_t colon = name.rfind(':');
      ids.lane_category = colon == std::string::npos ? "async" : name.substr(0, colon);
      ids.lane_id = colon == std::string::npos ? name : name.substr(colon + 1);
      if (ids.lane_id.empty()) ids.lane_id = "0";
    } else if (track.tid == 0 && track.name.valid() && (named || taken.contains(place(ids)))) {
      ids.tid = {0, true, name};
    }
    // Two tracks of one place, as the streams of two devices of one process may be.
    std::int64_t next = static_cast<std::int64_t>(all.size()) + 1'000'000;
    const std::string lane_id = ids.lane_id;
    while (!taken.insert(place(ids)).second) {
      if (ids.lane)
        ids.lane_id = lane_id + "#" + std::to_string(next++);
      else
        ids.tid = {next++, false, {}};
    }
    all.push_back(std::move(ids));
  }
  return all;
}

void append_event_id(std::string& out, const EventId& id) {
  if (id.is_text)
    append_json_text(out, id.text);
  else
    append_integer(out, id.number);
}

}  // namespace sonde
