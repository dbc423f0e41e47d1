#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/safe_text.hpp"

namespace sonde {

class JsonWriter;

// What the numbers of a column mean, and with it how people read them. CSV and JSON always have the
// raw number: nanoseconds, bytes, percent.
enum class CellType { Text, Integer, Duration, Real, Bytes, Percent };

// Nothing, a text, a whole number or a real one.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

struct Column {
  std::string key;       // snake_case with its unit, for CSV and JSON: "total_ns"
  std::string header{};  // for people
  CellType type = CellType::Text;
  Cut cut = Cut::End;      // how a text is shortened that does not fit
  int drop = 0;            // columns with the highest number go first where the width is short
  bool bar = false;        // draw a percentage as a bar too
  bool hide_zero = false;  // left out of text where no row has anything else than 0
  std::size_t least = 12;  // a text is not shortened below this while columns can be dropped
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;

  bool empty() const { return rows.empty(); }
};

struct RenderOptions {
  std::size_t width = 100;
  bool color = false;    // escape sequences for colour
  bool unicode = false;  // bars, rules and ellipses outside of ASCII
};

// The cell as people read it. Texts are made safe; nothing is "-".
std::string cell_text(const Cell& cell, CellType type);
// The cell as programs read it: the plain number, or the safe text; nothing is empty.
std::string cell_raw(const Cell& cell);

// A header, a rule and the rows, each line ended by LF and at most `width` columns wide: first long
// texts are shortened, then columns are left out, least important first.
std::string render_text(const Table& table, const RenderOptions& options);
// RFC 4180 with keys as the first record; lines end in LF, as Unix tools expect.
std::string render_csv(const Table& table);
std::string render_markdown(const Table& table);
void write_json(JsonWriter& json, const Cell& cell);
// An array with one object per row.
void write_json(JsonWriter& json, const Table& table);

std::string csv_field(const std::string& text);
// `text` with everything escaped that means something to Markdown inside a table or paragraph.
std::string markdown_text(std::string_view text);

}  // namespace sonde
