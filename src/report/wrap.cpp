#include "report/wrap.hpp"

#include <algorithm>

#include "report/safe_text.hpp"

namespace sonde {

std::string wrap_text(std::string_view text, std::size_t width, std::string_view indent) {
  std::string out;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view rest = text.substr(at, end - at);
    at = end + 1;
    if (rest.empty()) {
      if (end < text.size()) out += "\n";
      continue;
    }
    std::string line(indent);
    bool fresh = true;
    while (!rest.empty()) {
      const std::size_t blank = std::min(rest.find(' '), rest.size());
      const std::string_view word = rest.substr(0, blank);
      rest.remove_prefix(std::min(rest.size(), blank + 1));
      if (word.empty()) continue;
      if (!fresh && display_width(line) + 1 + display_width(word) > width) {
        out += line + "\n";
        line = std::string(indent);
        fresh = true;
      }
      if (!fresh) line += ' ';
      // A word longer than a line is broken, so that no name can widen the page.
      std::string_view piece = word;
      while (display_width(line) + display_width(piece) > width && display_width(line) < width) {
        const std::string part = shorten(piece, width - display_width(line), Cut::End, "");
        if (part.empty()) break;
        out += line + part + "\n";
        piece.remove_prefix(part.size());
        line = std::string(indent);
      }
      line += piece;
      fresh = false;
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace sonde
