#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/torch_averages.hpp"

namespace sonde {

// The cells and lines of torch.profiler's table. Widths are numbers of code points, as in Python.

// Microseconds: "12.345us", "1.500ms", "2.000s". Below 0 always in microseconds.
std::string torch_time(double micros);
// "12.34%" of `total`; "NaN" where that is 0.
std::string torch_share(double part, double total);
// "0 B", "-1.50 KB", "64.00 MB", "2.10 GB", in powers of 1024.
std::string torch_memory(std::int64_t bytes);

// The unit of the column of FLOPs, by the smallest number in it that is not 0.
struct TorchFlopsUnit {
  std::string_view name;  // "MFLOPs"
  double scale = 1;
};
TorchFlopsUnit torch_flops_unit(std::uint64_t smallest);
// Three decimals in at least 8 columns; "--" for 0.
std::string torch_flops_cell(std::uint64_t flops, const TorchFlopsUnit& unit);

std::size_t torch_length(std::string_view text);
// The first `count` code points.
std::string_view torch_head(std::string_view text, std::size_t count);
// `name` with "..." in place of its end where it is three code points or less below `width`, or
// more.
std::string torch_name_cell(std::string_view name, std::optional<std::size_t> width);
// `frame` with "..." in place of its beginning where it is longer than `width`.
std::string torch_frame_cell(std::string_view frame, std::size_t width);

struct TorchColumn {
  std::string header;
  std::size_t width = 0;
  bool left = false;
};

struct TorchWidths {
  std::optional<std::size_t> name = 55;
  std::optional<std::size_t> source = 75;
  std::optional<std::size_t> shapes = 80;
};

// Which columns a table of these groups has.
struct TorchColumns {
  std::vector<TorchColumn> list;
  bool device_time = false;
  bool memory = false;
  bool device_memory = false;
  std::optional<std::size_t> shapes;  // width
  std::optional<std::size_t> source;  // width
  std::optional<TorchFlopsUnit> flops;
};
TorchColumns torch_columns(const TorchAverages& averages, const TorchWidths& widths);

// Lines without their LF; each ends in two blanks. A cell that is too long is not cut: it moves
// what follows.
std::string torch_separator(const std::vector<TorchColumn>& columns);
std::string torch_row(const std::vector<TorchColumn>& columns,
                      const std::vector<std::string>& cells);
std::string torch_header(const std::vector<TorchColumn>& columns);
// The length of a line without the blanks at its end.
std::size_t torch_line_length(const std::vector<TorchColumn>& columns);

}  // namespace sonde
