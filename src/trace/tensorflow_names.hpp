#pragma once

#include <algorithm>
#include <string_view>

// How TensorFlow names the nodes of a graph and the types of its operators. XProf tells operators
// from other events by these.

namespace sonde {

inline bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

// "model/dense_1/MatMul"
inline bool is_node_name(std::string_view text) {
  if (text.empty()) return false;
  if (!is_ascii_letter(text[0]) && !is_ascii_digit(text[0]) && text[0] != '.') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_ascii_letter(c) || is_ascii_digit(c) ||
           std::string_view("_./>-").find(c) != std::string_view::npos;
  });
}

// "MatMul"
inline bool is_op_type(std::string_view text) {
  if (text.empty() || !((text[0] >= 'A' && text[0] <= 'Z') || text[0] == '_')) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_'; });
}

}  // namespace sonde
