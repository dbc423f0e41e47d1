#include <algorithm>
#include <vector>

#include "analysis/function_profile_parts.hpp"
#include "analysis/trace_facts.hpp"
#include "base/flat_map.hpp"

namespace sonde {
namespace {

bool counts_as_function(const Trace& trace, SliceId slice) {
  const TrackType type = trace.track(trace.slices().track(slice)).type;
  if (type != TrackType::Thread && type != TrackType::Async) return false;
  const SliceKind kind = trace.slices().kind(slice);
  return kind != SliceKind::Span && !is_device_work(kind);
}

// Where a profiler says that the function stands.
struct Place {
  std::string_view file;
  std::uint32_t file_id = 0;
  std::int32_t line = 0;
};

class Places {
 public:
  explicit Places(const Trace& trace)
      : trace_(trace), file_(trace.strings().find("file")), line_(trace.strings().find("line")) {}

  Place of(SliceId slice) const {
    Place out;
    if (!file_.valid()) return out;
    if (const ArgumentValue file = find_argument(trace_, slice, file_);
        file && file.type() == ArgType::Text) {
      out.file = trace_.text(file.text());
      out.file_id = file.text().value;
    }
    if (const ArgumentValue line = find_argument(trace_, slice, line_);
        line && line.type() == ArgType::Integer) {
      out.line = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(line.integer(trace_, 0), 0, INT32_MAX));
    }
    return out;
  }

 private:
  const Trace& trace_;
  StringId file_;
  StringId line_;
};

}  // namespace

ProfileCost slice_cost(const Trace& trace) {
  if (has_times(trace)) return {"time", "ns", true};
  return {"places", "count", true};  // in the order of events
}

FunctionProfile slice_profile(const Trace& trace) {
  const SliceColumns& slices = trace.slices();
  FunctionProfile out;
  std::vector<SliceId> order;
  for (const SliceId slice : all_slices(trace)) {
    if (counts_as_function(trace, slice)) order.push_back(slice);
  }
  if (order.empty()) return out;
  out.source = ProfileSource::Slices;
  out.costs.push_back(slice_cost(trace));
  // Track by track, the outer slice first: thus the open ones are a stack.
  std::sort(order.begin(), order.end(), [&](SliceId a, SliceId b) {
    if (slices.track(a) != slices.track(b)) return slices.track(a) < slices.track(b);
    if (slices.start(a) != slices.start(b)) return slices.start(a) < slices.start(b);
    if (slices.depth(a) != slices.depth(b)) return slices.depth(a) < slices.depth(b);
    return a < b;
  });

  const Places places(trace);
  FlatMap<std::uint32_t> functions;
  FlatMap<std::uint32_t> calls;
  std::vector<std::uint32_t> function_of(slices.size(), UINT32_MAX);
  std::vector<std::uint32_t> open_functions;
  std::vector<std::uint32_t> open_calls;
  struct Open {
    SliceId slice;
    std::uint32_t call;
  };
  std::vector<Open> open;
  const auto close_to = [&](SliceId parent) {
    while (!open.empty() && open.back().slice != parent) {
      --open_functions[function_of[open.back().slice.index()]];
      if (open.back().call != UINT32_MAX) --open_calls[open.back().call];
      open.pop_back();
    }
  };
  for (const SliceId slice : order) {
    SliceId parent = slices.parent(slice);
    if (parent.valid() && function_of[parent.index()] == UINT32_MAX) parent = SliceId();
    close_to(parent);
    bool inserted = false;
    const Place place = places.of(slice);
    const std::uint32_t function =
        functions.get_or_insert(std::uint64_t{place.file_id} << 32 | slices.name(slice).value,
                                static_cast<std::uint32_t>(out.functions.size()), &inserted);
    if (inserted) {
      out.functions.push_back({trace.name(slice), place.file, {}, place.line, 0, 0});
      out.self.push_back(0);
      out.total.push_back(0);
      open_functions.push_back(0);
    }
    function_of[slice.index()] = function;
    const auto time = static_cast<double>(slices.duration(slice));
    ++out.functions[function].calls;
    out.self[function] += time;
    if (open_functions[function]++ == 0) {
      ++out.functions[function].primitive_calls;
      out.total[function] += time;
    }
    std::uint32_t call = UINT32_MAX;
    if (parent.valid()) {
      const std::uint32_t caller = function_of[parent.index()];
      out.self[caller] -= time;
      call = calls.get_or_insert(std::uint64_t{caller} << 32 | function,
                                 static_cast<std::uint32_t>(out.calls.size()), &inserted);
      if (inserted) {
        out.calls.push_back({caller, function, 0});
        out.call_self.push_back(0);
        out.call_total.push_back(0);
        open_calls.push_back(0);
      }
      ++out.calls[call].calls;
      out.call_self[call] += time;
      if (open.back().call != UINT32_MAX) out.call_self[open.back().call] -= time;
      if (open_calls[call]++ == 0) out.call_total[call] += time;
    }
    open.push_back({slice, call});
  }
  // Children that overlap each other may add up to more than their parent.
  for (double& self : out.self) self = std::max(self, 0.0);
  for (double& self : out.call_self) self = std::max(self, 0.0);
  return out;
}

}  // namespace sonde
