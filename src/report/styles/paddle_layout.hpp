#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// The parts that all tables of PaddlePaddle's summary are made of. Widths count characters, not
// bytes.

std::size_t character_count(std::string_view text);
// The first `count` characters.
std::string_view first_characters(std::string_view text, std::size_t count);

// A table with columns of fixed width: text on the left, two blanks behind each.
class PaddleTable {
 public:
  explicit PaddleTable(std::vector<std::size_t> widths);

  std::size_t line_length() const { return line_length_; }
  void title(std::string_view text);  // in the middle of a line of dashes
  void line(std::string_view text);   // as it is
  void separator();                   // dashes below each column
  void row(const std::vector<std::string>& cells);
  void notes(std::string_view text);  // "Note:", the text and a line of dashes
  std::string take();                 // with the two empty lines behind every table

 private:
  std::vector<std::size_t> widths_;
  std::size_t line_length_ = 0;
  std::string out_;
};

// One row of a table whose widths depend on its cells; the title of a thread has no cells.
struct PaddleRow {
  std::string title;
  std::vector<std::string> cells;
};

// Name, calls, five numbers of the CPU where `cpu`, five of the GPU, and the FLOPs where `flops`.
struct PaddleColumns {
  std::size_t name_width = 0;
  bool cpu = true;
  bool flops = false;
};

// The title, the heading and the rows; what comes below them is up to the caller.
PaddleTable planned_paddle_table(std::string_view title, std::string_view unit_line,
                                 const PaddleColumns& columns, const std::vector<PaddleRow>& rows);

std::size_t longest_paddle_name(const std::vector<PaddleRow>& rows);

// A kernel's name as its table has it: without the arguments behind template arguments, and cut.
std::string paddle_kernel_name(const std::string& name, std::size_t width);

}  // namespace sonde
