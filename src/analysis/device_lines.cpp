#include "analysis/device_lines.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "analysis/forward_operators.hpp"
#include "analysis/memory_lines.hpp"
#include "analysis/program_files.hpp"
#include "base/flat_map.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
// Deeper than any program calls; what lies further out has no share in the totals.
constexpr std::size_t kDeepest = 4096;

// A frame of the program, and what was launched right there.
struct Frame {
  std::uint32_t caller = kNone;
  std::string_view file;
  std::int32_t line = 0;
  std::string_view function;
  Nanos time = 0;
  Nanos backward = 0;
  std::int64_t work = 0;
};

// "torch/nn/modules/linear.py(125): forward", as torch.profiler names a function of Python. False
// for builtins, which have no file.
bool split_name(std::string_view name, Frame& out) {
  const std::size_t behind = name.find("): ");
  if (behind == std::string_view::npos) return false;
  const std::size_t open = name.rfind('(', behind);
  if (open == std::string_view::npos || open == 0) return false;
  const auto [end, error] = std::from_chars(name.data() + open + 1, name.data() + behind, out.line);
  if (error != std::errc() || end != name.data() + behind || out.line <= 0) return false;
  out.file = name.substr(0, open);
  out.function = name.substr(behind + 3);
  return true;
}

struct Place {
  std::uint32_t frame = kNone;
  bool backward = false;
};

// The work of one trace by frame.
class TraceFrames {
 public:
  explicit TraceFrames(const Trace& trace)
      : trace_(trace), slices_(trace.slices()), forward_(trace) {
    for (const StackFrame& frame : trace.stacks()) {
      frames_.push_back({frame.caller.valid() ? frame.caller.value : kNone, trace.text(frame.file),
                         frame.line, trace.text(frame.function)});
    }
  }

  void run() {
    const SideTable<DeviceRow>& table = trace_.device_work();
    for (std::size_t i = 0; i < table.size(); ++i) {
      const SliceId slice = table.key(i);
      if (!is_device_work(slices_.kind(slice))) continue;
      whole_ += slices_.duration(slice);
      add(slice);
    }
  }

  const std::vector<Frame>& frames() const { return frames_; }
  Nanos whole() const { return whole_; }
  bool used_functions() const { return used_functions_; }

 private:
  void add(SliceId work) {
    const SliceId launch = trace_.launch_to_device().source(work);
    if (!launch.valid()) return;
    const Place place = place_of(launch);
    if (place.frame == kNone) return;
    Frame& frame = frames_[place.frame];
    const Nanos time = slices_.duration(work);
    frame.time += time;
    if (place.backward) frame.backward += time;
    ++frame.work;
  }

  // What is told innermost; but where something around it goes back on a forward operator, the
  // place of that one. Each slice is looked at once.
  Place place_of(SliceId slice) {
    std::vector<SliceId> way;
    Place out;
    for (; slice.valid(); slice = slices_.parent(slice)) {
      if (const Place* const known = places_.find(slice.value)) {
        out = *known;
        break;
      }
      way.push_back(slice);
    }
    for (auto at = way.rbegin(); at != way.rend(); ++at) {
      const SliceId forward = forward_.of(*at);
      const std::uint32_t ran_forward = forward.valid() ? place_around(forward) : kNone;
      if (ran_forward != kNone) {
        out = {ran_forward, true};
      } else if (!out.backward) {
        const std::uint32_t own = place_at(*at);
        if (own != kNone) out.frame = own;
      }
      places_.set(at->value, out);
    }
    return out;
  }

  std::uint32_t place_around(SliceId slice) {
    std::vector<SliceId> way;
    std::uint32_t out = kNone;
    for (; slice.valid(); slice = slices_.parent(slice)) {
      const std::uint32_t* const known = around_.find(slice.value);
      out = known != nullptr ? *known : place_at(slice);
      if (known != nullptr || out != kNone) break;
      way.push_back(slice);
    }
    for (const SliceId passed : way) around_.set(passed.value, out);
    return out;
  }

  std::uint32_t place_at(SliceId slice) {
    if (const StackId* place = trace_.places().find(slice)) return place->value;
    return slices_.kind(slice) == SliceKind::PythonFunction ? function_at(slice) : kNone;
  }

  // The frame of a function on the time line, under those around it.
  std::uint32_t function_at(SliceId slice) {
    way_.clear();
    std::uint32_t caller = kNone;
    for (; slice.valid(); slice = slices_.parent(slice)) {
      if (slices_.kind(slice) != SliceKind::PythonFunction) continue;
      if (const std::uint32_t* known = by_slice_.find(slice.value)) {
        caller = *known;
        break;
      }
      way_.push_back(slice);
    }
    while (!way_.empty()) {
      const SliceId function = way_.back();
      way_.pop_back();
      Frame frame;
      frame.caller = caller;
      if (split_name(trace_.name(function), frame)) {
        bool fresh = false;
        const std::uint64_t key = std::uint64_t{caller} << 32 | slices_.name(function).value;
        caller = by_name_.get_or_insert(key, static_cast<std::uint32_t>(frames_.size()), &fresh);
        if (fresh) frames_.push_back(frame);
        used_functions_ = true;
      }
      by_slice_.set(function.value, caller);
    }
    return caller;
  }

  const Trace& trace_;
  const SliceColumns& slices_;
  ForwardOperators forward_;
  std::vector<Frame> frames_;
  FlatMap<Place> places_;
  FlatMap<std::uint32_t> around_;
  std::vector<SliceId> way_;
  FlatMap<std::uint32_t> by_slice_;
  FlatMap<std::uint32_t> by_name_;
  Nanos whole_ = 0;
  bool used_functions_ = false;
};

class LineSums {
 public:
  void add(const TraceFrames& trace) {
    out_.whole += trace.whole();
    out_.begins_only = out_.begins_only || trace.used_functions();
    const std::vector<Frame>& frames = trace.frames();
    // Callers stand before what they call.
    std::vector<std::uint32_t> line_of(frames.size(), kNone);
    for (const Frame& frame : frames) {
      if (frame.work > 0) add_frame(frames, frame, line_of);
    }
  }

  DeviceLines finish() {
    std::sort(out_.lines.begin(), out_.lines.end(),
              [](const DeviceLines::Line& a, const DeviceLines::Line& b) {
                return std::tuple(-a.self, -a.total, a.file, a.line, a.function) <
                       std::tuple(-b.self, -b.total, b.file, b.line, b.function);
              });
    return std::move(out_);
  }

 private:
  std::uint32_t line(const Frame& frame, std::uint32_t& known) {
    if (known != kNone) return known;
    const auto [at, fresh] = index_.try_emplace({frame.file, frame.line, frame.function},
                                                static_cast<std::uint32_t>(out_.lines.size()));
    if (fresh) {
      out_.lines.emplace_back();
      out_.lines.back().file = frame.file;
      out_.lines.back().line = frame.line;
      out_.lines.back().function = frame.function;
      seen_.push_back(0);
    }
    return known = at->second;
  }

  void add_frame(const std::vector<Frame>& frames, const Frame& frame,
                 std::vector<std::uint32_t>& line_of) {
    ++round_;
    std::uint32_t own = kNone;
    const auto number = [&](const Frame& at) {
      return static_cast<std::size_t>(&at - frames.data());
    };
    std::size_t depth = 0;
    for (const Frame* at = &frame; at != nullptr && depth < kDeepest;
         at = at->caller == kNone ? nullptr : &frames[at->caller], ++depth) {
      const std::uint32_t index = line(*at, line_of[number(*at)]);
      if (own == kNone && is_program_file(at->file)) own = index;
      if (seen_[index] == round_) continue;  // it called itself
      seen_[index] = round_;
      out_.lines[index].total += frame.time;
      out_.lines[index].backward += frame.backward;
    }
    if (own == kNone) own = line_of[number(frame)];
    out_.lines[own].self += frame.time;
    out_.lines[own].work += frame.work;
    out_.placed += frame.time;
  }

  DeviceLines out_;
  std::map<std::tuple<std::string_view, std::int32_t, std::string_view>, std::uint32_t> index_;
  std::vector<std::uint64_t> seen_;  // the round in which the line was counted last
  std::uint64_t round_ = 0;
};

bool may_have_lines(const Trace& trace) {
  if (trace.device_work().empty()) return false;
  return !trace.places().empty() || !trace.python().empty();
}

}  // namespace

DeviceLines device_lines(std::span<const Trace* const> traces) {
  if (std::none_of(traces.begin(), traces.end(),
                   [](const Trace* trace) { return may_have_lines(*trace); })) {
    return {};
  }
  LineSums sums;
  for (const Trace* const trace : traces) {
    TraceFrames frames(*trace);
    frames.run();
    sums.add(frames);
  }
  return sums.finish();
}

DeviceLines device_lines(std::span<const NamedTrace> traces) {
  return device_lines(plain_traces(traces));
}

}  // namespace sonde
