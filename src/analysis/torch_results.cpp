#include "analysis/torch_results.hpp"

#include <algorithm>
#include <optional>

#include "trace/external_ids.hpp"

namespace sonde {
namespace {

std::optional<TorchRole> role_of(SliceKind kind) {
  switch (kind) {
    case SliceKind::PythonFunction:
    case SliceKind::Module:
      return TorchRole::Python;
    case SliceKind::Runtime:
    case SliceKind::Driver:
    case SliceKind::Overhead:
      return TorchRole::Call;
    case SliceKind::Kernel:
    case SliceKind::Memcpy:
    case SliceKind::Memset:
    case SliceKind::DeviceRange:
    case SliceKind::Sync:
      return TorchRole::Device;
    case SliceKind::Step:
    case SliceKind::Api:
      return TorchRole::Operator;
    default:
      if (is_host_operator(kind)) return TorchRole::Operator;
      return std::nullopt;
  }
}

std::int64_t or_zero(std::int64_t number) { return number == kNoNumber ? 0 : number; }

// Files of older versions of PyTorch have whole microseconds.
bool has_nanoseconds(const Trace& trace) {
  const SliceColumns& slices = trace.slices();
  for (const SliceId slice : all_slices(trace)) {
    if ((trace.meta().origin + slices.start(slice)) % 1000 != 0) return true;
    if (slices.duration(slice) % 1000 != 0) return true;
  }
  return false;
}

class Collector {
 public:
  explicit Collector(const Trace& trace)
      : trace_(trace),
        slices_(trace.slices()),
        link_by_time_(external_ids_are_correlations(trace)),
        widening_(has_nanoseconds(trace) ? 1 : 1000) {}

  TorchResults collect() {
    find_trace_start();
    list_in_order();
    find_main_thread();
    find_forward_threads();
    find_operators_of_work();
    nest_torch_results(trace_, results_);
    complete_ids();
    return std::move(results_);
  }

 private:
  void find_trace_start() {
    for (const SliceId slice : all_slices(trace_)) {
      if (slices_.kind(slice) != SliceKind::Span) continue;
      results_.trace_start = slices_.start(slice);
      return;
    }
  }

  // Files are written with the range around device work one tick wider at both ends, so that
  // viewers nest the work in it.
  Nanos widening(SliceId slice) const {
    const bool wide = slices_.kind(slice) == SliceKind::DeviceRange;
    return wide && slices_.duration(slice) >= 2 * widening_ ? widening_ : 0;
  }

  void list_in_order() {
    struct Key {
      Nanos start;
      std::uint64_t rank;  // operators, then Python, then the rest; each in file order
    };
    std::vector<Key> keys;
    keys.reserve(trace_.slice_count());
    for (const SliceId slice : all_slices(trace_)) {
      const std::optional<TorchRole> role = role_of(slices_.kind(slice));
      if (!role) continue;
      const std::uint64_t rank = *role == TorchRole::Operator ? 0
                                 : *role == TorchRole::Python ? 1
                                                              : 2;
      keys.push_back({slices_.start(slice) + widening(slice), rank << 32 | slice.value});
    }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
      return a.start != b.start ? a.start < b.start : a.rank < b.rank;
    });
    results_.list.reserve(keys.size());
    for (const Key& key : keys) {
      results_.list.push_back(result_of(SliceId(static_cast<std::uint32_t>(key.rank))));
    }
  }

  TorchResult result_of(SliceId slice) const {
    TorchResult result;
    result.slice = slice;
    result.thread = slices_.track(slice);
    result.start = slices_.start(slice) + widening(slice);
    result.end = slices_.end(slice) - widening(slice);
    result.role = *role_of(slices_.kind(slice));
    switch (result.role) {
      case TorchRole::Operator:
        if (const OperatorRow* row = trace_.operators().find(slice)) {
          result.id = link_by_time_ ? slice_as_id(slice) : or_zero(row->external_id);
          result.annotation = row->is_annotation;
        }
        break;
      case TorchRole::Python:
        break;
      case TorchRole::Call:
        read_launch(slice, result);
        break;
      case TorchRole::Device:
        read_device(slice, result);
        break;
    }
    return result;
  }

  void read_launch(SliceId slice, TorchResult& result) const {
    const LaunchRow* row = trace_.launches().find(slice);
    if (row == nullptr) return;
    result.correlation = or_zero(row->correlation);
    result.id = result.correlation;
    result.linked = or_zero(row->external_id);
    if (!link_by_time_) return;
    if (result.id != 0) result.id = kIdOfNothing;
    result.linked = slice_as_id(trace_.operator_to_launch().source(slice));
  }

  void read_device(SliceId slice, TorchResult& result) const {
    const DeviceRow* row = trace_.device_work().find(slice);
    if (slices_.kind(slice) == SliceKind::DeviceRange) {
      result.annotation = true;
      if (row != nullptr) result.id = or_zero(row->external_id);
      return;
    }
    if (row == nullptr || slices_.kind(slice) == SliceKind::Sync) return read_launch(slice, result);
    result.correlation = or_zero(row->correlation);
    result.id = result.correlation;
    result.linked = or_zero(row->external_id);
    if (!link_by_time_) return;
    const SliceId launch = trace_.launch_to_device().source(slice);
    result.linked = launch.valid() ? slice_as_id(trace_.operator_to_launch().source(launch)) : 0;
  }

  static std::int64_t slice_as_id(SliceId slice) {
    return slice.valid() ? std::int64_t{slice.value} + 1 : 0;
  }

  // The thread that stopped the profiler is not in the file. It is mostly the process's first one.
  void find_main_thread() {
    std::vector<bool> has_operators(trace_.tracks().size(), false);
    SliceId first;
    const TorchResult* earliest = nullptr;
    for (const TorchResult& result : results_.list) {
      if (result.role != TorchRole::Operator) continue;
      has_operators[result.thread.index()] = true;
      if (!first.valid() || result.slice < first) first = result.slice;
      if (earliest == nullptr) earliest = &result;
    }
    if (earliest == nullptr) return;
    results_.main = earliest->thread;
    const std::int64_t pid = trace_.track(slices_.track(first)).pid;
    for (const TrackId track : all_tracks(trace_)) {
      const Track& thread = trace_.track(track);
      if (!has_operators[track.index()] || pid == 0) continue;
      if (thread.pid == pid && thread.tid == pid) results_.main = track;
    }
  }

  void find_forward_threads() {
    results_.forward_threads.set(1, results_.main);
    const Links& links = trace_.forward_to_backward();
    for (std::size_t i = 0; i < links.size(); ++i) {
      const OperatorRow* backward = trace_.operators().find(links.to(i));
      if (backward == nullptr || backward->forward_thread <= 0) continue;
      results_.forward_threads.set(static_cast<std::uint64_t>(backward->forward_thread),
                                   slices_.track(links.from(i)));
    }
  }

  // Parent and thread of calls and device work. Of several entries with one id the last in the file
  // counts.
  void find_operators_of_work() {
    std::vector<TorchResult>& list = results_.list;
    FlatMap<std::uint32_t> operators;
    FlatMap<std::uint32_t> launches;  // by correlation, for those with device work
    operators.reserve(trace_.operators().size());
    launches.reserve(trace_.device_work().size());
    const auto keep_last = [&](std::uint32_t& slot, std::uint32_t i) {
      if (slot == TorchResult::kNone || list[slot].slice < list[i].slice) slot = i;
    };
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      if (list[i].role == TorchRole::Operator && list[i].id != 0) {
        const auto id = static_cast<std::uint64_t>(list[i].id);
        keep_last(operators.get_or_insert(id, TorchResult::kNone), i);
      } else if (list[i].correlation != 0 && is_device_work(slices_.kind(list[i].slice))) {
        launches.get_or_insert(static_cast<std::uint64_t>(list[i].correlation), TorchResult::kNone);
      }
    }
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      if (!is_launch_call(slices_.kind(list[i].slice)) || list[i].correlation == 0) continue;
      auto* slot = launches.find(static_cast<std::uint64_t>(list[i].correlation));
      if (slot != nullptr) keep_last(*slot, i);
    }
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      TorchResult& work = list[i];
      if (work.own()) continue;
      const std::uint32_t* op =
          work.linked != 0 ? operators.find(static_cast<std::uint64_t>(work.linked)) : nullptr;
      const std::uint32_t* launch =
          work.correlation != 0 ? launches.find(static_cast<std::uint64_t>(work.correlation))
                                : nullptr;
      if (op != nullptr) work.parent = *op;
      if (launch != nullptr && *launch != TorchResult::kNone && *launch != i) work.parent = *launch;
    }
    for (TorchResult& work : list) {
      if (work.own()) continue;
      std::uint32_t up = work.parent;
      // At most two steps: a launch is never the child of another launch that has a parent launch.
      while (up != TorchResult::kNone && !list[up].own()) up = list[up].parent;
      work.thread = up == TorchResult::kNone ? results_.main : slices_.track(list[up].slice);
    }
  }

  // An entry without an id takes that of its parent: so an overhead inside of an operator is
  // credited with the operator's device work too.
  void complete_ids() {
    for (TorchResult& result : results_.list) {
      if (result.own() || result.id != 0 || result.parent == TorchResult::kNone) continue;
      result.id = results_.list[result.parent].id;
    }
  }

  static constexpr std::int64_t kIdOfNothing = -1;

  const Trace& trace_;
  const SliceColumns& slices_;
  bool link_by_time_;
  Nanos widening_;
  TorchResults results_;
};

}  // namespace

TorchResults torch_results(const Trace& trace) { return Collector(trace).collect(); }

}  // namespace sonde
