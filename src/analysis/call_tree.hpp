#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"
#include "base/result.hpp"
#include "trace/trace.hpp"

namespace sonde {

// A function or a named slice. The texts live in the trace or in the tree.
struct CallFrame {
  std::string_view name;
  std::string_view file;
  std::int32_t line = 0;
};

// What the values of a tree count.
struct CallValueType {
  std::string name;  // "time", "cpu", "inuse_space", "samples"
  std::string unit;  // "ns", "bytes", "count", or empty
};

// Folded stacks: every different path of calls once, with what was spent at its end. Node 0 is the
// root, and a node stands behind its parent.
class CallTree {
 public:
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t frame = 0;  // the root has none
    std::int64_t count = 0;   // slices, calls, samples or allocations that ended here
  };
  enum class Source : std::uint8_t { Samples, Slices, CallProfile, Allocations, Sites };

  explicit CallTree(std::vector<CallValueType> types) : types_(std::move(types)) {
    nodes_.emplace_back();
    self_.resize(types_.size());
  }

  std::uint32_t frame(std::string_view name, std::string_view file = {}, std::int32_t line = 0);
  // A text that the tree keeps.
  std::string_view keep(std::string text) { return texts_->emplace_back(std::move(text)); }
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame);
  void add(std::uint32_t node, std::size_t type, double value) {
    self_[node * types_.size() + type] += value;
  }
  void count(std::uint32_t node, std::int64_t times = 1) { nodes_[node].count += times; }

  const std::vector<CallValueType>& types() const { return types_; }
  const std::vector<CallFrame>& frames() const { return frames_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const CallFrame& frame_of(std::uint32_t node) const { return frames_[nodes_[node].frame]; }
  double self(std::uint32_t node, std::size_t type) const {
    return self_[node * types_.size() + type];
  }
  // With all below, of each node.
  std::vector<double> totals(std::size_t type) const;

  std::string title;  // of the track, where there is a tree for each
  TrackId track;
  Source source = Source::Samples;
  std::size_t main_type = 0;  // the one that was asked for
  bool estimated = false;     // made of sums that know callers, not stacks

 private:
  std::vector<CallValueType> types_;
  std::vector<CallFrame> frames_;
  std::vector<Node> nodes_;
  std::vector<double> self_;
  // Shared with copies: frames point into it.
  std::shared_ptr<std::deque<std::string>> texts_ = std::make_shared<std::deque<std::string>>();
  FlatMap<std::uint32_t> frame_ids_;
  FlatMap<std::uint32_t> node_ids_;
};

struct CallTreeOptions {
  // "time", "memory", "samples" or the name of a type of samples; empty: the best that there is, in
  // the order samples, slices, call profile, allocations, places of allocations. Of these places
  // there are also "alloc_space" (as "memory"), "inuse_space", "peak_space" and "alloc_objects".
  std::string weight;
  // A tree for each track, instead of one in which the tracks, where there are several, are the
  // outermost frames.
  bool by_track = false;
};

// Never empty; an Error where the trace has nothing of the kind.
Result<std::vector<CallTree>> build_call_trees(const Trace& trace, const CallTreeOptions& options);

// What a track is called in lists and graphs: "thread 12 (python)", "GPU 0 stream 7".
std::string track_label(const Trace& trace, TrackId track);

}  // namespace sonde
