#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/torch_results.hpp"
#include "trace/trace.hpp"

namespace sonde {

// The names under which events are listed, as numbers. Some names are dropped, some are changed:
// "ProfilerStep#7" is listed as "ProfilerStep*".
class TorchNames {
 public:
  static constexpr std::uint32_t kDropped = UINT32_MAX;

  explicit TorchNames(const StringPool& strings);

  std::uint32_t key(StringId name);  // kDropped for a name that is never listed
  std::uint32_t memory() const { return first_extra_ + 1; }
  std::uint32_t out_of_memory() const { return first_extra_ + 2; }
  std::string_view text(std::uint32_t key) const;

 private:
  std::uint32_t find_key(std::string_view name, StringId id) const;

  const StringPool& strings_;
  std::uint32_t first_extra_;  // keys from here on are no StringIds
  std::uint32_t step_;
  std::vector<std::uint32_t> keys_;  // by StringId, as far as asked for
};

// One event of the list that PyTorch averages. Times are microseconds since the recording began, as
// binary fractions: PyTorch's sums have their rounding.
struct TorchEvent {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  double start = 0;
  double end = 0;
  double kernels = 0;  // time of the device work that the event itself asked for
  std::int64_t cpu_bytes = 0;
  std::int64_t device_bytes = 0;
  SliceId slice;  // invalid for an allocation record
  TrackId thread;
  std::uint32_t parent = kNone;  // in the list
  std::uint32_t key = 0;         // of TorchNames
  std::uint32_t result = kNone;  // in TorchResults::list
  bool device = false;
  bool annotation = false;
  bool python = false;  // a Python function: it nests others, and is never listed
  bool async = false;   // began on one thread and ended on another: it nests nowhere

  double duration() const { return end - start; }
};

// The listed events in PyTorch's order, by (start, -end), with device work and memory handed out.
// Parents are not set yet.
std::vector<TorchEvent> torch_events(const Trace& trace, const TorchResults& results,
                                     TorchNames& names);

}  // namespace sonde
