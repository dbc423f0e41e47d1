#pragma once

#include <map>
#include <string>

#include "trace/builder.hpp"

namespace sonde {

// Builds small traces by hand. Times are in microseconds.
class TraceSketch {
 public:
  SliceId op(const std::string& name, Nanos start, Nanos end, std::int64_t id, int thread = 1,
             SliceKind kind = SliceKind::Operator) {
    const SliceId slice = add(name, start, end, "thread " + std::to_string(thread), kind);
    OperatorRow row;
    row.external_id = id;
    builder_.add_operator(slice, row);
    return slice;
  }
  SliceId step(int number, Nanos start, Nanos end) {
    return op("ProfilerStep#" + std::to_string(number), start, end, kNoNumber, 1, SliceKind::Step);
  }
  SliceId call(Nanos start, Nanos end, std::int64_t correlation, std::int64_t id, int thread = 1) {
    const SliceId slice =
        add("cudaLaunchKernel", start, end, "thread " + std::to_string(thread), SliceKind::Runtime);
    LaunchRow row;
    row.correlation = correlation;
    row.external_id = id;
    builder_.add_launch(slice, row);
    return slice;
  }
  SliceId kernel(const std::string& name, Nanos start, Nanos end, std::int64_t correlation,
                 SliceKind kind = SliceKind::Kernel) {
    const SliceId slice = add(name, start, end, "stream", kind);
    DeviceRow row;
    row.correlation = correlation;
    row.device = 0;
    builder_.add_device_work(slice, row);
    return slice;
  }
  // To be called before the trace is made: nothing moves, since time 0 is in it.
  void link(SliceId op, SliceId call) { links_.emplace_back(op, call); }

  Trace finish() {
    add("origin", 0, 0, "origin", SliceKind::Other);
    builder_.nest(1);
    for (const auto& [from, to] : links_) builder_.add_operator_link(from, to);
    return builder_.finish();
  }

 private:
  SliceId add(const std::string& name, Nanos start, Nanos end, const std::string& track,
              SliceKind kind) {
    const auto known = tracks_.find(track);
    const TrackId id = known != tracks_.end() ? known->second : builder_.add_track({});
    tracks_[track] = id;
    return builder_.add_slice(start * 1000, (end - start) * 1000, id, builder_.intern(name), kind);
  }

  TraceBuilder builder_;
  std::map<std::string, TrackId> tracks_;
  std::vector<std::pair<SliceId, SliceId>> links_;
};

}  // namespace sonde
