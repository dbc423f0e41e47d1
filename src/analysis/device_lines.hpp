#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/trace_set.hpp"

namespace sonde {

// What lines of a program had the devices do. Work counts for the place at which its launch, or the
// operator around that, was called; in a backward pass, for the place of the forward operator that
// it goes back on. Texts belong to the traces.
struct DeviceLines {
  struct Line {
    std::string_view file;
    std::int32_t line = 0;
    std::string_view function;
    Nanos self = 0;      // for which this is the innermost line of the program itself: counted once
    Nanos total = 0;     // with what was called from here
    Nanos backward = 0;  // the part of `total` that a backward pass launched
    std::int64_t work = 0;  // pieces of `self`: kernels, copies and sets
  };

  std::vector<Line> lines;   // most `self` first, then most `total`
  Nanos whole = 0;           // all kernels, copies and sets
  Nanos placed = 0;          // those of them that have a line: the sum of all `self`
  bool begins_only = false;  // the lines are those at which functions begin (torch.profiler)
};

// Of all traces together; without lines where none tells where it launched something.
DeviceLines device_lines(std::span<const Trace* const> traces);
DeviceLines device_lines(std::span<const NamedTrace> traces);

}  // namespace sonde
