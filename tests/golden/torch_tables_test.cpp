#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "import/loader.hpp"
#include "report/styles/torch.hpp"

namespace sonde {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_same(const std::string& actual, const std::string& expected, const std::string& what) {
  if (actual == expected) return;
  const std::vector<std::string> a = lines_of(actual);
  const std::vector<std::string> e = lines_of(expected);
  for (std::size_t i = 0; i < std::max(a.size(), e.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "(end)";
    const std::string right = i < e.size() ? e[i] : "(end)";
    if (left == right) continue;
    ADD_FAILURE() << what << ", line " << i + 1 << "\nactual:   " << left
                  << "\nexpected: " << right;
    return;
  }
  ADD_FAILURE() << what << ": the last line ends differently";
}

struct ExpectedTable {
  std::string title;
  TorchTableRequest request;
  std::string text;
};

// A file of tables: each begins with "### sort_by=… row_limit=… group_by_input_shape=…", and an
// empty line stands behind it.
std::vector<ExpectedTable> expected_tables(const std::string& path) {
  std::vector<ExpectedTable> tables;
  for (const std::string& line : lines_of(text_of(path))) {
    if (line.starts_with("### ")) {
      std::istringstream words(line.substr(4));
      ExpectedTable table;
      table.title = line;
      for (std::string word; words >> word;) {
        const std::string value = word.substr(word.find('=') + 1);
        if (word.starts_with("sort_by=")) table.request.sort_by = value;
        if (word.starts_with("row_limit=")) table.request.row_limit = std::stoll(value);
        if (word.starts_with("group_by_input_shape=")) {
          table.request.group_by_input_shape = value == "True";
        }
      }
      tables.push_back(table);
    } else if (!tables.empty() && !line.empty()) {
      tables.back().text += line + "\n";
    }
  }
  return tables;
}

NamedTrace load(const std::string& path) {
  Result<Trace> trace = load_trace(path);
  if (!trace) {
    ADD_FAILURE() << trace.error().text();
    return {};
  }
  return {".", worker_name(path), path, std::move(*trace)};
}

void expect_tables_of(const std::string& name, std::size_t count) {
  const std::string path = std::string(SONDE_TEST_DATA) + "/" + name;
  const std::vector<ExpectedTable> tables = expected_tables(path + ".tables.txt");
  ASSERT_EQ(tables.size(), count);
  const NamedTrace trace = load(path + ".pt.trace.json.gz");
  for (const ExpectedTable& table : tables) {
    const Result<std::string> text = torch_table(trace, table.request);
    ASSERT_TRUE(text) << text.error().text();
    expect_same(*text, table.text, name + " " + table.title);
  }
}

TEST(TorchTables, TrainingWithMemoryShapesAndFlopsIsThatOfPyTorch) {
  expect_tables_of("resnet50_workers0", 6);
}

TEST(TorchTables, TrainingWithPythonStacksIsThatOfPyTorch) {
  expect_tables_of("resnet50_stack", 5);
}

// Recorded and printed by PyTorch 2.15, which counts Python functions among the events.
TEST(TorchTables, TrainingOnTheCpuIsThatOfPyTorch) { expect_tables_of("torch_real/train", 3); }

TEST(TorchTables, TrainingOnTheCpuWithPythonStacksIsThatOfPyTorch) {
  expect_tables_of("torch_real/stack", 3);
}

TEST(TorchTables, LongLoopIsThatOfPyTorch) {
  const std::string path = std::string(SONDE_SHARED_DATA) + "/torch/loop_large";
  if (!std::filesystem::exists(path + ".pt.trace.json.gz")) GTEST_SKIP() << "no shared data";
  TorchTableRequest request;
  request.sort_by = "self_cuda_time_total";
  const Result<std::string> text = torch_table(load(path + ".pt.trace.json.gz"), request);
  ASSERT_TRUE(text);
  expect_same(*text, text_of(path + ".table.txt"), "loop_large");
}

class TorchInvariants : public testing::Test {
 protected:
  const Trace trace_ =
      std::move(load(std::string(SONDE_TEST_DATA) + "/resnet50_stack.pt.trace.json.gz").trace);
};

TEST_F(TorchInvariants, DeviceTimeOfTheRowsOfTheDeviceIsThatOfTheTrace) {
  Nanos work = 0;
  for (const SliceId slice : all_slices(trace_)) {
    if (is_device_work(trace_.slices().kind(slice))) work += trace_.slices().duration(slice);
  }
  double rows = 0;
  for (const TorchAverage& group : torch_averages(trace_).groups) {
    if (group.device && !group.annotation) rows += group.sum.self_device;
  }
  EXPECT_NEAR(rows * 1000, static_cast<double>(work), 1000);
}

TEST_F(TorchInvariants, GroupingMovesCallsBetweenRowsButLosesNone) {
  const auto calls = [&](const TorchGrouping& grouping) {
    std::uint64_t sum = 0;
    for (const TorchAverage& group : torch_averages(trace_, grouping).groups) sum += group.calls;
    return sum;
  };
  const std::uint64_t all = calls({});
  EXPECT_EQ(calls({true, 0}), all);
  EXPECT_EQ(calls({false, 5}), all);
  EXPECT_EQ(calls({true, 5}), all);
}

TEST_F(TorchInvariants, StacksHaveAtMostTheFramesAskedForAndGrowFromTheInside) {
  std::set<std::vector<std::string>> short_stacks;
  for (const TorchAverage& group : torch_averages(trace_, {false, 1}).groups) {
    short_stacks.insert(group.stack);
  }
  EXPECT_GT(short_stacks.size(), 10u);
  for (const TorchAverage& group : torch_averages(trace_, {false, 5}).groups) {
    ASSERT_LE(group.stack.size(), 5u);
    std::vector<std::string> head(group.stack.begin(),
                                  group.stack.begin() + (group.stack.empty() ? 0 : 1));
    EXPECT_TRUE(short_stacks.contains(head));
  }
}

// The cells of a line whose columns are known, the blanks around them removed.
std::vector<std::string> cells_of(const std::string& line,
                                  const std::vector<TorchColumn>& columns) {
  std::vector<std::string> cells;
  std::size_t at = 0;
  for (const TorchColumn& column : columns) {
    std::string cell = line.substr(std::min(at, line.size()), column.width);
    cell.erase(0, std::min(cell.find_first_not_of(' '), cell.size()));
    cells.push_back(cell);
    at += column.width + 2;
  }
  return cells;
}

// A number with so many decimals and one of the units behind it.
bool is_number(const std::string& cell, std::size_t decimals, std::set<std::string> units) {
  std::size_t at = cell.starts_with("-") ? 1 : 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < cell.size() && cell[at] >= '0' && cell[at] <= '9') ++at;
    return at - from;
  };
  if (digits() == 0) return false;
  if (decimals > 0 && (cell.substr(at++, 1) != "." || digits() != decimals)) return false;
  return units.contains(cell.substr(at));
}

bool is_time(const std::string& cell) { return is_number(cell, 3, {"us", "ms", "s"}); }

bool is_memory(const std::string& cell) {
  return is_number(cell, 0, {" B"}) || is_number(cell, 2, {" KB", " MB", " GB"});
}

// A table of another recording, of which only the text is left: the layout of each line is rebuilt
// from its cells.
TEST(TorchTables, LayoutOfATableWithoutItsTraceIsRebuiltByteForByte) {
  const std::string path = std::string(SONDE_SHARED_REFERENCE) + "/torch-key-averages.txt";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared reference";
  TorchAverages averages;
  averages.device_name = "CUDA";
  averages.device_used = averages.profile_memory = true;
  averages.groups.resize(1);
  averages.groups[0].name = std::string(60, 'x');
  averages.groups[0].sum.self_device = 1;
  averages.groups[0].sum.self_device_bytes = 1;
  const TorchColumns columns = torch_columns(averages, {});
  const std::string separator = torch_separator(columns.list);
  const std::string header = torch_header(columns.list);
  std::size_t headers = 0;
  std::size_t rows = 0;
  std::size_t footers = 0;
  int separators = 0;
  for (const std::string& line : lines_of(text_of(path))) {
    if (line == separator) {
      separators = (separators + 1) % 3;
    } else if (separators == 1) {
      EXPECT_EQ(line, header);
      ++headers;
    } else if (separators == 2) {
      const std::vector<std::string> cells = cells_of(line, columns.list);
      EXPECT_EQ(torch_row(columns.list, cells), line);
      EXPECT_EQ(torch_name_cell(cells[0], 55).substr(0, 52), cells[0].substr(0, 52));
      for (const std::size_t c : {2, 4, 5, 6, 8, 9}) EXPECT_TRUE(is_time(cells[c]));
      for (const std::size_t c : {1, 3, 7}) EXPECT_TRUE(is_number(cells[c], 2, {"%"}));
      for (const std::size_t c : {10, 11, 12, 13}) EXPECT_TRUE(is_memory(cells[c]));
      ++rows;
    } else if (line.starts_with("Self ")) {
      EXPECT_TRUE(line.starts_with("Self CPU time total: ") ||
                  line.starts_with("Self CUDA time total: "));
      EXPECT_TRUE(is_time(line.substr(line.find(": ") + 2)));
      ++footers;
    }
  }
  EXPECT_EQ(headers, 2u);
  EXPECT_EQ(rows, 60u);
  EXPECT_EQ(footers, 4u);
}

}  // namespace
}  // namespace sonde
