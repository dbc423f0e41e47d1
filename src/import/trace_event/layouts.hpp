#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/trace_event/fields.hpp"

namespace sonde {

// One value of an event as the parser met it: where it stands, and what it is.
struct EventStep {
  Field field;
  std::uint32_t begin;  // of the value, from the start of the event
  std::uint32_t end;
};

// The layouts of the events met so far. A writer prints its events from a few templates: between
// two values always stands the same text. That text is remembered as a tree and compared as a
// whole, which is far cheaper than to read each key again. Phase and category belong to the
// template.
//
// What matches a remembered layout is read exactly as the parser would read it; all else is left to
// the parser, which teaches its layout. Each thread has its own layouts.
class EventLayouts {
 public:
  EventLayouts() { clear(); }

  // False, with `event` in any state, where no layout fits.
  bool read(std::string_view text, Event& event, InputPredictor* predictor);

  // `steps`: the values of an event that the parser read, in order. `args_begin`, `args_end`: where
  // the arguments' braces stand; 0 where there are none.
  void learn(std::string_view text, const std::vector<EventStep>& steps, std::uint32_t args_begin,
             std::uint32_t args_end);

  // The cached category numbers go with their strings.
  void clear();

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  // Bounds for a file in which no two events are alike.
  static constexpr std::size_t kMaxNodes = 2048;
  static constexpr std::size_t kMaxGlue = 1024;
  static constexpr int kMaxSiblings = 24;

  // The text between two values, and the value behind it.
  struct Node {
    std::uint32_t glue = 0;
    std::uint16_t glue_size = 0;
    std::uint16_t category_at = 0;  // the category's text within the glue
    std::uint16_t category_size = 0;
    std::uint16_t args_begin = 0;  // 1 + the place of the arguments' opening brace; 0: not here
    std::uint16_t args_end = 0;    // 1 + the place behind the closing one
    char phase = '\0';             // where the glue holds it
    bool ends = false;             // the glue reaches to the end of the event
    Field field = Field::Ignored;
    std::uint32_t child = kNone;
    std::uint32_t sibling = kNone;
    std::uint32_t category_id = kNone;  // for the reader's own use; see Event::category_id
  };

  std::uint32_t find_or_add(std::uint32_t parent, const Node& node, std::string_view glue);

  std::vector<Node> nodes_;  // the first is the root
  std::string glue_;
};

}  // namespace sonde
