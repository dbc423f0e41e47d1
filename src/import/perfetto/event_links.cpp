#include <algorithm>
#include <tuple>

#include "import/perfetto/event_store.hpp"
#include "import/trace_event/correlation.hpp"
#include "trace/selection.hpp"

namespace sonde::perfetto_import {

// The arrows of Sonde's own files have numbers that tell what they mean, each for one arrow: from
// the event that it leaves to the one that it ends at, whichever is earlier.
void EventStore::draw_flows() {
  std::sort(flows_.begin(), flows_.end(), [](const FlowPoint& a, const FlowPoint& b) {
    return std::tie(a.id, a.time, a.order) < std::tie(b.id, b.time, b.order);
  });
  for (std::size_t i = 0; i + 1 < flows_.size(); ++i) {
    const FlowPoint& from = flows_[i];
    const FlowPoint& to = flows_[i + 1];
    if (from.id != to.id || from.slice == to.slice) continue;
    const Sort sort = sort_of(from.id);
    if (from.ends && !to.ends && sort != Sort::Unknown)
      arrows_.push_back({to.slice, from.slice, sort});
    else if (!from.ends)
      arrows_.push_back({from.slice, to.slice, sort});
  }
  builder_.losses().add(
      "lonely_flows", Severity::Info, "Arrows of which one end is not in the file.", [&] {
        std::uint64_t alone = 0;
        for (std::size_t i = 0; i < flows_.size(); ++i) {
          const bool before = i > 0 && flows_[i - 1].id == flows_[i].id;
          const bool behind = i + 1 < flows_.size() && flows_[i + 1].id == flows_[i].id;
          alone += !before && !behind;
        }
        return alone;
      }());
  flows_ = {};
}

SliceId EventStore::slice_of(std::uint32_t number) const {
  if (selection_ == nullptr) return SliceId(number);
  const auto found = std::lower_bound(
      closed_ids_.begin(), closed_ids_.end(), number,
      [](const auto& closed, std::uint32_t wanted) { return closed.first < wanted; });
  return found != closed_ids_.end() && found->first == number ? found->second : SliceId();
}

void EventStore::add_links() {
  std::sort(arrows_.begin(), arrows_.end(), [](const Arrow& a, const Arrow& b) {
    return std::tie(a.sort, a.to, a.from) < std::tie(b.sort, b.to, b.from);
  });
  std::vector<bool> launched(builder_.slice_count());
  bool has_backward = selection_ != nullptr && selection_->has_backward_arrows();
  std::uint64_t second_sources = 0;
  for (std::size_t i = 0; i < arrows_.size(); ++i) {
    const Arrow& arrow = arrows_[i];
    if (i > 0 && arrow.to == arrows_[i - 1].to && arrow.sort == arrows_[i - 1].sort) {
      second_sources += arrow.from != arrows_[i - 1].from;
      continue;
    }
    const SliceId from = slice_of(arrow.from);
    const SliceId to = slice_of(arrow.to);
    if (arrow.sort == Sort::Launch && to.valid()) launched[to.index()] = true;
    if (arrow.sort == Sort::Backward) has_backward = true;
    if (!from.valid() || !to.valid()) continue;
    if (arrow.sort == Sort::Launch)
      builder_.add_launch_link(from, to);
    else if (arrow.sort == Sort::Backward)
      builder_.add_backward_link(from, to);
    else
      builder_.add_flow_link(from, to);
  }
  builder_.losses().add("second_arrows", Severity::Info,
                        "Arrows to a slice that has one from elsewhere already; the first is kept.",
                        second_sources);
  link_by_correlation(builder_, launched);
  if (!has_backward) link_by_sequence(builder_);
}

}  // namespace sonde::perfetto_import
