#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/golden.hpp"
#include "tests/support/paddle_writer.hpp"

// The tables of a reference, taken apart, and times that would print as they do.

namespace sonde::test {

inline std::optional<std::string> reference() {
  const std::string path = std::string(SONDE_SHARED_REFERENCE) + "/paddle-summary.log";
  if (!std::filesystem::exists(path)) return std::nullopt;
  return ::sonde::testing::read_file(path);
}

// From the title to the two empty lines behind the table.
inline std::string table_of(const std::string& text, const std::string& title) {
  const std::size_t at = text.find("-" + title + "-");
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find("\n\n\n", begin) + 3 - begin);
}

using P = test::PaddleWriter;

constexpr std::uint64_t kHundredth = 10'000;  // of a millisecond, in nanoseconds

// `count` times with that sum, the greatest first and the least last, all in hundredths of a
// millisecond; `more` are nanoseconds that no table shows, but that decide how others round.
inline std::vector<std::uint64_t> spread(std::uint64_t count, std::uint64_t total,
                                         std::uint64_t greatest, std::uint64_t least,
                                         std::uint64_t more = 0) {
  std::vector<std::uint64_t> out = {greatest * kHundredth};
  std::uint64_t rest = (total - greatest - least) * kHundredth + more;
  for (std::uint64_t i = count - 2; i > 0; --i) {
    out.push_back(rest / i);
    rest -= out.back();
  }
  out.push_back(least * kHundredth);
  return out;
}

// Hands out moments one behind the other.
class Line {
 public:
  std::pair<std::uint64_t, std::uint64_t> next(std::uint64_t length) {
    const std::uint64_t start = at_;
    at_ += length;
    return {start, at_};
  }

 private:
  std::uint64_t at_ = 0;
};

// "total / avg / max / min / ratio" in hundredths.
struct Cell {
  double total = 0;
  double average = 0;
  double greatest = 0;
  double least = 0;
  double ratio = 0;
};

struct Row {
  std::string name;
  std::uint64_t calls = 0;
  std::vector<Cell> cells;
};

inline std::vector<Row> rows_of(const std::string& table, std::size_t cells) {
  std::vector<Row> out;
  std::size_t begin = 0;
  while (begin < table.size()) {
    const std::size_t end = std::min(table.find('\n', begin), table.size());
    const std::string line = table.substr(begin, end - begin);
    begin = end + 1;
    // A row has its numbers behind the last two blanks in a row but one.
    std::size_t at = line.find(" / ");
    if (line.empty() || line[0] == '-' || at == std::string::npos || line.starts_with("Name"))
      continue;
    at = line.rfind("  ", at);
    const std::size_t calls = line.find_last_not_of(' ', at);
    const std::size_t calls_begin = line.rfind(' ', calls) + 1;
    Row row;
    row.calls = std::stoull(line.substr(calls_begin));
    row.name = line.substr(0, line.find_last_not_of(' ', calls_begin - 1) + 1);
    std::size_t cell_at = line.find_first_not_of(' ', at);
    for (std::size_t i = 0; i < cells; ++i) {
      Cell cell;
      std::sscanf(line.c_str() + cell_at, "%lf / %lf / %lf / %lf / %lf", &cell.total, &cell.average,
                  &cell.greatest, &cell.least, &cell.ratio);
      for (double* part : {&cell.total, &cell.average, &cell.greatest, &cell.least, &cell.ratio})
        *part = std::round(*part * 100);
      row.cells.push_back(cell);
      cell_at = line.find_first_not_of(' ', line.find("  ", cell_at));
    }
    out.push_back(row);
  }
  return out;
}

// A total in nanoseconds that prints as the cell does, next to its middle, and is `at_least` that
// of the row below, and at most `at_most`; `whole`: what the ratio is of.
inline double fitting_total(const Row& row, const Cell& cell, double whole, double at_least = 0,
                            double at_most = 1e18) {
  constexpr double kHalf = 4990;  // nanoseconds that still round to the hundredth
  const auto calls = static_cast<double>(row.calls);
  const double unit = kHundredth;
  double low = std::max(cell.total * unit - kHalf, (cell.average * unit - kHalf) * calls);
  double high = std::min(cell.total * unit + kHalf, (cell.average * unit + kHalf) * calls);
  // Rows below others are rounded to nanoseconds of small wholes.
  const double margin = row.name.starts_with(' ') ? 0.49 : 0.498;
  low = std::max({low, (cell.ratio - margin) / 10000 * whole, at_least});
  high = std::min({high, (cell.ratio + margin) / 10000 * whole, at_most});
  EXPECT_LE(low, high) << row.name;
  // Many small rows are equal: the least leaves room for those above.
  const double wanted = cell.total < 10 ? low : cell.total * unit;
  return std::round(std::clamp(wanted, std::ceil(low), std::max(std::ceil(low), high)));
}

// Times whose number, sum, greatest and least are those of the row.
inline std::vector<std::uint64_t> fitting_times(const Row& row, const Cell& cell, double total,
                                                double shortest = 0) {
  if (row.calls == 1) return {static_cast<std::uint64_t>(total)};
  const double unit = kHundredth;
  const auto between = static_cast<double>(row.calls - 2);
  for (double least = std::max(shortest, cell.least * unit - 4990);
       least <= cell.least * unit + 4990; least += 10) {
    for (double most = cell.greatest * unit - 4990; most <= cell.greatest * unit + 4990;
         most += 10) {
      const double rest = row.calls == 2 ? 0 : total - least - most;
      if (row.calls == 2) most = total - least;
      if (most > cell.greatest * unit + 4990) break;
      if (most < cell.greatest * unit - 4990) break;
      if (rest < between * least || rest > between * most) continue;
      std::vector<std::uint64_t> out = {static_cast<std::uint64_t>(most),
                                        static_cast<std::uint64_t>(least)};
      auto left = static_cast<std::uint64_t>(total) - out[0] - out[1];
      for (std::uint64_t i = row.calls - 2; i > 0; --i) {
        out.push_back(left / i);
        left -= out.back();
      }
      return out;
    }
  }
  ADD_FAILURE() << "no times for " << row.name;
  return {};
}

// A full name that is shown as `shown`: with arguments where they are dropped, and longer where it
// is cut.
inline std::string full_kernel_name(std::string shown, std::size_t number) {
  const bool cut = shown.ends_with("...");
  if (cut) shown = shown.substr(0, shown.size() - 3) + "#" + std::to_string(10000 + number);
  if (shown.find('<', 1) == std::string::npos) return shown;
  return shown + (shown.ends_with('>') ? "" : ">") + "(float const*, int)";
}

}  // namespace sonde::test
