#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.hpp"
#include "trace/trace.hpp"

namespace sonde {

// What PyTorch's profiler takes a slice for.
enum class TorchRole : std::uint8_t {
  Operator,  // operators and user ranges of the host
  Python,    // Python functions: never listed, but they nest the others
  Call,      // CUDA runtime and driver calls, the profiler's own overhead
  Device,    // everything on a device
};

// One entry of the profiler's result list.
struct TorchResult {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  Nanos start = 0;
  Nanos end = 0;
  std::int64_t id = 0;
  std::int64_t linked = 0;       // id of the operator that asked for it; 0: none
  std::int64_t correlation = 0;  // of calls and device work; 0: none
  SliceId slice;
  TrackId thread;                // where the profiler counts it, which is not always its own track
  std::uint32_t parent = kNone;  // in the list
  TorchRole role = TorchRole::Operator;
  bool annotation = false;  // a user range, on the host or on a device

  bool own() const { return role == TorchRole::Operator || role == TorchRole::Python; }
};

struct TorchResults {
  std::vector<TorchResult> list;     // in the profiler's order: by start, operators first
  TrackId main;                      // where calls go that belong to no operator
  FlatMap<TrackId> forward_threads;  // the numbers of "Fwd thread id"
  Nanos trace_start = 0;
};

// The slices of `trace` as the profiler's list, with threads, parents and ids as it had them.
TorchResults torch_results(const Trace& trace);

// The part of torch_results() that finds parents by time: `list` in order, each with its thread.
// Entries that have a parent already (calls and device work with an operator) take no part.
// Needs linear time but for a heap of the entries that are open at once.
void nest_torch_results(const Trace& trace, TorchResults& results);

}  // namespace sonde
