#pragma once

#include <string_view>

#include "trace/builder.hpp"

namespace sonde::test {

// A value of a counter of that domain, as the system agent writes them.
inline void add_counter(TraceBuilder& builder, Nanos time, std::string_view domain,
                        std::string_view name, double value) {
  Track track;
  track.type = TrackType::Counter;
  track.name = builder.intern(domain);
  CounterValue counter;
  counter.time = time;
  counter.track = builder.add_track(track);
  counter.counter = builder.intern(name);
  counter.value = value;
  builder.add_counter(counter);
}

}  // namespace sonde::test
