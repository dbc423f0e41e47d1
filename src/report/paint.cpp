#include "report/paint.hpp"

#include <algorithm>
#include <cmath>

namespace sonde {

std::string Paint::wrap(std::string_view code, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string draw_bar(double share, std::size_t width, bool unicode) {
  if (!(share > 0) || width == 0) return {};
  share = std::min(share, 1.0);
  const double exact = share * static_cast<double>(width);
  std::string out;
  if (!unicode) {
    const auto whole = static_cast<std::size_t>(std::lround(exact));
    return std::string(whole, '#');
  }
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::max(1L, std::lround(exact * 8)));
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out + kEighths[eighths % 8];
}

}  // namespace sonde
