#include <vector>

#include "analysis/function_profile_parts.hpp"
#include "base/flat_map.hpp"

namespace sonde {
namespace {

// The frames that samples lie in. Others share the tree: operators and memory have stacks, too.
std::vector<bool> sampled_frames(const Trace& trace) {
  const std::vector<StackFrame>& frames = trace.stacks();
  std::vector<bool> out(frames.size());
  for (const Sample& sample : trace.samples()) {
    for (StackId at = sample.stack; at.index() < frames.size() && !out[at.index()];
         at = frames[at.index()].caller) {
      out[at.index()] = true;
    }
  }
  return out;
}

// The interned tree of frames, ready to be walked from the roots down.
struct FrameTree {
  FrameTree(const std::vector<StackFrame>& frames, const std::vector<bool>& wanted)
      : first_child(frames.size(), kNone), next_sibling(frames.size(), kNone) {
    // Backwards, so that children come out in their own order.
    for (std::size_t i = frames.size(); i-- > 0;) {
      if (!wanted[i]) continue;
      std::uint32_t& head =
          frames[i].caller.valid() ? first_child[frames[i].caller.index()] : first_root;
      next_sibling[i] = head;
      head = static_cast<std::uint32_t>(i);
    }
  }

  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> first_child;
  std::vector<std::uint32_t> next_sibling;
  std::uint32_t first_root = kNone;
};

class SampledProfile {
 public:
  explicit SampledProfile(const Trace& trace)
      : trace_(trace),
        frames_(trace.stacks()),
        sampled_(sampled_frames(trace)),
        tree_(frames_, sampled_) {}

  FunctionProfile build() {
    out_.source = ProfileSource::Samples;
    out_.calls_are_samples = true;
    add_costs();
    number_frames();
    // A row of counts behind those of weights: how many samples.
    for (std::size_t cost = 0; cost < types_; ++cost) add_type(cost, false);
    add_type(0, true);
    return std::move(out_);
  }

 private:
  void add_costs() {
    for (const SampleType& type : trace_.sample_types()) {
      out_.costs.push_back(
          {std::string(trace_.text(type.name)), std::string(trace_.text(type.unit)), type.timed});
    }
    if (out_.costs.empty()) out_.costs.push_back({"samples", "", true});
    types_ = out_.costs.size();
  }

  // Which function, which call and which line each frame is of.
  void number_frames() {
    FlatMap<std::uint32_t> functions;
    FlatMap<std::uint32_t> calls;
    FlatMap<std::uint32_t> lines;
    function_of_.resize(frames_.size());
    call_of_.assign(frames_.size(), FrameTree::kNone);
    line_of_.assign(frames_.size(), FrameTree::kNone);
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      if (!sampled_[i]) continue;
      const StackFrame& frame = frames_[i];
      bool inserted = false;
      const std::uint64_t key = std::uint64_t{frame.function.value} << 32 | frame.file.value;
      const std::uint32_t function = functions.get_or_insert(
          key, static_cast<std::uint32_t>(out_.functions.size()), &inserted);
      if (inserted) {
        out_.functions.push_back(
            {trace_.text(frame.function), trace_.text(frame.file), {}, 0, 0, 0});
      }
      function_of_[i] = function;
      if (frame.caller.valid()) {
        const std::uint32_t caller = function_of_[frame.caller.index()];
        call_of_[i] = calls.get_or_insert(std::uint64_t{caller} << 32 | function,
                                          static_cast<std::uint32_t>(out_.calls.size()), &inserted);
        if (inserted) out_.calls.push_back({caller, function, 0});
      }
      if (frame.line > 0) {
        line_of_[i] = lines.get_or_insert(
            std::uint64_t{function} << 32 | static_cast<std::uint32_t>(frame.line),
            static_cast<std::uint32_t>(out_.lines.size()), &inserted);
        if (inserted) {
          out_.lines.push_back({function, trace_.text(frame.file), frame.line, 0});
        }
      }
    }
    out_.self.resize(out_.functions.size() * types_);
    out_.total.resize(out_.functions.size() * types_);
    out_.call_self.resize(out_.calls.size() * types_);
    out_.call_total.resize(out_.calls.size() * types_);
    out_.line_self.resize(out_.lines.size() * types_);
    out_.line_total.resize(out_.lines.size() * types_);
  }

  void add_type(std::size_t cost, bool count) {
    std::vector<double> own(frames_.size());
    for (const Sample& sample : trace_.samples()) {
      if (sample.type != cost || !sample.stack.valid()) continue;
      own[sample.stack.index()] += count ? 1 : sample.weight;
    }
    std::vector<double> with_callees = own;
    for (std::size_t i = frames_.size(); i-- > 0;) {
      if (frames_[i].caller.valid()) with_callees[frames_[i].caller.index()] += with_callees[i];
    }
    walk(own, with_callees, cost, count);
  }

  // From the roots down, with a count of how often each function and each call is open: only the
  // outermost counts for a total.
  void walk(const std::vector<double>& own, const std::vector<double>& with_callees,
            std::size_t cost, bool count) {
    std::vector<std::uint32_t> open_functions(out_.functions.size());
    std::vector<std::uint32_t> open_calls(out_.calls.size());
    std::vector<std::uint32_t> open_lines(out_.lines.size());
    std::vector<std::uint32_t> path;
    std::uint32_t at = tree_.first_root;
    while (at != FrameTree::kNone || !path.empty()) {
      if (at == FrameTree::kNone) {
        const std::uint32_t left = path.back();
        path.pop_back();
        --open_functions[function_of_[left]];
        if (call_of_[left] != FrameTree::kNone) --open_calls[call_of_[left]];
        if (line_of_[left] != FrameTree::kNone) --open_lines[line_of_[left]];
        at = tree_.next_sibling[left];
        continue;
      }
      const bool outermost = open_functions[function_of_[at]]++ == 0;
      const bool first_call = call_of_[at] != FrameTree::kNone && open_calls[call_of_[at]]++ == 0;
      const bool first_line = line_of_[at] != FrameTree::kNone && open_lines[line_of_[at]]++ == 0;
      const double all = with_callees[at];
      if (count) {
        add_count(at, own[at], outermost ? all : 0, first_call ? all : 0);
      } else {
        add_cost(at, cost, own[at], outermost ? all : 0, first_call ? all : 0);
        if (first_line) out_.line_total[line_of_[at] * types_ + cost] += all;
      }
      path.push_back(at);
      at = tree_.first_child[at];
    }
  }

  void add_count(std::uint32_t at, double own, double total, double call_total) {
    out_.functions[function_of_[at]].calls += static_cast<std::int64_t>(total);
    out_.functions[function_of_[at]].primitive_calls += static_cast<std::int64_t>(total);
    if (call_of_[at] != FrameTree::kNone) {
      out_.calls[call_of_[at]].calls += static_cast<std::int64_t>(call_total);
    }
    if (line_of_[at] != FrameTree::kNone) {
      out_.lines[line_of_[at]].hits += static_cast<std::int64_t>(own);
    }
  }

  void add_cost(std::uint32_t at, std::size_t cost, double own, double total, double call_total) {
    out_.self[function_of_[at] * types_ + cost] += own;
    out_.total[function_of_[at] * types_ + cost] += total;
    if (call_of_[at] != FrameTree::kNone) {
      out_.call_self[call_of_[at] * types_ + cost] += own;
      out_.call_total[call_of_[at] * types_ + cost] += call_total;
    }
    if (line_of_[at] != FrameTree::kNone) out_.line_self[line_of_[at] * types_ + cost] += own;
  }

  const Trace& trace_;
  const std::vector<StackFrame>& frames_;
  std::vector<bool> sampled_;
  FrameTree tree_;
  FunctionProfile out_;
  std::size_t types_ = 0;
  std::vector<std::uint32_t> function_of_;
  std::vector<std::uint32_t> call_of_;
  std::vector<std::uint32_t> line_of_;
};

}  // namespace

FunctionProfile sampled_profile(const Trace& trace) { return SampledProfile(trace).build(); }

}  // namespace sonde
