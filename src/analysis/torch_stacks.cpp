#include "analysis/torch_stacks.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sonde {
namespace {

constexpr std::uint32_t kUnset = UINT32_MAX;

// Frames of the autograd machinery and of test harnesses say nothing about the user's program: a
// frame that holds both words of a pair is left out.
bool is_hidden(std::string_view frame) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPairs = {{
      {"autograd/__init__", "_make_grads"},
      {"autograd/__init__", "backward"},
      {"torch/tensor", "backward"},
      {"_internal/common_utils", "prof_callable"},
      {"_internal/common_utils", "prof_func_call"},
      {"_internal/common_utils", "prof_meth_call"},
  }};
  return std::any_of(kPairs.begin(), kPairs.end(), [&](const auto& pair) {
    return frame.find(pair.first) != std::string_view::npos &&
           frame.find(pair.second) != std::string_view::npos;
  });
}

// The file has no scope. What has a forward thread belongs to the backward pass, but for the
// engine's frame around it.
bool is_backward(const Trace& trace, const TorchEvent& event) {
  if (!event.slice.valid() || event.annotation) return false;
  const OperatorRow* row = trace.operators().find(event.slice);
  return row != nullptr && row->forward_thread > 0 &&
         !trace.name(event.slice).starts_with("autograd::engine::evaluate_function");
}

std::uint64_t forward_key(std::int64_t sequence, TrackId thread) {
  return mix_bits(static_cast<std::uint64_t>(sequence)) ^ thread.value;
}

}  // namespace

TorchStacks::TorchStacks(const Trace& trace, const TorchResults& results,
                         const std::vector<TorchEvent>& events, std::size_t frames)
    : trace_(trace), frames_(frames), paths_(results.list.size(), kNone) {
  const bool python =
      std::any_of(results.list.begin(), results.list.end(),
                  [](const TorchResult& result) { return result.role == TorchRole::Python; });
  if (python) {
    find_paths_from_python(results.list);
  } else {
    find_paths_from_call_stacks(results.list);
  }
  assign(results, events);
}

std::uint32_t TorchStacks::frame(std::string_view text) {
  const auto [at, fresh] =
      frame_ids_.try_emplace(text, static_cast<std::uint32_t>(frame_texts_.size()));
  if (fresh) {
    frame_texts_.push_back(text);
    frame_hidden_.push_back(is_hidden(text));
  }
  return at->second;
}

std::uint32_t TorchStacks::node(std::uint32_t caller, std::string_view text) {
  const std::uint32_t id = frame(text);
  if (frame_hidden_[id]) return caller;
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  const std::uint64_t key = std::uint64_t{caller} << 32 | id;
  const std::uint32_t found = node_ids_.get_or_insert(key, next);
  if (found == next) nodes_.push_back({caller, id});
  return found;
}

// An entry's path is that of its parent, with the parent itself where that is a Python function.
void TorchStacks::find_paths_from_python(const std::vector<TorchResult>& list) {
  std::vector<std::uint32_t> inside(list.size(), kNone);  // path of what a Python function calls
  const auto set_path = [&](std::size_t i) {
    const std::uint32_t parent = list[i].parent;
    if (parent != TorchResult::kNone) {
      paths_[i] = list[parent].role == TorchRole::Python ? inside[parent] : paths_[parent];
    }
    if (list[i].role == TorchRole::Python) inside[i] = node(paths_[i], trace_.name(list[i].slice));
  };
  // Parents by time come first in the list. Parents by link may not: operators have theirs after
  // the first round, calls after the second, device work after the third.
  for (std::size_t i = 0; i < list.size(); ++i) set_path(i);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].own()) set_path(i);
    }
  }
}

void TorchStacks::find_paths_from_call_stacks(const std::vector<TorchResult>& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const TorchResult& result = list[i];
    if (result.role != TorchRole::Operator) continue;
    const OperatorRow* row = trace_.operators().find(result.slice);
    if (row != nullptr && row->stack.valid()) paths_[i] = path_of_call_stack(row->stack);
  }
}

std::uint32_t TorchStacks::path_of_call_stack(StringId stack) {
  bool fresh = false;
  std::uint32_t& path = call_stack_paths_.get_or_insert(stack.value, kNone, &fresh);
  if (!fresh) return path;
  std::string_view rest = trace_.text(stack);
  while (!rest.empty()) {  // outermost last
    const std::size_t cut = rest.rfind(';');
    path = node(path, cut == std::string_view::npos ? rest : rest.substr(cut + 1));
    rest = rest.substr(0, cut == std::string_view::npos ? 0 : cut);
  }
  return path;
}

std::uint32_t TorchStacks::head_of(std::uint32_t path) {
  path_heads_.resize(nodes_.size(), kUnset);
  if (path_heads_[path] != kUnset) return path_heads_[path];
  std::vector<std::uint32_t> frames;
  for (std::uint32_t at = path; at != kNone && frames.size() < frames_; at = nodes_[at].caller) {
    frames.push_back(nodes_[at].frame);
  }
  std::uint32_t head = kNone;
  if (!frames.empty()) {
    const auto [at, fresh] =
        head_ids_.try_emplace(std::move(frames), static_cast<std::uint32_t>(heads_.size()));
    if (fresh) heads_.push_back(at->first);
    head = at->second;
  }
  path_heads_[path] = head;
  return head;
}

void TorchStacks::assign(const TorchResults& results, const std::vector<TorchEvent>& events) {
  const auto row_of = [&](std::uint32_t i) { return trace_.operators().find(events[i].slice); };
  std::vector<std::uint32_t> backward(events.size(), TorchEvent::kNone);  // itself or an ancestor
  std::vector<std::uint32_t> paths(events.size(), kNone);
  FlatMap<std::uint32_t> forward;  // path of the first event of a sequence number and thread
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const TorchEvent& event = events[i];
    if (is_backward(trace_, event)) {
      backward[i] = i;
    } else if (event.parent != TorchEvent::kNone) {
      backward[i] = backward[event.parent];
    }
    if (event.result != TorchEvent::kNone) paths[i] = paths_[event.result];
    if (backward[i] != TorchEvent::kNone) continue;
    const OperatorRow* row = event.slice.valid() ? row_of(i) : nullptr;
    const std::int64_t sequence = row == nullptr || row->sequence == kNoNumber ? -1 : row->sequence;
    forward.get_or_insert(forward_key(sequence, event.thread), paths[i]);
  }
  event_heads_.resize(events.size());
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (backward[i] != TorchEvent::kNone) {
      const OperatorRow* row = row_of(backward[i]);
      const std::int64_t sequence = row->sequence == kNoNumber ? -1 : row->sequence;
      const TrackId* thread =
          results.forward_threads.find(static_cast<std::uint64_t>(row->forward_thread));
      const std::uint32_t* path =
          thread == nullptr ? nullptr : forward.find(forward_key(sequence, *thread));
      paths[i] = path == nullptr ? kNone : *path;
    }
    event_heads_[i] = head_of(paths[i]);
  }
}

std::vector<std::string> TorchStacks::frames(std::uint32_t head) const {
  std::vector<std::string> texts;
  for (const std::uint32_t frame : heads_[head]) texts.emplace_back(frame_texts_[frame]);
  return texts;
}

}  // namespace sonde
