#include "report/styles/paddle_layout.hpp"

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

constexpr std::string_view kCpuHeading = "CPU Total / Avg / Max / Min / Ratio(%)";
constexpr std::string_view kGpuHeading = "GPU Total / Avg / Max / Min / Ratio(%)";

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += begins_character(c) ? 1 : 0;
  return count;
}

std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (!begins_character(text[i])) continue;
    if (count == 0) break;
    --count;
  }
  return text.substr(0, i);
}

PaddleTable::PaddleTable(std::vector<std::size_t> widths) : widths_(std::move(widths)) {
  for (const std::size_t width : widths_) line_length_ += width + 2;
  line_length_ -= 2;
}

void PaddleTable::title(std::string_view text) {
  const std::size_t length = character_count(text);
  const std::size_t spare = length < line_length_ ? line_length_ - length : 0;
  out_.append(spare / 2, '-');
  out_ += text;
  out_.append(spare - spare / 2, '-');
  out_ += '\n';
}

void PaddleTable::line(std::string_view text) {
  out_ += text;
  out_ += '\n';
}

void PaddleTable::separator() {
  for (const std::size_t width : widths_) {
    out_.append(width, '-');
    out_ += "  ";
  }
  out_ += '\n';
}

void PaddleTable::row(const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    out_ += cells[i];
    const std::size_t length = character_count(cells[i]);
    if (length < widths_[i]) out_.append(widths_[i] - length, ' ');
    out_ += "  ";
  }
  out_ += '\n';
}

void PaddleTable::notes(std::string_view text) {
  out_ += "Note:\n";
  out_ += text;
  out_.append(line_length_, '-');
  out_ += '\n';
}

std::string PaddleTable::take() {
  out_ += "\n\n";
  return std::move(out_);
}

PaddleTable planned_paddle_table(std::string_view title, std::string_view unit_line,
                                 const PaddleColumns& columns, const std::vector<PaddleRow>& rows) {
  std::vector<std::size_t> widths = {columns.name_width, 6, 40};
  std::vector<std::string> heading = {"Name", "Calls"};
  if (columns.cpu) {
    widths.push_back(40);
    heading.emplace_back(kCpuHeading);
  }
  heading.emplace_back(kGpuHeading);
  const std::size_t measured = widths.size();
  for (const PaddleRow& row : rows) {
    for (std::size_t i = 1; i < measured && !row.cells.empty(); ++i)
      widths[i] = std::max(widths[i], character_count(row.cells[i]));
  }
  if (columns.flops) {
    widths.push_back(10);
    heading.emplace_back("FLOPs");
  }
  PaddleTable table(widths);
  table.title(title);
  table.line(unit_line);
  table.separator();
  table.row(heading);
  table.separator();
  for (const PaddleRow& row : rows) {
    if (row.cells.empty())
      table.title(row.title);
    else
      table.row(row.cells);
  }
  return table;
}

std::size_t longest_paddle_name(const std::vector<PaddleRow>& rows) {
  std::size_t width = 0;
  for (const PaddleRow& row : rows) {
    if (!row.cells.empty()) width = std::max(width, character_count(row.cells[0]));
  }
  return width;
}

std::string paddle_kernel_name(const std::string& name, std::size_t width) {
  std::string shown = name;
  // The last ">(" that has a ")" behind it ends the template arguments, if "<" comes before it.
  const std::size_t open = name.find('<', 1);
  const std::size_t close = name.rfind(')');
  if (open != std::string::npos && close != std::string::npos && close >= 2) {
    const std::size_t end = name.rfind(">(", close - 2);
    if (end != std::string::npos && end > open) shown = name.substr(0, end + 1);
  }
  if (character_count(shown) > width)
    shown = std::string(first_characters(shown, width - 3)) + "...";
  return shown;
}

}  // namespace sonde
