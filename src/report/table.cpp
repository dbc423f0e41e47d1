#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "base/json_writer.hpp"
#include "report/paint.hpp"

namespace sonde {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kBarWidth = 30;
constexpr std::size_t kShortestText = 4;

double number(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return 0;
}

std::string pad(const std::string& text, std::size_t width, bool right) {
  const std::size_t used = display_width(text);
  const std::string space(used < width ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

bool any_nonzero(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [column](const std::vector<Cell>& row) {
    return column < row.size() && number(row[column]) != 0;
  });
}

// The text of every cell, with the width that each column wants and gets.
struct Layout {
  std::vector<std::size_t> shown;               // indices of the columns that stay
  std::vector<std::size_t> width;               // by column
  std::vector<std::vector<std::string>> cells;  // by row and column
};

std::size_t total_width(const Table& table, const Layout& layout, std::size_t bar) {
  std::size_t total = 0;
  for (const std::size_t c : layout.shown) {
    total += layout.width[c] + kGap;
    if (table.columns[c].bar) total += bar + kGap;
  }
  return total < kGap ? 0 : total - kGap;
}

// Takes `excess` columns from the widest texts, none below its least or `floor`.
void shrink_texts(const Table& table, Layout& layout, std::size_t excess, std::size_t floor) {
  while (excess > 0) {
    std::size_t widest = table.columns.size();
    for (const std::size_t c : layout.shown) {
      const std::size_t least = std::min(table.columns[c].least, floor);
      if (table.columns[c].type != CellType::Text || layout.width[c] <= least) continue;
      if (widest == table.columns.size() || layout.width[c] > layout.width[widest]) widest = c;
    }
    if (widest == table.columns.size()) return;
    --layout.width[widest];
    --excess;
  }
}

// Removes the least important column; false where all are needed.
bool drop_column(const Table& table, Layout& layout) {
  std::size_t least = layout.shown.size();
  for (std::size_t i = 0; i < layout.shown.size(); ++i) {
    const int drop = table.columns[layout.shown[i]].drop;
    if (drop == 0) continue;
    if (least == layout.shown.size() || drop >= table.columns[layout.shown[least]].drop) least = i;
  }
  if (least == layout.shown.size()) return false;
  layout.shown.erase(layout.shown.begin() + static_cast<std::ptrdiff_t>(least));
  return true;
}

Layout lay_out(const Table& table, const RenderOptions& options, std::size_t& bar) {
  Layout layout;
  layout.width.resize(table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].hide_zero || any_nonzero(table, c)) layout.shown.push_back(c);
    layout.width[c] = display_width(table.columns[c].header);
  }
  layout.cells.reserve(table.rows.size());
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> texts;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      texts.push_back(c < row.size() ? cell_text(row[c], table.columns[c].type) : std::string());
      layout.width[c] = std::max(layout.width[c], display_width(texts.back()));
    }
    layout.cells.push_back(std::move(texts));
  }

  const std::vector<std::size_t> wanted = layout.width;
  for (;;) {
    layout.width = wanted;
    // Bars take what is left, at least a few columns.
    const std::size_t bare = total_width(table, layout, 0);
    bar = bare + 8 <= options.width ? std::min(kBarWidth, options.width - bare) : 8;
    std::size_t total = total_width(table, layout, bar);
    if (total > options.width) {
      shrink_texts(table, layout, total - options.width, SIZE_MAX);
      total = total_width(table, layout, bar);
    }
    if (total <= options.width) return layout;
    if (drop_column(table, layout)) continue;
    shrink_texts(table, layout, total - options.width, kShortestText);
    return layout;
  }
}

std::string trimmed(std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

std::string cell_text(const Cell& cell, CellType type) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (const auto* text = std::get_if<std::string>(&cell)) return safe_text(*text);
  switch (type) {
    case CellType::Duration:
      return format_duration(number(cell));
    case CellType::Bytes:
      return format_bytes(number(cell));
    case CellType::Percent:
      return format_percent(number(cell));
    case CellType::Real:
      return format_real(number(cell));
    case CellType::Integer:
    case CellType::Text:
      break;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return format_count(*whole);
  return format_real(number(cell));
}

std::string cell_raw(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return safe_text(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&cell)) {
    return std::isfinite(*real) ? fmt::format("{}", *real) : std::string();
  }
  return {};
}

std::string render_text(const Table& table, const RenderOptions& options) {
  std::size_t bar = 0;
  const Layout layout = lay_out(table, options, bar);
  const Paint paint(options.color);
  const std::string ellipsis = options.unicode ? "…" : "...";

  std::string header;
  for (const std::size_t c : layout.shown) {
    const Column& column = table.columns[c];
    const std::string title = shorten(column.header, layout.width[c], Cut::End, ellipsis);
    header += pad(title, layout.width[c], column.type != CellType::Text) + std::string(kGap, ' ');
    if (column.bar) header += std::string(bar + kGap, ' ');
  }
  std::string out = paint.bold(trimmed(header)) + "\n";
  const std::size_t rule = std::min(total_width(table, layout, bar), options.width);
  std::string line;
  for (std::size_t i = 0; i < rule; ++i) line += options.unicode ? "─" : "-";
  out += paint.dim(line) + "\n";

  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::string text;
    for (const std::size_t c : layout.shown) {
      const Column& column = table.columns[c];
      const std::string cell = shorten(layout.cells[r][c], layout.width[c], column.cut, ellipsis);
      text += pad(cell, layout.width[c], column.type != CellType::Text) + std::string(kGap, ' ');
      if (column.bar && c < table.rows[r].size()) {
        const std::string drawn = draw_bar(number(table.rows[r][c]) / 100, bar, options.unicode);
        const std::size_t used = display_width(drawn);
        text += paint.bar(drawn) + std::string(bar - std::min(bar, used) + kGap, ' ');
      }
    }
    out += trimmed(text) + "\n";
  }
  return out;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string render_csv(const Table& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    out += (c ? "," : "") + csv_field(table.columns[c].key);
  }
  out += "\n";
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      out += (c ? "," : "") + (c < row.size() ? csv_field(cell_raw(row[c])) : std::string());
    }
    out += "\n";
  }
  return out;
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : safe_text(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|~#").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string render_markdown(const Table& table) {
  std::string out = "|";
  std::string rule = "|";
  for (const Column& column : table.columns) {
    out += " " + markdown_text(column.header) + " |";
    rule += column.type == CellType::Text ? " --- |" : " ---: |";
  }
  out += "\n" + rule + "\n";
  for (const std::vector<Cell>& row : table.rows) {
    out += "|";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const std::string text = c < row.size() ? cell_text(row[c], table.columns[c].type) : "";
      out += " " + markdown_text(text) + " |";
    }
    out += "\n";
  }
  return out;
}

void write_json(JsonWriter& json, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    json.value(*text);
  } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    json.value(*whole);
  } else if (const auto* real = std::get_if<double>(&cell)) {
    json.value(*real);
  } else {
    json.value(nullptr);
  }
}

void write_json(JsonWriter& json, const Table& table) {
  json.begin_array();
  for (const std::vector<Cell>& row : table.rows) {
    json.begin_object();
    for (std::size_t c = 0; c < table.columns.size() && c < row.size(); ++c) {
      json.key(table.columns[c].key);
      write_json(json, row[c]);
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace sonde
