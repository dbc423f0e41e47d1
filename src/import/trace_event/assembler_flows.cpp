// The part of EventAssembler that draws the arrows of flow events.

#include <algorithm>
#include <compare>
#include <functional>
#include <tuple>

#include "import/trace_event/assembler.hpp"
#include "trace/selection.hpp"

namespace sonde {
namespace {

bool is_backward_flow(std::string_view category) {
  return category == "fwdbwd" || category == "forward_backward";
}

// What names an arrow, in every reading of the file the same.
std::uint64_t arrow_key(std::string_view category, std::string_view id_text, std::int64_t id) {
  const std::hash<std::string_view> hash;
  return mix_bits(mix_bits(hash(category) * 3 + hash(id_text)) ^ static_cast<std::uint64_t>(id));
}

}  // namespace

void EventAssembler::append_flow(ReaderNames& names, const Batch& batch, const Record& record,
                                 Cursor& at) {
  const FlowId& id = batch.flow_ids[at.flow++];
  const std::string_view category = names.texts[record.category];
  if (is_backward_flow(category)) ++backward_flows_;
  FlowPoint point;
  point.track = track(names, record.track);
  const LastSlice& last = last_slice_[point.track.index()];
  point.settled = last.any && last.start == record.time;
  if (selection_ != nullptr) {
    const std::string_view id_text =
        id.text == kNoLocal ? std::string_view() : names.texts[id.text];
    const auto binding = !point.settled  ? Selection::Binding::Unknown
                         : last.in_piece ? Selection::Binding::InPiece
                                         : Selection::Binding::Elsewhere;
    if (!selection_->takes_arrow_end(arrow_key(category, id_text, id.number), point.track,
                                     record.time, binding))
      return;
  }
  point.category = string(names, record.category);
  if (id.text != kNoLocal) point.id_text = string(names, id.text);
  point.id = id.number;
  point.time = record.time;
  point.type = record.type;
  if (point.settled) point.bound = last.slice;
  flows_.push_back(point);
}

// Arrows whose own place in the file did not tell their slice bind to the innermost slice that
// encloses their time: of the slice that began last before it and its parents, the first that has
// not ended. One sweep over each track, so that deep nesting costs nothing.
void EventAssembler::bind_flows() {
  const SliceColumns& slices = builder_.slices();
  std::vector<std::vector<std::uint32_t>> points(builder_.track_count());
  bool any = false;
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    if (flows_[i].settled) continue;
    points[flows_[i].track.index()].push_back(i);
    any = true;
  }
  if (!any) return;
  std::vector<std::vector<SliceId>> by_start(builder_.track_count());
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    const TrackId on = slices.track(SliceId(i));
    if (!points[on.index()].empty()) by_start[on.index()].push_back(SliceId(i));
  }
  const Nanos origin = builder_.meta().origin;
  for (std::size_t t = 0; t < points.size(); ++t) {
    std::vector<SliceId>& list = by_start[t];
    std::sort(list.begin(), list.end(), [&](SliceId a, SliceId b) {
      return std::tuple(slices.start(a), slices.depth(a), a) <
             std::tuple(slices.start(b), slices.depth(b), b);
    });
    std::stable_sort(points[t].begin(), points[t].end(), [&](std::uint32_t a, std::uint32_t b) {
      return flows_[a].time < flows_[b].time;
    });
    std::vector<SliceId> open;  // the slice that began last, and its parents below it
    auto next = list.begin();
    for (const std::uint32_t i : points[t]) {
      const Nanos time = flows_[i].time - origin;
      for (; next != list.end() && slices.start(*next) <= time; ++next) {
        while (!open.empty() && open.back() != slices.parent(*next)) open.pop_back();
        open.push_back(*next);
      }
      while (!open.empty() && slices.end(open.back()) < time) open.pop_back();
      if (!open.empty()) flows_[i].bound = open.back();
    }
  }
}

void EventAssembler::draw_flows() {
  bind_flows();
  // What is compared lies side by side: going through the points for each comparison would cost
  // twice the time.
  struct Key {
    StringId category;
    StringId id_text;
    std::int64_t id;
    Nanos time;
    RecordType type;
    std::uint32_t point;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> order(flows_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const FlowPoint& p = flows_[i];
    order[i] = {p.category, p.id_text, p.id, p.time, p.type, i};
  }
  std::sort(order.begin(), order.end());
  std::uint64_t loose = 0;
  const FlowPoint* from = nullptr;
  for (const Key& key : order) {
    const FlowPoint& point = flows_[key.point];
    const bool same = from != nullptr && from->category == point.category && from->id == point.id &&
                      from->id_text == point.id_text;
    if (point.type == RecordType::FlowStart) {
      from = &point;
      continue;
    }
    const auto has_slice = [](const FlowPoint& end) { return end.settled || end.bound.valid(); };
    if (!same || !has_slice(*from) || !has_slice(point)) {
      ++loose;
      continue;
    }
    const bool both_kept = from->bound.valid() && point.bound.valid();
    if (!both_kept) {
      from = &point;
      continue;
    }
    if (is_backward_flow(builder_.text(point.category)))
      builder_.add_backward_link(from->bound, point.bound);
    else
      builder_.add_flow_link(from->bound, point.bound);
    from = &point;
  }
  builder_.losses().add("loose_flow", Severity::Info,
                        "Arrows (flow events) that lack a start or a slice to bind to.", loose);
  flows_.clear();
}

}  // namespace sonde
