#include "analysis/external_ids.hpp"

#include "base/flat_map.hpp"

namespace sonde {
namespace {

bool encloses(const SliceColumns& slices, SliceId op, SliceId call) {
  return slices.track(op) == slices.track(call) && slices.start(op) <= slices.start(call) &&
         slices.end(call) <= slices.end(op);
}

}  // namespace

bool external_ids_are_correlations(const Trace& trace) {
  const SideTable<LaunchRow>& calls = trace.launches();
  std::size_t with_both = 0;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const LaunchRow& row = calls.row(i);
    if (row.external_id == kNoNumber || row.correlation == kNoNumber) continue;
    ++with_both;
    if (row.external_id == row.correlation) ++equal;
  }
  if (equal * 2 <= with_both) return false;

  FlatMap<SliceId> operators;
  for (std::size_t i = 0; i < trace.operators().size(); ++i) {
    const std::int64_t id = trace.operators().row(i).external_id;
    if (id != kNoNumber) {
      operators.get_or_insert(static_cast<std::uint64_t>(id), trace.operators().key(i));
    }
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const LaunchRow& row = calls.row(i);
    if (row.external_id == kNoNumber || row.external_id != row.correlation) continue;
    const SliceId* op = operators.find(static_cast<std::uint64_t>(row.external_id));
    if (!op || !encloses(trace.slices(), *op, calls.key(i))) ++wrong;
  }
  return wrong * 2 > with_both;
}

}  // namespace sonde
