#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.hpp"
#include "trace/builder.hpp"

namespace sonde {

// Arrows from the events that hand work on (producers) to those that do it (consumers). Both name
// the work by a type and a number.
class Arrows {
 public:
  struct Work {
    std::int64_t type = 0;
    std::int64_t id = kNoNumber;
    bool valid() const { return id != kNoNumber; }
  };

  // The number under which a selection knows the work.
  static std::uint64_t key(Work work) {
    return mix_bits(static_cast<std::uint64_t>(work.id) * 0x100000001B3ull +
                    static_cast<std::uint64_t>(work.type));
  }

  // An invalid slice is one that is left out.
  void produced_by(Work work, SliceId slice) { producers_.get_or_insert(key(work), slice); }
  // An instant has no slice: the one around it will do.
  void produced_at(Work work, TrackId track, Nanos time) {
    instants_.push_back({key(work), track, time});
  }
  void consumed_by(Work work, SliceId slice) { consumers_.push_back({key(work), slice}); }

  // After nest(): draws the arrows.
  void draw(TraceBuilder& builder);

 private:
  struct Instant {
    std::uint64_t key;
    TrackId track;
    Nanos time;
  };
  struct Consumer {
    std::uint64_t key;
    SliceId slice;
  };
  void place_instants(const TraceBuilder& builder, Nanos origin);

  FlatMap<SliceId> producers_;
  std::vector<Instant> instants_;
  std::vector<Consumer> consumers_;
};

}  // namespace sonde
