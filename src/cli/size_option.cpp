#include "cli/size_option.hpp"

#include <fmt/format.h>

#include <charconv>

#include "cli/usage.hpp"

namespace sonde {

std::optional<std::uint64_t> parse_size(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [next, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc()) return std::nullopt;
  std::string unit(next, end);
  for (char& c : unit) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (unit.size() > 1 && unit.ends_with("IB")) unit.resize(unit.size() - 2);
  if (unit.size() > 1 && unit.ends_with("B")) unit.resize(unit.size() - 1);
  int shift = 0;
  if (unit == "K")
    shift = 10;
  else if (unit == "M")
    shift = 20;
  else if (unit == "G")
    shift = 30;
  else if (unit == "T")
    shift = 40;
  else if (!unit.empty() && unit != "B")
    return std::nullopt;
  if (number > (UINT64_MAX >> 1 >> shift)) return std::nullopt;
  return number << shift;
}

Result<std::uint64_t> size_option(const char* option, const std::string& value) {
  if (const std::optional<std::uint64_t> bytes = parse_size(value)) return *bytes;
  return usage_error(fmt::format("{} needs a size such as 64M or 1G, not '{}'", option, value));
}

}  // namespace sonde
