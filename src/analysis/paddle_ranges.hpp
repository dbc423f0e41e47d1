#pragma once

#include "analysis/paddle_stats.hpp"

namespace sonde {

// The parts of PaddleStats that are made of ranges of time: devices, overview and distribution, and
// the total. Needs the phases.
void add_paddle_ranges(const PaddleTree& tree, PaddleStats& stats);

// Fills the phases.
void add_paddle_phases(const PaddleTree& tree, PaddleStats& stats);

// Fills the places.
void add_paddle_memory(const PaddleTree& tree, PaddleStats& stats);

}  // namespace sonde
