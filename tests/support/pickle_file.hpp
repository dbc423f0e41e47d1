#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::test::pickle {

// Values as the opcodes of protocol 4 that push them.
inline std::string text(std::string_view value) {
  std::string out = "X";
  for (unsigned i = 0; i < 4; ++i) out += static_cast<char>(value.size() >> (8 * i) & 0xFF);
  return out.append(value);
}

inline std::string number(std::int64_t value) {
  std::string out = "\x8a\x08";
  for (unsigned i = 0; i < 8; ++i)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFF);
  return out;
}

inline std::string list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}

inline std::string tuple(const std::vector<std::string>& items) {
  std::string out = "(";
  for (const std::string& item : items) out += item;
  return out + "t";
}

inline std::string dict(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out = "}(";
  for (const auto& [key, value] : members) out += text(key) + value;
  return out + "u";
}

inline std::string file(const std::string& root) { return "\x80\x04" + root + "."; }

}  // namespace sonde::test::pickle
