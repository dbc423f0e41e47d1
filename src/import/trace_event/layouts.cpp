#include "import/trace_event/layouts.hpp"

#include <cstring>

namespace sonde {
namespace {

std::uint64_t load8(const char* p) {
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

[[gnu::always_inline]] inline bool equal_bytes(const char* a, const char* b, std::size_t size) {
  if (size < 8) {
    for (std::size_t i = 0; i < size; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  for (std::size_t i = 0; i + 8 < size; i += 8) {
    if (load8(a + i) != load8(b + i)) return false;
  }
  return load8(a + size - 8) == load8(b + size - 8);
}

// A value that the glue may hold: a string without escapes.
bool is_plain_string(std::string_view value) {
  return value.size() >= 2 && value.front() == '"' && value.find('\\') == std::string_view::npos;
}

}  // namespace

void EventLayouts::clear() {
  nodes_.assign(1, Node{});
  glue_.clear();
}

bool EventLayouts::read(std::string_view text, Event& event, InputPredictor* predictor) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const char* const glues = glue_.data();
  const char* args = nullptr;
  std::uint32_t parent = 0;
  for (;;) {
    // The child whose glue stands here; what was met last is looked at first.
    std::uint32_t here = nodes_[parent].child;
    std::uint32_t before = kNone;
    const auto left = static_cast<std::size_t>(end - at);
    while (here != kNone && (nodes_[here].glue_size > left ||
                             !equal_bytes(at, glues + nodes_[here].glue, nodes_[here].glue_size))) {
      before = here;
      here = nodes_[here].sibling;
    }
    if (here == kNone) return false;
    Node& node = nodes_[here];
    if (before != kNone) {
      nodes_[before].sibling = node.sibling;
      node.sibling = nodes_[parent].child;
      nodes_[parent].child = here;
    }
    if (node.phase != '\0') event.phase = node.phase;
    if (node.category_size != 0) {
      event.category = {{at + node.category_at, node.category_size}, false};
      event.category_id = &node.category_id;
    }
    if (node.args_begin != 0) {
      args = at + node.args_begin - 1;
      if (predictor != nullptr && !event.name.text.empty())
        event.expected = &predictor->expect(event.name.text);
    }
    if (node.args_end != 0 && args != nullptr) {
      event.args_text = {args, static_cast<std::size_t>(at + node.args_end - 1 - args)};
    }
    at += node.glue_size;
    if (node.ends) return at == end;
    JsonCursor in({at, static_cast<std::size_t>(end - at)});
    if (!read_field(in, node.field, event)) return false;
    at = in.position();
    parent = here;
  }
}

void EventLayouts::learn(std::string_view text, const std::vector<EventStep>& steps,
                         std::uint32_t args_begin, std::uint32_t args_end) {
  std::uint32_t parent = 0;
  std::uint32_t glue_begin = 0;
  Node node;
  const auto add = [&](std::uint32_t glue_end) {
    if (glue_end - glue_begin > kMaxGlue) return false;
    const auto within = [&](std::uint32_t place) {
      return place > glue_begin && place <= glue_end;
    };
    // The brace itself lies before the place behind it.
    if (args_begin != 0 && within(args_begin + 1))
      node.args_begin = static_cast<std::uint16_t>(args_begin - glue_begin + 1);
    if (args_end != 0 && within(args_end))
      node.args_end = static_cast<std::uint16_t>(args_end - glue_begin + 1);
    parent = find_or_add(parent, node, text.substr(glue_begin, glue_end - glue_begin));
    node = {};
    return parent != kNone;
  };
  for (const EventStep& step : steps) {
    const std::string_view value = text.substr(step.begin, step.end - step.begin);
    const std::uint32_t glue_size = step.end - glue_begin;
    if (step.field == Field::Phase && node.phase == '\0' && is_plain_string(value) &&
        value.size() > 2 && glue_size <= kMaxGlue) {
      node.phase = value[1];
      continue;  // the glue goes on behind it
    }
    if (step.field == Field::Category && node.category_size == 0 && is_plain_string(value) &&
        value.size() > 2 && glue_size <= kMaxGlue) {
      node.category_at = static_cast<std::uint16_t>(step.begin + 1 - glue_begin);
      node.category_size = static_cast<std::uint16_t>(value.size() - 2);
      continue;
    }
    node.field = step.field;
    if (!add(step.begin)) return;
    glue_begin = step.end;
  }
  node.ends = true;
  add(static_cast<std::uint32_t>(text.size()));
}

std::uint32_t EventLayouts::find_or_add(std::uint32_t parent, const Node& node,
                                        std::string_view glue) {
  int siblings = 0;
  for (std::uint32_t at = nodes_[parent].child; at != kNone; at = nodes_[at].sibling) {
    const Node& other = nodes_[at];
    if (std::string_view(glue_).substr(other.glue, other.glue_size) == glue &&
        other.field == node.field && other.ends == node.ends) {
      return at;
    }
    if (++siblings == kMaxSiblings) return kNone;
  }
  if (nodes_.size() == kMaxNodes) return kNone;
  const auto added = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  Node& fresh = nodes_.back();
  fresh.glue = static_cast<std::uint32_t>(glue_.size());
  fresh.glue_size = static_cast<std::uint16_t>(glue.size());
  fresh.sibling = nodes_[parent].child;
  nodes_[parent].child = added;
  glue_ += glue;
  return added;
}

}  // namespace sonde
