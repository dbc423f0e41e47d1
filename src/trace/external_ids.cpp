#include "trace/external_ids.hpp"

#include "base/flat_map.hpp"

namespace sonde {
namespace {

bool encloses(const SliceColumns& slices, SliceId op, SliceId call) {
  return slices.track(op) == slices.track(call) && slices.start(op) <= slices.start(call) &&
         slices.end(call) <= slices.end(op);
}

}  // namespace

bool external_ids_are_correlations(const SliceColumns& slices,
                                   const SideTable<OperatorRow>& operators,
                                   const SideTable<LaunchRow>& calls) {
  std::size_t with_both = 0;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const LaunchRow& row = calls.row(i);
    if (row.external_id == kNoNumber || row.correlation == kNoNumber) continue;
    ++with_both;
    if (row.external_id == row.correlation) ++equal;
  }
  if (equal * 2 <= with_both) return false;

  FlatMap<SliceId> by_id;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const std::int64_t id = operators.row(i).external_id;
    if (id != kNoNumber) by_id.get_or_insert(static_cast<std::uint64_t>(id), operators.key(i));
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const LaunchRow& row = calls.row(i);
    if (row.external_id == kNoNumber || row.external_id != row.correlation) continue;
    const SliceId* op = by_id.find(static_cast<std::uint64_t>(row.external_id));
    if (!op || !encloses(slices, *op, calls.key(i))) ++wrong;
  }
  return wrong * 2 > with_both;
}

bool external_ids_are_correlations(const Trace& trace) {
  return external_ids_are_correlations(trace.slices(), trace.operators(), trace.launches());
}

}  // namespace sonde
