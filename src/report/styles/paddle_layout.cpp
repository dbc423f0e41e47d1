#include "report/styles/paddle_layout.hpp"

#include <utility>

namespace sonde {
namespace {

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

}  // namespace sonde
