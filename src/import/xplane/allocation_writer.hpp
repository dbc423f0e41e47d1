#pragma once

#include "base/flat_map.hpp"
#include "import/xplane/event_facts.hpp"
#include "import/xplane/event_types.hpp"
#include "trace/builder.hpp"

namespace sonde {

// Writes what allocators told into a trace. A release says nothing of its size in some files: the
// allocation at the same address did.
class AllocationWriter {
 public:
  explicit AllocationWriter(TraceBuilder& builder) : builder_(builder) {}

  void add(const EventType& type, const EventFacts& facts, Nanos time, TrackId track);

 private:
  TraceBuilder& builder_;
  FlatMap<std::int64_t> allocated_;  // bytes by allocator and address
};

}  // namespace sonde
