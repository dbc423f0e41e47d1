#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "trace/builder.hpp"

namespace sonde {

// One half of a slice that the file gives as two events.
struct HalfSlice {
  TrackId track;
  Nanos time = 0;
  StringId name;
  StringId category;
  SliceKind kind = SliceKind::Other;
  bool begins = true;
  // The assembler's own.
  std::uint32_t rows = UINT32_MAX;
  std::uint32_t first_argument = 0;
  std::uint32_t argument_count = 0;
};

// Makes slices of all halves of a file, which come in file order. Called before the tracks are
// nested and, except for pids that are texts, before they have the names of their processes.
using PairHalves = std::function<void(std::span<const HalfSlice>, TraceBuilder&)>;

}  // namespace sonde
