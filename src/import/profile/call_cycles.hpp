#pragma once

#include <cstdint>
#include <vector>

#include "trace/call_profile.hpp"

namespace sonde {

// A number for each function: functions that call each other in a circle have the same one.
std::vector<std::uint32_t> call_cycles(const CallProfile& profile);

}  // namespace sonde
