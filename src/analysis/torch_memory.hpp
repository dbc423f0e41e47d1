#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

struct TorchBytes {
  std::int64_t cpu = 0;
  std::int64_t device = 0;
};

// What one allocation record adds to each side. Device types that PyTorch's table does not count
// add to neither.
TorchBytes torch_bytes(const Allocation& record);

// Hands allocation records to the events during which they happened, on whatever thread. Takes
// logarithmic time for each event.
class TorchMemory {
 public:
  explicit TorchMemory(const std::vector<Allocation>& records);

  // The records from `start` to `end`, both included; they are then no longer unclaimed.
  TorchBytes claim(Nanos start, Nanos end);

  // Indices of records that nothing claimed, in the order of time. Out-of-memory records are never
  // claimed and are not among them.
  std::vector<std::uint32_t> unclaimed() const;
  // Out-of-memory records in the order of time.
  const std::vector<std::uint32_t>& out_of_memory() const { return out_of_memory_; }

 private:
  std::vector<std::uint32_t> order_;  // records by time
  std::vector<Nanos> times_;
  std::vector<TorchBytes> before_;    // sum of all records before the i-th
  std::vector<std::int64_t> claims_;  // change of the number of claiming events at the i-th
  std::vector<std::uint32_t> out_of_memory_;
};

}  // namespace sonde
