#include "import/trace_event/correlation.hpp"

#include <algorithm>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "trace/external_ids.hpp"

namespace sonde {
namespace {

// Launch calls by correlation id. Several calls may share one.
class LaunchIndex {
 public:
  explicit LaunchIndex(const TraceBuilder& builder) : slices_(builder.slices()) {
    const SideTable<LaunchRow>& launches = builder.launches();
    calls_.reserve(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const LaunchRow& row = launches.row(i);
      if (row.correlation == kNoNumber || !is_launch_call(slices_.kind(launches.key(i)))) continue;
      bool fresh = false;
      Call& call = calls_.get_or_insert(static_cast<std::uint64_t>(row.correlation),
                                        {launches.key(i), false}, &fresh);
      if (fresh) continue;
      if (!call.shared) shared_.push_back({row.correlation, call.slice});
      call.shared = true;
      shared_.push_back({row.correlation, launches.key(i)});
      ++duplicates_;
    }
    std::sort(shared_.begin(), shared_.end(), [&](const Shared& a, const Shared& b) {
      return std::tuple(a.correlation, slices_.start(a.slice), a.slice) <
             std::tuple(b.correlation, slices_.start(b.slice), b.slice);
    });
  }

  std::size_t duplicates() const { return duplicates_; }

  // The call of that id that began last before `time`; the first of all where none did.
  SliceId find(std::int64_t correlation, Nanos time) const {
    const Call* call = calls_.find(static_cast<std::uint64_t>(correlation));
    if (call == nullptr) return {};
    if (!call->shared) return call->slice;
    const auto behind =
        std::upper_bound(shared_.begin(), shared_.end(), std::pair(correlation, time),
                         [&](const auto& key, const Shared& entry) {
                           return key < std::pair(entry.correlation, slices_.start(entry.slice));
                         });
    const bool found = behind != shared_.begin() && std::prev(behind)->correlation == correlation;
    return found ? std::prev(behind)->slice : behind->slice;
  }

 private:
  struct Call {
    SliceId slice;
    bool shared = false;
  };
  struct Shared {
    std::int64_t correlation;
    SliceId slice;
  };
  const SliceColumns& slices_;
  FlatMap<Call> calls_;
  std::vector<Shared> shared_;  // by (id, start)
  std::size_t duplicates_ = 0;
};

// Finds the innermost operator around a slice. What a long way up led to is remembered for every
// slice on that way, so that deep nesting costs nothing.
class EnclosingOperators {
 public:
  explicit EnclosingOperators(const SliceColumns& slices) : slices_(slices) {}

  SliceId find(SliceId slice) {
    way_.clear();
    SliceId owner;
    for (SliceId up = slices_.parent(slice); up.valid(); up = slices_.parent(up)) {
      if (is_host_operator(slices_.kind(up)) || slices_.kind(up) == SliceKind::Step) {
        owner = up;
        break;
      }
      if (const SliceId* known = known_.find(up.value)) {
        owner = *known;
        break;
      }
      way_.push_back(up);
    }
    if (way_.size() > kLongWay) {
      for (const SliceId passed : way_) known_.set(passed.value, owner);
    }
    return owner;
  }

 private:
  static constexpr std::size_t kLongWay = 64;
  const SliceColumns& slices_;
  FlatMap<SliceId> known_;
  std::vector<SliceId> way_;
};

void link_operators(TraceBuilder& builder) {
  const SliceColumns& slices = builder.slices();
  const SideTable<OperatorRow>& operators = builder.operators();
  const SideTable<LaunchRow>& launches = builder.launches();
  // A piece is read this way only where the whole file's ids are those of operators.
  const bool use_ids =
      builder.selection() != nullptr || !external_ids_are_correlations(slices, operators, launches);
  FlatMap<SliceId> by_id;
  if (use_ids) {
    by_id.reserve(operators.size());
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const std::int64_t id = operators.row(i).external_id;
      if (id != kNoNumber && id != 0)
        by_id.get_or_insert(static_cast<std::uint64_t>(id), operators.key(i));
    }
  }
  EnclosingOperators enclosing(slices);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const SliceId launch = launches.key(i);
    if (!is_launch_call(slices.kind(launch))) continue;
    const std::int64_t id = launches.row(i).external_id;
    const SliceId* op = use_ids && id != kNoNumber && id != 0
                            ? by_id.find(static_cast<std::uint64_t>(id))
                            : nullptr;
    const SliceId owner = op != nullptr ? *op : enclosing.find(launch);
    if (owner.valid()) builder.add_operator_link(owner, launch);
  }
}

void link_device_work(TraceBuilder& builder, const std::vector<bool>& launched) {
  const SliceColumns& slices = builder.slices();
  const SideTable<DeviceRow>& device_work = builder.device_work();
  const LaunchIndex launches(builder);
  std::uint64_t alone = 0;
  for (std::size_t i = 0; i < device_work.size(); ++i) {
    const SliceId slice = device_work.key(i);
    if (!is_device_work(slices.kind(slice))) continue;
    if (slice.index() < launched.size() && launched[slice.index()]) continue;
    const std::int64_t correlation = device_work.row(i).correlation;
    const SliceId launch =
        correlation == kNoNumber ? SliceId() : launches.find(correlation, slices.start(slice));
    if (launch.valid())
      builder.add_launch_link(launch, slice);
    else
      ++alone;
  }
  builder.losses().add(
      "duplicate_correlation", Severity::Info,
      "Launch calls that share a correlation id with another; device work goes to the last one "
      "before it.",
      launches.duplicates());
  builder.losses().add(
      "device_work_without_launch", Severity::Info,
      "Kernels and copies whose launch call is not in the trace; they belong to no operator.",
      alone);
}

}  // namespace

void link_by_correlation(TraceBuilder& builder, const std::vector<bool>& launched) {
  // The two kinds of links have nothing in common but the tables that they read.
  const std::jthread operator_links([&] { link_operators(builder); });
  link_device_work(builder, launched);
}

void link_by_sequence(TraceBuilder& builder) {
  const SliceColumns& slices = builder.slices();
  const SideTable<OperatorRow>& operators = builder.operators();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (operators.row(i).sequence != kNoNumber && operators.row(i).sequence >= 0) rows.push_back(i);
  }
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return slices.end(operators.key(a)) < slices.end(operators.key(b));
  });
  // Threads have numbers of their own here, not tids; a single forward thread is the usual case,
  // so the sequence number alone tells the pair.
  FlatMap<SliceId> forward;
  for (const std::size_t i : rows) {
    const OperatorRow& row = operators.row(i);
    const SliceId slice = operators.key(i);
    const auto key = static_cast<std::uint64_t>(row.sequence);
    const bool backward = row.forward_thread > 0;
    if (!backward) {
      SliceId& known = forward.get_or_insert(key, slice);
      if (!known.valid() || slices.start(slice) >= slices.start(known)) known = slice;
    } else if (SliceId* known = forward.find(key); known != nullptr && known->valid()) {
      builder.add_backward_link(*known, slice);
      *known = SliceId();
    }
  }
}

}  // namespace sonde
