#pragma once

#include <span>

#include "import/xplane/arrows.hpp"
#include "import/xplane/event_types.hpp"
#include "import/xplane/stat.hpp"
#include "trace/builder.hpp"

namespace sonde {

class EventWriter;

// What the statistics of an event say that Sonde understands.
struct EventFacts {
  std::int64_t correlation = kNoNumber;
  std::int64_t device = kNoNumber;
  std::int32_t context = -1;
  KernelDetails kernel;
  bool has_kernel_details = false;
  std::int64_t bytes = kNoNumber;
  std::int64_t step_number = kNoNumber;
  StringId hlo_op;
  StringId category;
  Arrows::Work produces;
  Arrows::Work consumes;
  StringId allocator;
  StringId tf_op;
  std::int64_t reserved = kNoNumber;
  std::int64_t allocated = kNoNumber;
  std::int64_t allocation = kNoNumber;
  std::int64_t address = 0;
  std::int64_t index_on_host = kNoNumber;
};

// Those that all events of the type share first: an event's own have the last word.
EventFacts gather_facts(const EventType& type, std::span<const Stat> stats, TraceBuilder& builder,
                        EventWriter& writer);

}  // namespace sonde
