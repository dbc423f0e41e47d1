#pragma once

#include "base/flat_map.hpp"
#include "trace/trace.hpp"

namespace sonde {

// Which forward operator a slice of a backward pass goes back on. Torch's engine runs a backward
// operator and then adds up gradients that come from several sides, in a slice of its own around
// both: all of that belongs to the same forward operator.
class ForwardOperators {
 public:
  explicit ForwardOperators(const Trace& trace);

  // Of this slice alone, not of those around it; invalid where it is not of a backward pass.
  SliceId of(SliceId slice) const;

 private:
  const Trace& trace_;
  FlatMap<SliceId> nodes_;  // the engine's own slices
};

}  // namespace sonde
