#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde {

// "(12) name" defines a number for a name, "(12)" stands for it, anything else is the name itself.
class NameTable {
 public:
  enum class Found { Name, Unknown, Changed };

  // Changed: the number had another name before; the new one holds from here on.
  Found resolve(std::string_view text, std::string& out);
  void clear() { names_.clear(); }

 private:
  std::unordered_map<std::uint64_t, std::string> names_;
};

// A line of costs: where, and how much of each event.
struct CostLine {
  std::int64_t line = 0;
  std::vector<std::int64_t> costs;
};

// Positions may be given relative to those of the line before.
class CostParser {
 public:
  // Which column holds the line number, and how many positions there are.
  void set_positions(std::string_view names);
  void reset();
  bool parse(std::string_view text, std::size_t events, CostLine& out);
  bool parse_position(std::string_view word, std::size_t column, std::int64_t& out);
  std::size_t positions() const { return previous_.size(); }

 private:
  std::vector<std::int64_t> previous_{0};
  std::size_t line_column_ = 0;
  bool has_line_ = true;
};

// Decimal or 0x hexadecimal.
std::optional<std::int64_t> parse_cost_number(std::string_view word);

// The next word of `text`, which loses it.
std::string_view next_word(std::string_view& text);

}  // namespace sonde
