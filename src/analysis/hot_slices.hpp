#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// All slices of one name, whatever their kind: what there is to say about a trace whose categories
// mean nothing to Sonde.
struct NameStats {
  StringId name;
  std::uint64_t calls = 0;
  Nanos total = 0;  // a slice within one of the same name counts too
  Nanos self = 0;   // without the children on the same track
};

// By self time, greatest first; equal ones in the order of first appearance.
std::vector<NameStats> hot_slices(const Trace& trace);

}  // namespace sonde
