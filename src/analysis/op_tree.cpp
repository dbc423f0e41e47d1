#include "analysis/op_tree.hpp"

#include <algorithm>

#include "base/flat_map.hpp"
#include "trace/external_ids.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = OpNode::kNone;

// A list of items that are chained through a `next` column; appending keeps their order.
struct Chain {
  std::uint32_t head = kNone;
  std::uint32_t tail = kNone;

  void append(std::uint32_t item, std::vector<std::uint32_t>& next) {
    if (head == kNone) {
      head = item;
    } else {
      next[tail] = item;
    }
    tail = item;
  }
  void append(const Chain& other, std::vector<std::uint32_t>& next) {
    if (other.head == kNone) return;
    if (head == kNone) {
      head = other.head;
    } else {
      next[tail] = other.head;
    }
    tail = other.tail;
  }
};

bool is_tree_op(SliceKind kind) { return kind == SliceKind::Step || is_host_operator(kind); }

}  // namespace

// Works in four steps: find operators, launches and device work in file order; hang device work
// under launches; hang launches under operators; nest the operators of each thread.
class OpTreeBuilder {
 public:
  OpTreeBuilder(const Trace& trace, OpTree& tree)
      : trace_(trace), slices_(trace.slices()), tree_(tree) {}

  void build() {
    collect();
    group_ops_by_thread();
    attach_launches();
    for (std::size_t t = 0; t < tree_.threads_.size(); ++t) nest(t);
  }

 private:
  // What one correlation id stands for while the file is walked.
  struct Correlation {
    std::uint32_t launch = kNone;  // the latest one
    Chain pending;                 // device work before any launch
  };

  void collect() {
    FlatMap<Correlation> correlations;
    std::vector<Chain> device_of_launch;  // positions in `device`
    std::vector<SliceId> device;
    std::vector<std::uint32_t> next;
    std::vector<std::uint32_t> without_correlation;
    std::vector<std::int64_t> pending_order;

    for (const SliceId slice : all_slices(trace_)) {
      const SliceKind kind = slices_.kind(slice);
      if (is_device_work(kind)) {
        const auto item = static_cast<std::uint32_t>(device.size());
        device.push_back(slice);
        next.push_back(kNone);
        const DeviceRow* row = trace_.device_work().find(slice);
        if (!row || row->correlation == kNoNumber) {
          without_correlation.push_back(item);
          continue;
        }
        Correlation& c =
            correlations.get_or_insert(static_cast<std::uint64_t>(row->correlation), {});
        if (c.launch != kNone) {
          device_of_launch[c.launch].append(item, next);
        } else {
          if (c.pending.head == kNone) pending_order.push_back(row->correlation);
          c.pending.append(item, next);
        }
      } else if (is_launch_call(kind)) {
        const auto launch = static_cast<std::uint32_t>(tree_.launches_.size());
        tree_.launches_.push_back({slice});
        device_of_launch.emplace_back();
        const LaunchRow* row = trace_.launches().find(slice);
        if (!row || row->correlation == kNoNumber) continue;
        Correlation& c =
            correlations.get_or_insert(static_cast<std::uint64_t>(row->correlation), {});
        device_of_launch[launch].append(c.pending, next);
        c.pending = {};
        c.launch = launch;
      } else if (is_tree_op(kind)) {
        ops_.push_back(slice);
      }
    }

    for (const std::int64_t correlation : pending_order) {
      const Correlation& c = *correlations.find(static_cast<std::uint64_t>(correlation));
      for (std::uint32_t i = c.pending.head; i != kNone; i = next[i]) {
        tree_.orphans_.push_back(device[i]);
      }
    }
    // Files without correlation ids may still tell by arrows who launched what.
    for (const std::uint32_t item : without_correlation) {
      const std::uint32_t launch = launch_index(trace_.launch_to_device().source(device[item]));
      if (launch == kNone) {
        tree_.orphans_.push_back(device[item]);
      } else {
        device_of_launch[launch].append(item, next);
      }
    }

    for (std::size_t l = 0; l < tree_.launches_.size(); ++l) {
      LaunchNode& launch = tree_.launches_[l];
      launch.first_device = static_cast<std::uint32_t>(tree_.launch_device_.size());
      for (std::uint32_t i = device_of_launch[l].head; i != kNone; i = next[i]) {
        tree_.launch_device_.push_back(device[i]);
        launch.device_time += slices_.duration(device[i]);
        ++launch.device_count;
      }
    }
  }

  std::uint32_t launch_index(SliceId slice) const {
    const auto& all = tree_.launches_;
    const auto at = std::lower_bound(all.begin(), all.end(), slice,
                                     [](const LaunchNode& l, SliceId s) { return l.slice < s; });
    if (!slice.valid() || at == all.end() || at->slice != slice) return kNone;
    return static_cast<std::uint32_t>(at - all.begin());
  }

  std::uint32_t op_index(SliceId slice) const {
    const auto at = std::lower_bound(ops_.begin(), ops_.end(), slice);
    if (!slice.valid() || at == ops_.end() || *at != slice) return kNone;
    return static_cast<std::uint32_t>(at - ops_.begin());
  }

  void group_ops_by_thread() {
    thread_of_track_.assign(trace_.tracks().size(), kNone);
    for (std::uint32_t op = 0; op < ops_.size(); ++op) {
      const TrackId track = slices_.track(ops_[op]);
      std::uint32_t& thread = thread_of_track_[track.index()];
      if (thread == kNone) {
        thread = static_cast<std::uint32_t>(tree_.threads_.size());
        tree_.threads_.push_back({track, 0, 0, {}});
        ops_of_thread_.emplace_back();
      }
      ops_of_thread_[thread].push_back(op);
    }
  }

  void attach_launches() {
    launches_of_op_.resize(ops_.size());
    next_launch_.assign(tree_.launches_.size(), kNone);
    const bool ignore_ids = external_ids_are_correlations(trace_);

    FlatMap<Chain> by_external;
    std::vector<std::uint32_t> without_id;
    for (std::uint32_t l = 0; l < tree_.launches_.size(); ++l) {
      const LaunchRow* row = trace_.launches().find(tree_.launches_[l].slice);
      const std::int64_t id = row && !ignore_ids ? row->external_id : kNoNumber;
      if (id == kNoNumber) {
        without_id.push_back(l);
        continue;
      }
      by_external.get_or_insert(static_cast<std::uint64_t>(id), {}).append(l, next_launch_);
      if (id == 0) add_to_root(l);
    }

    // The first operator with an id gets all its calls.
    for (const std::vector<std::uint32_t>& ops : ops_of_thread_) {
      for (const std::uint32_t op : ops) {
        const OperatorRow* row = trace_.operators().find(ops_[op]);
        if (!row || row->external_id == kNoNumber) continue;
        Chain* calls = by_external.find(static_cast<std::uint64_t>(row->external_id));
        if (!calls) continue;
        launches_of_op_[op] = *calls;
        *calls = {};
      }
    }

    // Calls whose id leads to no operator: where the importer found one by other means, use it.
    for (std::uint32_t l = 0; l < tree_.launches_.size(); ++l) {
      const LaunchRow* row = trace_.launches().find(tree_.launches_[l].slice);
      if (!row || ignore_ids || row->external_id == kNoNumber || row->external_id == 0) continue;
      Chain* calls = by_external.find(static_cast<std::uint64_t>(row->external_id));
      if (!calls || calls->head == kNone) continue;
      const Chain unclaimed = *calls;
      *calls = {};
      for (std::uint32_t i = unclaimed.head; i != kNone;) {
        const std::uint32_t following = next_launch_[i];
        next_launch_[i] = kNone;
        add_by_link(i);
        i = following;
      }
    }
    for (const std::uint32_t l : without_id) {
      if (!add_by_link(l)) add_to_root(l);
    }
  }

  bool add_by_link(std::uint32_t launch) {
    const SliceId slice = tree_.launches_[launch].slice;
    const std::uint32_t op = op_index(trace_.operator_to_launch().source(slice));
    if (op == kNone) return false;
    launches_of_op_[op].append(launch, next_launch_);
    return true;
  }

  void add_to_root(std::uint32_t launch) {
    const TrackId track = slices_.track(tree_.launches_[launch].slice);
    const std::uint32_t thread = thread_of_track_[track.index()];
    if (thread != kNone) tree_.threads_[thread].root_launches.push_back(launch);
  }

  // A node while its thread is nested; children are chained through next_sibling.
  struct Draft {
    std::uint32_t op = kNone;
    std::uint32_t first_child = kNone;
    std::uint32_t last_child = kNone;
    std::uint32_t next_sibling = kNone;
    std::uint32_t parent = kNone;  // after folding
    std::uint32_t final_index = kNone;

    bool has_one_child() const { return first_child != kNone && first_child == last_child; }
  };

  SliceId slice_of(const Draft& draft) const { return ops_[draft.op]; }

  std::vector<Draft> draft_thread(std::size_t thread) {
    std::vector<std::uint32_t>& order = ops_of_thread_[thread];
    const auto outer_first = [&](std::uint32_t a, std::uint32_t b) {
      const SliceId x = ops_[a];
      const SliceId y = ops_[b];
      if (slices_.start(x) != slices_.start(y)) return slices_.start(x) < slices_.start(y);
      return slices_.end(x) > slices_.end(y);
    };
    if (!std::is_sorted(order.begin(), order.end(), outer_first)) {
      std::stable_sort(order.begin(), order.end(), outer_first);
    }

    std::vector<Draft> drafts(1);  // 0 is the root
    drafts.reserve(order.size() + 1);
    std::vector<std::uint32_t> open{0};
    for (const std::uint32_t op : order) {
      const Nanos start = slices_.start(ops_[op]);
      const Nanos end = slices_.end(ops_[op]);
      while (open.size() > 1 && start >= slices_.end(slice_of(drafts[open.back()]))) {
        open.pop_back();
      }
      const std::uint32_t parent = open.back();
      if (parent != 0 && end > slices_.end(slice_of(drafts[parent]))) {
        ++tree_.dropped_;
        continue;
      }
      const auto index = static_cast<std::uint32_t>(drafts.size());
      drafts.push_back({});
      drafts.back().op = op;
      if (drafts[parent].first_child == kNone) {
        drafts[parent].first_child = index;
      } else {
        drafts[drafts[parent].last_child].next_sibling = index;
      }
      drafts[parent].last_child = index;
      open.push_back(index);
    }
    return drafts;
  }

  bool same_operator(const Draft& node, const Draft& child) const {
    return slices_.name(slice_of(node)) == slices_.name(slice_of(child)) &&
           slices_.kind(slice_of(node)) != SliceKind::Step &&
           slices_.kind(slice_of(child)) != SliceKind::Step;
  }

  // Folds repeated operators and writes the nodes out in post-order. With a stack of its own,
  // since traces nest deeper than the call stack.
  void nest(std::size_t thread) {
    std::vector<Draft> drafts = draft_thread(thread);
    struct Frame {
      std::uint32_t draft;
      std::uint32_t calls_of;  // the op whose launches the node has, after folding
      std::uint32_t next_child;
      Nanos children_host = 0;
      Nanos children_device = 0;
    };
    std::vector<Frame> stack;
    const auto enter = [&](std::uint32_t index) {
      Draft& node = drafts[index];
      std::uint32_t calls_of = node.op;
      while (index != 0 && node.has_one_child() && same_operator(node, drafts[node.first_child])) {
        const Draft& child = drafts[node.first_child];
        calls_of = child.op;
        node.last_child = child.last_child;
        node.first_child = child.first_child;
      }
      stack.push_back({index, calls_of, node.first_child});
    };

    const auto first = static_cast<std::uint32_t>(tree_.nodes_.size());
    enter(0);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next_child != kNone) {
        const std::uint32_t child = frame.next_child;
        frame.next_child = drafts[child].next_sibling;
        drafts[child].parent = frame.draft;
        enter(child);
        continue;
      }
      const Frame done = frame;
      stack.pop_back();
      if (done.draft == 0) break;
      const OpNode& node =
          emit(drafts[done.draft], done.calls_of, done.children_host, done.children_device);
      stack.back().children_host += node.host_total;
      stack.back().children_device += node.device_total;
    }
    for (const Draft& draft : drafts) {
      if (draft.final_index == kNone || draft.parent == 0) continue;
      tree_.nodes_[draft.final_index].parent = drafts[draft.parent].final_index;
    }
    tree_.threads_[thread].first_node = first;
    tree_.threads_[thread].end_node = static_cast<std::uint32_t>(tree_.nodes_.size());
  }

  const OpNode& emit(Draft& draft, std::uint32_t calls_of, Nanos children_host,
                     Nanos children_device) {
    OpNode node;
    node.slice = slice_of(draft);
    node.first_launch = static_cast<std::uint32_t>(tree_.node_launches_.size());
    Nanos call_time = 0;
    for (std::uint32_t l = launches_of_op_[calls_of].head; l != kNone; l = next_launch_[l]) {
      tree_.node_launches_.push_back(l);
      ++node.launch_count;
      call_time += slices_.duration(tree_.launches_[l].slice);
      node.device_self += tree_.launches_[l].device_time;
    }
    node.host_total = slices_.duration(node.slice);
    node.host_self = node.host_total - children_host - call_time;
    node.device_total = node.device_self + children_device;
    draft.final_index = static_cast<std::uint32_t>(tree_.nodes_.size());
    return tree_.nodes_.emplace_back(node);
  }

  const Trace& trace_;
  const SliceColumns& slices_;
  OpTree& tree_;

  std::vector<SliceId> ops_;  // in file order
  std::vector<std::uint32_t> thread_of_track_;
  std::vector<std::vector<std::uint32_t>> ops_of_thread_;
  std::vector<Chain> launches_of_op_;
  std::vector<std::uint32_t> next_launch_;
};

OpTree::OpTree(const Trace& trace) { OpTreeBuilder(trace, *this).build(); }

bool is_data_loading(SliceKind kind, std::string_view name) {
  return kind == SliceKind::DataLoader ||
         (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__"));
}

bool is_listed_operator(const Trace& trace, SliceId slice) {
  const SliceKind kind = trace.slices().kind(slice);
  if (!is_host_operator(kind) || kind == SliceKind::Optimizer) return false;
  const std::string_view name = trace.name(slice);
  return !is_data_loading(kind, name) && !name.starts_with("Optimizer.");
}

}  // namespace sonde
