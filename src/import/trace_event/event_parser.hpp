#pragma once

#include <string_view>
#include <vector>

#include "import/trace_event/event.hpp"
#include "import/trace_event/input_predictor.hpp"
#include "import/trace_event/layouts.hpp"

namespace sonde {

// Reads one event after the other, and learns from each how the next ones will look.
class EventParser {
 public:
  // Fills `event` from the text of one JSON object; false where it is not well-formed.
  bool parse(std::string_view text, Event& event);

  // What was learnt holds numbers of a string pool: forget it before the pool goes.
  void forget();

 private:
  EventLayouts layouts_;
  InputPredictor predictor_;
  std::vector<EventStep> steps_;
};

}  // namespace sonde
