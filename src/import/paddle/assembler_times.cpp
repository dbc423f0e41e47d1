// How the assembler makes events fit together whose times the file has rounded.

#include <algorithm>
#include <iterator>
#include <tuple>

#include "import/paddle/assembler.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = PaddleSlice::kNone;

}  // namespace

std::vector<std::vector<std::uint32_t>> PaddleAssembler::hosts_by_thread() const {
  std::vector<std::vector<std::uint32_t>> hosts(builder_.track_count());
  for (std::uint32_t i = 0; i < slices_.size(); ++i) {
    const SliceKind kind = slices_[i].kind;
    if (kind != SliceKind::Runtime && !is_device_work(kind))
      hosts[slices_[i].track.index()].push_back(i);
  }
  return hosts;
}

// Rounding moves the ends of an event, so that it may stick out of the one around it. The nesting
// can be told nevertheless; then each event is moved, or cut, into the one around it.
void PaddleAssembler::fit_threads() {
  std::vector<std::vector<std::uint32_t>> threads = hosts_by_thread();
  for (std::vector<std::uint32_t>& hosts : threads) fit_thread(hosts);
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
  std::vector<bool> wanted(slices_.size(), false);
  bool any = false;
  for (const PaddleMemory& memory : memory_) {
    if (!memory.rounded || memory.owner == kNone) continue;
    wanted[memory.owner] = any = true;
  }
  if (!any) return;
  struct Gap {
    Nanos first;
    Nanos last;
  };
  // What each host event has between its children; its last gap is open while they are added.
  std::vector<std::vector<Gap>> gaps(slices_.size());
  std::vector<std::vector<std::uint32_t>> threads = hosts_by_thread();
  for (std::vector<std::uint32_t>& thread : threads) {
    std::sort(thread.begin(), thread.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(slices_[a].at, -slices_[a].duration, a) <
             std::tuple(slices_[b].at, -slices_[b].duration, b);
    });
    std::vector<std::uint32_t> open;
    for (const std::uint32_t i : thread) {
      const PaddleSlice& slice = slices_[i];
      const Nanos end = slice.at + slice.duration;
      while (!open.empty() && end > slices_[open.back()].at + slices_[open.back()].duration)
        open.pop_back();
      if (!open.empty() && wanted[open.back()]) {
        std::vector<Gap>& around = gaps[open.back()];
        const Nanos last = around.back().last;
        around.back().last = slice.at - 1;
        if (around.back().first > around.back().last) around.pop_back();
        around.push_back({end + 1, last});
      }
      if (wanted[i]) gaps[i].push_back({slice.at + 1, end - 1});
      open.push_back(i);
    }
  }
  // Farther away than rounding explains, the file's order is not to be trusted.
  constexpr Nanos kFarthest = 4 * kPaddleSlack;
  for (PaddleMemory& memory : memory_) {
    if (!memory.rounded || memory.owner == kNone) continue;
    if (slices_[memory.owner].track != memory.track) continue;
    const std::vector<Gap>& around = gaps[memory.owner];
    const auto next = std::lower_bound(around.begin(), around.end(), memory.time,
                                       [](const Gap& gap, Nanos time) { return gap.last < time; });
    Nanos best = memory.time;
    Nanos distance = kFarthest + 1;
    const auto offer = [&](const Gap& gap) {
      if (gap.first > gap.last) return;
      const Nanos moment = std::clamp(memory.time, gap.first, gap.last);
      const Nanos away = moment > memory.time ? moment - memory.time : memory.time - moment;
      if (away >= distance) return;
      distance = away;
      best = moment;
    };
    if (next != around.end()) offer(*next);
    if (next != around.begin()) offer(*std::prev(next));
    memory.time = best;
  }
}

}  // namespace sonde
