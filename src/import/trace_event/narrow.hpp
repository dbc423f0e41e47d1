#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

namespace sonde {

// Numbers of the file as the columns hold them; -1 for what does not fit.
inline std::int32_t small(std::int64_t value) {
  return value >= INT32_MIN && value <= INT32_MAX ? static_cast<std::int32_t>(value) : -1;
}

inline float narrow(double value) {
  return std::fabs(value) <= FLT_MAX ? static_cast<float>(value) : -1;
}

}  // namespace sonde
