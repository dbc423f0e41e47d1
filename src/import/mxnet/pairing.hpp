#pragma once

#include <cstdint>
#include <span>

#include "import/trace_event/half_slice.hpp"

namespace sonde {

// The releases whose files can be told apart.
enum class MxnetGeneration : std::uint8_t { UpTo11, From12, From16 };

// Puts begin and end events together and adds the slices in the order of the file.
//
// MXNet writes both events of a slice when it ends, one behind the other, so a begin belongs to the
// next end of its name on its track; where other dumps wrote in between, the two are still found.
//
// From 1.2 on each operator is there twice, on its device (B, E) and as a task of category
// "operator" (b, e). The first becomes a slice of kind Operator. The second is kept as kind Other
// with its category, on a track of its own: analyses of operators do not see it, and the statistics
// of MXNet that count it can. A task without a partner is an operator by itself.
MxnetGeneration pair_mxnet_halves(std::span<const HalfSlice> halves, TraceBuilder& builder);

}  // namespace sonde
