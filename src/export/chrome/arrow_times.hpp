#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// The moment at which an arrow reaches its slice. Mostly the slice's begin; but an arrow of this
// format cannot end before it starts, and binds to the innermost slice of its moment. For a slice
// that began before the arrow's source, a later moment is looked for at which it is the innermost.
class ArrowTimes {
 public:
  explicit ArrowTimes(const Trace& trace) : trace_(trace) {}

  // Nothing where there is no such moment.
  std::optional<Nanos> end(SliceId from, SliceId to);

 private:
  const std::vector<SliceId>& track(TrackId id);
  SliceId innermost(const std::vector<SliceId>& list, Nanos time) const;

  const Trace& trace_;
  std::unordered_map<std::uint32_t, std::vector<SliceId>> tracks_;  // by begin, outer first
};

}  // namespace sonde
