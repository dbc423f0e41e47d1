#include "analysis/call_tree.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

#include "analysis/call_estimate.hpp"
#include "analysis/lanes.hpp"

namespace sonde {

std::uint32_t CallTree::frame(std::string_view name, std::string_view file, std::int32_t line) {
  const auto next = static_cast<std::uint32_t>(frames_.size());
  const std::hash<std::string_view> hash;
  std::uint64_t key =
      mix_bits(hash(name) + mix_bits(hash(file) + static_cast<std::uint32_t>(line)));
  for (;; key = mix_bits(key + 1)) {
    const std::uint32_t id = frame_ids_.get_or_insert(key, next);
    if (id == next) {
      frames_.push_back({name, file, line});
      return id;
    }
    const CallFrame& known = frames_[id];
    if (known.name == name && known.file == file && known.line == line) return id;
  }
}

std::uint32_t CallTree::child(std::uint32_t parent, std::uint32_t frame) {
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  const std::uint32_t id = node_ids_.get_or_insert(std::uint64_t{parent} << 32 | frame, next);
  if (id == next) {
    nodes_.push_back({parent, frame, 0});
    self_.resize(self_.size() + types_.size());
  }
  return id;
}

std::vector<double> CallTree::totals(std::size_t type) const {
  std::vector<double> sums(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    sums[i] = self(static_cast<std::uint32_t>(i), type);
  for (std::size_t i = nodes_.size(); i-- > 1;) sums[nodes_[i].parent] += sums[i];
  return sums;
}

std::string track_label(const Trace& trace, TrackId id) {
  const Track& track = trace.track(id);
  const std::string_view name = trace.text(track.name);
  if (track.type == TrackType::Stream) {
    std::string label = track.device >= 0 ? "GPU " + std::to_string(track.device) + " " : "";
    if (name.starts_with("stream "))
      return label + std::string(name.substr(0, name.find_last_not_of(' ') + 1));
    return label + "stream " + std::to_string(track.tid);
  }
  if (!name.empty()) return std::string(name);
  return "thread " + std::to_string(track.tid);
}

namespace {

// Hands out the tree and the node under which the stacks of a track begin.
class Roots {
 public:
  Roots(const Trace& trace, const CallTreeOptions& options, const std::vector<bool>& used,
        const CallTree& empty)
      : trace_(trace), by_track_(options.by_track), empty_(empty), nodes_(used.size(), kNone) {
    several_ = std::count(used.begin(), used.end(), true) > 1;
    if (!by_track_) trees_.push_back(empty_);
  }

  CallTree& tree(TrackId track, std::uint32_t& root) {
    std::uint32_t& known = nodes_[track.index()];
    if (by_track_) {
      if (known == kNone) {
        known = static_cast<std::uint32_t>(trees_.size());
        trees_.push_back(empty_);
        trees_.back().title = track_label(trace_, track);
        trees_.back().track = track;
      }
      root = 0;
      return trees_[known];
    }
    if (known == kNone) {
      CallTree& only = trees_.front();
      known = several_ ? only.child(0, only.frame(only.keep(track_label(trace_, track)))) : 0;
    }
    root = known;
    return trees_.front();
  }

  std::vector<CallTree> take() { return std::move(trees_); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  const Trace& trace_;
  bool by_track_;
  bool several_ = false;
  CallTree empty_;
  std::vector<std::uint32_t> nodes_;
  std::vector<CallTree> trees_;
};

// The node of an interned stack below `root`. Stacks share their callers; no recursion, since a
// hostile file makes them deep.
std::uint32_t stack_node(const Trace& trace, CallTree& tree, std::uint32_t root, StackId stack,
                         std::vector<StackId>& way) {
  way.clear();
  for (StackId at = stack; at.index() < trace.stacks().size();
       at = trace.stacks()[at.index()].caller) {
    way.push_back(at);
  }
  std::uint32_t node = root;
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    const StackFrame& frame = trace.stacks()[at->index()];
    node = tree.child(node,
                      tree.frame(trace.text(frame.function), trace.text(frame.file), frame.line));
  }
  return node;
}

std::vector<CallTree> from_samples(const Trace& trace, const CallTreeOptions& options,
                                   std::size_t main_type) {
  std::vector<CallValueType> types;
  for (const SampleType& type : trace.sample_types()) {
    types.push_back({std::string(trace.text(type.name)), std::string(trace.text(type.unit))});
  }
  if (types.empty()) types.push_back({"samples", "count"});
  CallTree empty(types);
  empty.source = CallTree::Source::Samples;
  empty.main_type = main_type;
  std::vector<bool> used(trace.tracks().size());
  for (const Sample& sample : trace.samples()) used[sample.track.index()] = true;
  Roots roots(trace, options, used, empty);
  std::vector<StackId> way;
  for (const Sample& sample : trace.samples()) {
    std::uint32_t root = 0;
    CallTree& tree = roots.tree(sample.track, root);
    const std::uint32_t node = stack_node(trace, tree, root, sample.stack, way);
    tree.add(node, std::min<std::size_t>(sample.type, types.size() - 1), sample.weight);
    if (sample.type == main_type) tree.count(node);
  }
  return roots.take();
}

// "torch/nn/modules/module.py(1520): _call_impl": how PyTorch names Python frames.
std::uint32_t slice_frame(const Trace& trace, CallTree& tree, SliceId slice) {
  const std::string_view name = trace.name(slice);
  if (trace.slices().kind(slice) == SliceKind::PythonFunction) {
    const std::size_t close = name.find("): ");
    const std::size_t open = close == name.npos ? close : name.rfind('(', close);
    std::int32_t line = 0;
    if (open != name.npos && open > 0) {
      const auto parsed = std::from_chars(name.data() + open + 1, name.data() + close, line);
      if (parsed.ec == std::errc() && parsed.ptr == name.data() + close && close + 3 < name.size())
        return tree.frame(name.substr(close + 3), name.substr(0, open), line);
    }
  }
  return tree.frame(name);
}

// The tree node of each slice, in trees with `roots`; what the profiler says of itself is left out.
template <class Visit>
void walk_slices(const Trace& trace, Roots& roots, Visit visit) {
  const SliceColumns& slices = trace.slices();
  std::vector<std::uint32_t> node_of(slices.size());
  const std::vector<std::vector<SliceId>> tracks = slices_outer_first(trace);
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    for (const SliceId slice : tracks[t]) {
      if (slices.kind(slice) == SliceKind::Span) continue;
      std::uint32_t root = 0;
      CallTree& tree = roots.tree(TrackId(t), root);
      SliceId parent = slices.parent(slice);
      while (parent.valid() && slices.kind(parent) == SliceKind::Span)
        parent = slices.parent(parent);
      const std::uint32_t above = parent.valid() ? node_of[parent.index()] : root;
      node_of[slice.index()] = tree.child(above, slice_frame(trace, tree, slice));
      visit(tree, slice, node_of[slice.index()]);
    }
  }
}

std::vector<bool> tracks_with_slices(const Trace& trace) {
  std::vector<bool> used(trace.tracks().size());
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) != SliceKind::Span)
      used[trace.slices().track(slice).index()] = true;
  }
  return used;
}

std::vector<CallTree> from_slices(const Trace& trace, const CallTreeOptions& options) {
  CallTree empty(std::vector<CallValueType>{{"time", "ns"}});
  empty.source = CallTree::Source::Slices;
  Roots roots(trace, options, tracks_with_slices(trace), empty);
  const SliceColumns& slices = trace.slices();
  // Up to where the children of each slice cover it: they come in the order of their starts.
  std::vector<Nanos> covered(slices.size());
  std::vector<std::uint32_t> node_of(slices.size());
  walk_slices(trace, roots, [&](CallTree& tree, SliceId slice, std::uint32_t node) {
    node_of[slice.index()] = node;
    covered[slice.index()] = slices.start(slice);
    tree.add(node, 0, static_cast<double>(slices.duration(slice)));
    tree.count(node);
    const SliceId parent = slices.parent(slice);
    if (!parent.valid() || slices.kind(parent) == SliceKind::Span) return;
    Nanos& until = covered[parent.index()];
    const Nanos begin = std::max(until, slices.start(slice));
    if (slices.end(slice) <= begin) return;
    tree.add(node_of[parent.index()], 0, -static_cast<double>(slices.end(slice) - begin));
    until = slices.end(slice);
  });
  return roots.take();
}

// Where an allocation has no stack, the innermost slice around it on its track stands for it.
std::vector<CallTree> from_allocations(const Trace& trace, const CallTreeOptions& options) {
  CallTree empty(std::vector<CallValueType>{{"alloc_space", "bytes"}});
  empty.source = CallTree::Source::Allocations;
  const SliceColumns& slices = trace.slices();
  std::vector<bool> used(trace.tracks().size());
  std::vector<std::vector<std::size_t>> on_track(trace.tracks().size());
  for (std::size_t i = 0; i < trace.allocations().size(); ++i) {
    const Allocation& allocation = trace.allocations()[i];
    if (allocation.bytes <= 0) continue;
    used[allocation.track.index()] = true;
    on_track[allocation.track.index()].push_back(i);
  }
  Roots roots(trace, options, used, empty);
  const std::vector<std::vector<SliceId>> tracks = slices_outer_first(trace);
  std::vector<StackId> way;
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    std::stable_sort(on_track[t].begin(), on_track[t].end(), [&](std::size_t a, std::size_t b) {
      return trace.allocations()[a].time < trace.allocations()[b].time;
    });
    auto next = tracks[t].begin();
    std::vector<SliceId> open;
    for (const std::size_t i : on_track[t]) {
      const Allocation& allocation = trace.allocations()[i];
      for (; next != tracks[t].end() && slices.start(*next) <= allocation.time; ++next) {
        while (!open.empty() && open.back() != slices.parent(*next)) open.pop_back();
        open.push_back(*next);
      }
      while (!open.empty() && slices.end(open.back()) < allocation.time) open.pop_back();
      std::uint32_t node = 0;
      CallTree& tree = roots.tree(TrackId(t), node);
      if (allocation.stack.valid()) {
        node = stack_node(trace, tree, node, allocation.stack, way);
      } else {
        for (const SliceId slice : open) {
          if (slices.kind(slice) != SliceKind::Span)
            node = tree.child(node, slice_frame(trace, tree, slice));
        }
        if (open.empty()) node = tree.child(node, tree.frame("(outside of everything)"));
      }
      if (allocation.tag.valid()) node = tree.child(node, tree.frame(trace.text(allocation.tag)));
      tree.add(node, 0, static_cast<double>(allocation.bytes));
      tree.count(node);
    }
  }
  return roots.take();
}

constexpr std::string_view kSiteTypes[] = {"alloc_space", "inuse_space", "peak_space",
                                           "alloc_objects"};

// The place of a type among those of allocation sites; kNoType where it is none.
constexpr std::size_t kNoType = SIZE_MAX;
std::size_t site_type(std::string_view weight) {
  if (weight.empty() || weight == "memory") return 0;
  for (std::size_t i = 0; i < std::size(kSiteTypes); ++i) {
    if (kSiteTypes[i] == weight) return i;
  }
  return kNoType;
}

// What each stack allocated over the whole run, still has, had at the peak, and how often.
std::vector<CallTree> from_sites(const Trace& trace, std::size_t main_type) {
  std::vector<CallValueType> types;
  for (const std::string_view name : kSiteTypes) {
    types.push_back({std::string(name), name == "alloc_objects" ? "count" : "bytes"});
  }
  CallTree tree(std::move(types));
  tree.source = CallTree::Source::Sites;
  tree.main_type = main_type;
  std::vector<StackId> way;
  for (const ProcessMemory::Site& site : trace.process_memory().sites) {
    std::uint32_t node = site.stack.valid() ? stack_node(trace, tree, 0, site.stack, way)
                                            : tree.child(0, tree.frame("(outside of everything)"));
    if (site.native) node = tree.child(node, tree.frame("(native memory)"));
    tree.add(node, 0, static_cast<double>(site.allocated_bytes));
    // More may be freed than was allocated since the recording began.
    tree.add(node, 1, static_cast<double>(std::max<std::int64_t>(site.live_bytes(), 0)));
    tree.add(node, 2, static_cast<double>(site.peak_bytes));
    tree.add(node, 3, static_cast<double>(site.allocations));
    tree.count(node, site.allocations);
  }
  std::vector<CallTree> out;
  out.push_back(std::move(tree));
  return out;
}

bool is_time(std::string_view unit) {
  return unit == "ns" || unit == "nanoseconds" || unit == "us" || unit == "ms" || unit == "s" ||
         unit == "microseconds" || unit == "milliseconds" || unit == "seconds";
}

// The type of samples that is asked for; kNone where there is none.
constexpr std::size_t kNone = SIZE_MAX;
std::size_t sample_type(const Trace& trace, const std::string& weight) {
  if (trace.samples().empty()) return kNone;
  const std::vector<SampleType>& types = trace.sample_types();
  if (types.empty()) return weight.empty() || weight == "samples" ? 0 : kNone;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string_view unit = trace.text(types[i].unit);
    if (weight.empty() || trace.text(types[i].name) == weight ||
        (weight == "time" && is_time(unit)) || (weight == "memory" && unit == "bytes") ||
        (weight == "samples" && unit == "count"))
      return i;
  }
  return kNone;
}

Error nothing_there(const Trace& trace, const std::string& weight) {
  std::string known;
  const auto add = [&](std::string_view name) {
    known += (known.empty() ? "" : ", ") + std::string(name);
  };
  for (const SampleType& type : trace.sample_types()) add(trace.text(type.name));
  if (trace.sample_types().empty() && !trace.samples().empty()) add("samples");
  if (trace.slice_count() > 0 || !trace.call_profile().empty()) add("time");
  for (const Allocation& allocation : trace.allocations()) {
    if (allocation.bytes <= 0) continue;
    add("memory");
    break;
  }
  if (!trace.process_memory().sites.empty()) {
    add("memory");
    for (const std::string_view name : kSiteTypes) add(name);
  }
  if (weight.empty() || known.empty()) {
    return {ErrorCode::Unsupported,
            "the trace holds no stacks: neither samples nor slices, calls or allocations",
            {},
            {},
            "'sonde info' tells what it holds"};
  }
  return {
      ErrorCode::UsageError, "the trace has no weight '" + weight + "'", {}, {}, "it has " + known};
}

}  // namespace

Result<std::vector<CallTree>> build_call_trees(const Trace& trace, const CallTreeOptions& options) {
  const std::string& weight = options.weight;
  const bool time = weight.empty() || weight == "time";
  if (const std::size_t type = sample_type(trace, weight); type != kNone)
    return from_samples(trace, options, type);
  const auto not_empty = [](const std::vector<CallTree>& trees) {
    return std::any_of(trees.begin(), trees.end(),
                       [](const CallTree& tree) { return tree.nodes().size() > 1; });
  };
  if (time && trace.slice_count() > 0) {
    std::vector<CallTree> trees = from_slices(trace, options);
    if (not_empty(trees)) return trees;
  }
  if (!trace.call_profile().empty()) {
    for (std::size_t i = 0; i < trace.call_profile().types.size(); ++i) {
      if (!time && trace.text(trace.call_profile().types[i].name) != weight) continue;
      std::vector<CallTree> trees;
      trees.push_back(estimate_call_tree(trace, i));
      if (not_empty(trees)) return trees;
    }
  }
  if (weight.empty() || weight == "memory") {
    std::vector<CallTree> trees = from_allocations(trace, options);
    if (not_empty(trees)) return trees;
  }
  if (const std::size_t type = site_type(weight);
      type != kNoType && !trace.process_memory().sites.empty()) {
    return from_sites(trace, type);
  }
  return nothing_there(trace, weight);
}

}  // namespace sonde
