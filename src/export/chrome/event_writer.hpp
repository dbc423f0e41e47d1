#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "export/byte_sink.hpp"
#include "export/chrome/track_ids.hpp"
#include "export/slice_facts.hpp"
#include "export/text_forms.hpp"
#include "trace/trace.hpp"

namespace sonde {

// The members that most events of a trace-event file have. All of the exporter's parts write
// through it, one event after the other.
class EventWriter {
 public:
  EventWriter(const Trace& trace, BufferedOutput& output)
      : trace_(trace),
        output_(output),
        out_(output.buffer()),
        ids_(assign_track_ids(trace)),
        zero_(trace.meta().format == "kineto" || trace.meta().format == "chrome"
                  ? trace.meta().origin
                  : 0) {}

  // {"ph": "X", "pid": 1, "tid": 2 …
  void begin(char phase, TrackId track) {
    const TrackIds& ids = ids_[track.index()];
    out_ += first_ ? "\n{\"ph\": \"" : ",\n{\"ph\": \"";
    first_ = false;
    out_ += phase;
    out_ += "\", \"pid\": ";
    append_event_id(out_, ids.pid);
    out_ += ", \"tid\": ";
    append_event_id(out_, ids.tid);
  }
  void end() {
    out_ += '}';
    output_.settle();
  }
  void text(std::string_view key, std::string_view value) {
    out_ += ", \"";
    out_ += key;
    out_ += "\": ";
    append_json_text(out_, value);
  }
  void time(Nanos nanos) {
    out_ += ", \"ts\": ";
    append_micros(out_, nanos + zero_);
  }
  void arguments(const std::vector<Fact>& facts) {
    if (facts.empty()) return;
    out_ += ", \"args\": ";
    append_json_facts(out_, facts);
  }

  const Trace& trace() const { return trace_; }
  const std::vector<TrackIds>& ids() const { return ids_; }
  std::string& out() { return out_; }
  bool failed() const { return output_.failed(); }

 protected:
  const Trace& trace_;
  BufferedOutput& output_;
  std::string& out_;
  std::vector<TrackIds> ids_;

 private:
  Nanos zero_;  // the time that is written for 0
  bool first_ = true;
};

}  // namespace sonde
