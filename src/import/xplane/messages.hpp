#pragma once

#include <cstdint>
#include <string_view>

#include "import/xplane/stat.hpp"

namespace sonde {

// An XStat, not yet named. The functions here throw protozero::exception where a message is
// damaged: who reads a message catches it.
struct RawStat {
  std::int64_t metadata_id = 0;
  StatValue::Type type = StatValue::Type::None;
  bool is_reference = false;  // `bits` is the id of a name, whose text is the value
  std::uint64_t bits = 0;     // of numbers
  std::string_view text{};
};
RawStat parse_stat(std::string_view message);

// An XEvent, less its statistics.
struct RawEvent {
  std::int64_t metadata_id = 0;
  std::int64_t offset_ps = 0;
  std::int64_t duration_ps = 0;
  std::int64_t occurrences = 0;  // > 0: a sum over that many events, without a place in time
};

}  // namespace sonde
