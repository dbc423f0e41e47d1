#include "export/chrome/track_metadata.hpp"

#include <algorithm>
#include <map>

namespace sonde {
namespace {

class TrackMetadata {
 public:
  explicit TrackMetadata(EventWriter& events) : events_(events) {}

  void write() {
    struct Process {
      bool written = false;
      bool sorted = true;  // each of its tracks has a place of its own
      bool streams = false;
    };
    std::map<std::string, Process> processes;
    std::vector<Process*> process_of(events_.ids().size());
    for (std::size_t t = 0; t < events_.ids().size(); ++t) {
      std::string pid;
      append_event_id(pid, events_.ids()[t].pid);
      Process& process = processes[pid];
      process_of[t] = &process;
      const Track& track = events_.trace().tracks()[t];
      process.streams = process.streams || track.type == TrackType::Stream;
      process.sorted = process.sorted && track.sort_index != kNoNumber && !events_.ids()[t].lane;
    }
    for (const TrackId id : all_tracks(events_.trace())) {
      Process& process = *process_of[id.index()];
      if (!process.written) write_process(id, process.sorted, process.streams);
      process.written = true;
      const Track& track = events_.trace().track(id);
      const TrackIds& ids = events_.ids()[id.index()];
      std::string json;
      if (track.name.valid() && !ids.tid.is_text && !ids.lane) {
        append_json_text(json, events_.trace().text(track.name));
        metadata(id, "thread_name", "name", json);
      }
      if (track.sort_index != kNoNumber && !ids.lane) {
        json.clear();
        append_integer(json, track.sort_index);
        metadata(id, "thread_sort_index", "sort_index", json);
      }
    }
  }

 private:
  void metadata(TrackId track, std::string_view what, std::string_view key, std::string_view json) {
    events_.begin('M', track);
    events_.text("name", what);
    events_.out() += ", \"ts\": 0, \"args\": {\"";
    events_.out() += key;
    events_.out() += "\": ";
    events_.out() += json;
    events_.out() += '}';
    events_.end();
  }

  void write_process(TrackId track_id, bool sorted, bool streams) {
    const Track& track = events_.trace().track(track_id);
    const TrackIds& ids = events_.ids()[track_id.index()];
    std::string json;
    if (track.process.valid() && !ids.pid.is_text) {
      append_json_text(json, events_.trace().text(track.process));
      metadata(track_id, "process_name", "name", json);
    }
    if (track.labels.valid()) {
      json.clear();
      append_json_text(json, events_.trace().text(track.labels));
      metadata(track_id, "process_labels", "labels", json);
    }
    // Devices below the processes, as PyTorch has it; only where no track would take the number for
    // its own.
    if (!sorted || ids.pid.is_text) return;
    constexpr std::int64_t kDevices = 5'000'000;
    constexpr std::int64_t kMost = 1'000'000'000;
    json.clear();
    append_integer(json,
                   std::clamp<std::int64_t>(ids.pid.number, 0, kMost) + (streams ? kDevices : 0));
    metadata(track_id, "process_sort_index", "sort_index", json);
  }

  EventWriter& events_;
};

}  // namespace

void write_track_metadata(EventWriter& events) { TrackMetadata(events).write(); }

}  // namespace sonde
