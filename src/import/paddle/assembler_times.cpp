// How the assembler makes events fit together whose times the file has rounded.

#include <algorithm>
#include <tuple>

#include "import/paddle/assembler.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = PaddleSlice::kNone;

}  // namespace

// Rounding moves the ends of an event, so that it may stick out of the one around it. The nesting
// can be told nevertheless; then each event is moved, or cut, into the one around it.
void PaddleAssembler::fit_threads() {
  std::vector<std::vector<std::uint32_t>> hosts(builder_.track_count());
  for (std::uint32_t i = 0; i < slices_.size(); ++i) {
    const SliceKind kind = slices_[i].kind;
    if (kind != SliceKind::Runtime && !is_device_work(kind))
      hosts[slices_[i].track.index()].push_back(i);
  }
  for (std::vector<std::uint32_t>& thread : hosts) fit_thread(thread);
  for (PaddleSlice& call : slices_) {
    if (call.kind != SliceKind::Runtime || call.owner == kNone) continue;
    const PaddleSlice& host = slices_[call.owner];
    if (host.track != call.track) continue;
    // A call far outside of its host event is no matter of rounding.
    const Nanos slack = call.precision == PaddlePrecision::Rounded ? 2 * kPaddleSlack : 0;
    if (call.start + slack < host.start || call.end > host.end + slack) continue;
    call.duration = std::min(call.duration, host.duration);
    call.at = std::clamp(call.at, host.at, host.at + host.duration - call.duration);
  }
}

void PaddleAssembler::fit_thread(std::vector<std::uint32_t>& hosts) {
  // Among events that begin at the same rounded time the file's order tells: it has parents before
  // their children, and each before the next.
  const auto key = [&](std::uint32_t i) {
    const PaddleSlice& slice = slices_[i];
    const bool exact = slice.precision == PaddlePrecision::Exact;
    return std::tuple(slice.start, exact ? -slice.end : 0, i);
  };
  std::sort(hosts.begin(), hosts.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  const auto encloses = [&](const PaddleSlice& outer, const PaddleSlice& inner) {
    if (inner.start >= outer.end) return false;
    if (inner.precision != PaddlePrecision::Rounded) return inner.end <= outer.end;
    const Nanos common = std::min(inner.end, outer.end) - inner.start;
    return inner.end <= outer.end + 2 * kPaddleSlack && 2 * common >= inner.end - inner.start;
  };
  struct Open {
    std::uint32_t slice;  // kNone: the thread itself
    Nanos last_end;       // of its last child, as the file tells
    Nanos free_from;      // the same, as it was placed
  };
  std::vector<Open> open = {{kNone, -kMaxTime, -kMaxTime}};
  for (const std::uint32_t i : hosts) {
    PaddleSlice& slice = slices_[i];
    while (open.size() > 1 && !encloses(slices_[open.back().slice], slice)) open.pop_back();
    Open& around = open.back();
    // What overlaps its neighbour in the file as well is left where it is.
    const Nanos slack = slice.precision == PaddlePrecision::Rounded ? 2 * kPaddleSlack : 0;
    Nanos from = slice.start + slack >= around.last_end ? around.free_from : -kMaxTime;
    if (around.slice == kNone) {
      slice.at = std::max(slice.at, from);
    } else {
      const PaddleSlice& outer = slices_[around.slice];
      const Nanos until = outer.at + outer.duration;
      from = std::clamp(from, outer.at, until);
      slice.duration = std::min(slice.duration, until - from);
      slice.at = std::clamp(slice.at, from, until - slice.duration);
    }
    around.last_end = std::max(around.last_end, slice.end);
    around.free_from = std::max(around.free_from, slice.at + slice.duration);
    open.push_back({i, -kMaxTime, -kMaxTime});
  }
}

// Memory events have whole microseconds in JSON: each goes to the nearest moment that its host
// event spends in none of its children, so that it belongs to no other.
void PaddleAssembler::place_memory() {
  if (memory_.empty()) return;
  std::vector<std::vector<std::uint32_t>> children(slices_.size());
  {
    std::vector<bool> wanted(slices_.size(), false);
    for (const PaddleMemory& m : memory_) {
      if (m.owner != kNone) wanted[m.owner] = true;
    }
    std::vector<std::vector<std::uint32_t>> hosts(builder_.track_count());
    for (std::uint32_t i = 0; i < slices_.size(); ++i) {
      const SliceKind kind = slices_[i].kind;
      if (kind != SliceKind::Runtime && !is_device_work(kind))
        hosts[slices_[i].track.index()].push_back(i);
    }
    for (std::vector<std::uint32_t>& thread : hosts) {
      std::sort(thread.begin(), thread.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(slices_[a].at, -slices_[a].duration, a) <
               std::tuple(slices_[b].at, -slices_[b].duration, b);
      });
      std::vector<std::uint32_t> open;
      for (const std::uint32_t i : thread) {
        const Nanos end = slices_[i].at + slices_[i].duration;
        while (!open.empty() && end > slices_[open.back()].at + slices_[open.back()].duration)
          open.pop_back();
        if (!open.empty() && wanted[open.back()]) children[open.back()].push_back(i);
        open.push_back(i);
      }
    }
  }
  for (PaddleMemory& m : memory_) {
    if (m.owner == kNone || slices_[m.owner].track != m.track) continue;
    const PaddleSlice& host = slices_[m.owner];
    Nanos best = std::clamp(m.time, host.at, host.at + host.duration);
    Nanos distance = INT64_MAX;
    const auto offer = [&](Nanos first, Nanos last) {  // both inside of the gap
      if (first > last) return;
      const Nanos moment = std::clamp(m.time, first, last);
      const Nanos away = moment > m.time ? moment - m.time : m.time - moment;
      if (away < distance) {
        distance = away;
        best = moment;
      }
    };
    Nanos from = host.at + 1;
    for (const std::uint32_t child : children[m.owner]) {
      offer(from, slices_[child].at - 1);
      from = slices_[child].at + slices_[child].duration + 1;
    }
    offer(from, host.at + host.duration - 1);
    m.time = best;
  }
}

}  // namespace sonde
