#include <queue>
#include <utility>

#include "analysis/torch_results.hpp"

namespace sonde {
namespace {

class ResultTree {
 public:
  ResultTree(const Trace& trace, TorchResults& results)
      : trace_(trace),
        results_(results),
        list_(results.list),
        finished_(list_.size(), false),
        top_(trace.tracks().size() + 1, TorchResult::kNone) {}

  void build() {
    for (std::uint32_t i = 0; i < list_.size(); ++i) {
      if (!list_[i].own() && list_[i].parent != TorchResult::kNone) finished_[i] = true;
    }
    for (std::uint32_t i = 0; i < list_.size(); ++i) {
      TorchResult& entry = list_[i];
      while (!open_.empty() && open_.top().first < entry.start) {
        const std::uint32_t ended = open_.top().second;
        open_.pop();
        close(ended);
      }
      if (finished_[i]) continue;
      std::uint32_t& top = top_[slot(entry.thread)];
      entry.parent = top == TorchResult::kNone ? forward_frame(entry) : top;
      if (entry.end > entry.start) {
        top = i;
        open_.push({entry.end, i});
      } else {
        finished_[i] = true;
      }
    }
  }

 private:
  // Entries without a thread (no operator in the trace) share one.
  std::size_t slot(TrackId thread) const {
    return thread.valid() ? thread.index() : trace_.tracks().size();
  }

  // A backward operator at the bottom of its thread continues the forward thread's stack.
  std::uint32_t forward_frame(const TorchResult& entry) const {
    if (entry.role != TorchRole::Operator || entry.annotation) return TorchResult::kNone;
    const OperatorRow* row = trace_.operators().find(entry.slice);
    if (row == nullptr || row->forward_thread <= 0) return TorchResult::kNone;
    const auto number = static_cast<std::uint64_t>(row->forward_thread);
    const TrackId* thread = results_.forward_threads.find(number);
    return thread == nullptr ? TorchResult::kNone : top_[slot(*thread)];
  }

  // Whatever lies above `i` on its thread overlaps it partly: it ends with it.
  void close(std::uint32_t i) {
    if (finished_[i]) return;
    std::uint32_t& top = top_[slot(list_[i].thread)];
    for (std::uint32_t above = top; above != TorchResult::kNone && above != i;
         above = list_[above].parent) {
      finished_[above] = true;
    }
    finished_[i] = true;
    top = list_[i].parent;
  }

  using Open = std::pair<Nanos, std::uint32_t>;  // end, entry

  const Trace& trace_;
  const TorchResults& results_;
  std::vector<TorchResult>& list_;
  std::vector<bool> finished_;
  std::vector<std::uint32_t> top_;  // by thread
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

}  // namespace

void nest_torch_results(const Trace& trace, TorchResults& results) {
  ResultTree(trace, results).build();
}

}  // namespace sonde
