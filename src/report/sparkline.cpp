#include "report/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace sonde {

std::string sparkline(const std::vector<double>& values, bool unicode) {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> kPlain = {"_", ".", ",", "-", "=", "+", "*", "#"};
  const auto& marks = unicode ? kBlocks : kPlain;
  double most = 0;
  for (const double value : values) most = std::max(most, value);
  std::string out;
  for (const double value : values) {
    const double part = most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0;
    out += marks[static_cast<std::size_t>(std::lround(part * (marks.size() - 1)))];
  }
  return out;
}

}  // namespace sonde
