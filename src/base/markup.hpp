#pragma once

#include <string_view>

namespace sonde {

// What stands for a character that means something in HTML and XML; empty for all others.
inline std::string_view markup_entity(char c) {
  switch (c) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace sonde
