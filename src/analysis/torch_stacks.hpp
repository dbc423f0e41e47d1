#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/torch_events.hpp"
#include "base/flat_map.hpp"
#include "trace/trace.hpp"

namespace sonde {

// The Python stack behind each event. Stacks are paths in one tree of calls, so that a deep stack
// costs no more than a shallow one.
class TorchStacks {
 public:
  // The empty stack, of paths and of heads alike.
  static constexpr std::uint32_t kNone = 0;

  // Keeps the innermost `frames` of the stack of each of `events`, which are nested and folded: an
  // event of the backward pass has the stack of its forward operator.
  TorchStacks(const Trace& trace, const TorchResults& results,
              const std::vector<TorchEvent>& events, std::size_t frames);

  // The number of the innermost frames of event `i`; equal numbers, equal frames.
  std::uint32_t head(std::size_t i) const { return event_heads_[i]; }
  // The frames behind a number, innermost first.
  std::vector<std::string> frames(std::uint32_t head) const;

 private:
  struct Node {
    std::uint32_t caller = kNone;
    std::uint32_t frame = 0;
  };

  std::uint32_t frame(std::string_view text);
  std::uint32_t node(std::uint32_t caller, std::string_view frame);
  std::uint32_t path_of_call_stack(StringId stack);
  std::uint32_t head_of(std::uint32_t path);
  void find_paths_from_python(const std::vector<TorchResult>& list);
  void find_paths_from_call_stacks(const std::vector<TorchResult>& list);
  void assign(const TorchResults& results, const std::vector<TorchEvent>& events);

  const Trace& trace_;
  std::size_t frames_;
  std::vector<Node> nodes_{1};
  FlatMap<std::uint32_t> node_ids_;
  std::vector<std::string_view> frame_texts_;
  std::vector<bool> frame_hidden_;
  std::unordered_map<std::string_view, std::uint32_t> frame_ids_;
  std::vector<std::uint32_t> paths_;  // by result
  FlatMap<std::uint32_t> call_stack_paths_;
  std::vector<std::vector<std::uint32_t>> heads_{1};
  std::map<std::vector<std::uint32_t>, std::uint32_t> head_ids_;
  std::vector<std::uint32_t> path_heads_;  // by node; UINT32_MAX: not asked for yet
  std::vector<std::uint32_t> event_heads_;
};

}  // namespace sonde
