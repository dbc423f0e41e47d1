#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde {

// Colours for a terminal, or nothing at all.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}

  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string title(std::string_view text) const { return wrap("1;36", text); }
  std::string bar(std::string_view text) const { return wrap("32", text); }
  std::string good(std::string_view text) const { return wrap("32", text); }
  std::string warning(std::string_view text) const { return wrap("33", text); }
  std::string bad(std::string_view text) const { return wrap("1;31", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const;

  bool on_;
};

// `share` (0 to 1, clamped) of `width` columns, in eighths of a column with `unicode`, else in "#".
// With `unicode`, what is not 0 shows at least the smallest mark.
std::string draw_bar(double share, std::size_t width, bool unicode);

}  // namespace sonde
