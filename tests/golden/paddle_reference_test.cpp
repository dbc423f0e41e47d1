// Rebuilds, from the numbers of the reference, events that have these numbers, and expects the
// tables of the reference. Whoever printed it had other events; totals, greatest, least and calls
// are theirs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/paddle/paddle.hpp"
#include "report/styles/paddle.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/paddle_writer.hpp"

namespace sonde {
namespace {

std::optional<std::string> reference() {
  const std::string path = std::string(SONDE_SHARED_REFERENCE) + "/paddle-summary.log";
  if (!std::filesystem::exists(path)) return std::nullopt;
  return testing::read_file(path);
}

// From the title to the two empty lines behind the table.
std::string table_of(const std::string& text, const std::string& title) {
  const std::size_t at = text.find("-" + title + "-");
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find("\n\n\n", begin) + 3 - begin);
}

using P = test::PaddleWriter;

constexpr std::uint64_t kHundredth = 10'000;  // of a millisecond, in nanoseconds

// `count` times with that sum, the greatest first and the least last, all in hundredths of a
// millisecond; `more` are nanoseconds that no table shows, but that decide how others round.
std::vector<std::uint64_t> spread(std::uint64_t count, std::uint64_t total, std::uint64_t greatest,
                                  std::uint64_t least, std::uint64_t more = 0) {
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

class ReferenceTrace {
 public:
  ReferenceTrace() {
    writer_.threads.reserve(5);
    writer_.process_cpu = "1.060300";
    writer_.system_cpu = "0.065700";
    add_steps();
    // Types that only the overview counts, each on a thread of its own, one event behind the other.
    P::Thread& operators = add_events(2, "op", P::Operator, 21174, 200874);
    add_events(3, "op compute", P::OperatorInner, 28326, 117470);
    add_events(4, "op pybind_imperative_func", P::UserDefined, 9049, 209290);
    add_events(5, "range", P::PythonUserDefined, 200, 112958);
    // Paddle walks backwards: the copies come first.
    add_devices(operators.root.children.back(), P::Memcpy, "MEMCPY_HtoD", 3026, 10598);
    add_devices(operators.root.children.front(), P::Memset, "MEMSET", 1007, 524);
    while (calls_ < kCalls) add_call(operators.root.children.front());
  }

  std::string dump() const { return writer_.dump(); }

 private:
  static constexpr std::uint32_t kCalls = 91042;
  static constexpr std::uint64_t kCallTime = 159765 * kHundredth;

  void add_steps() {
    const auto steps = spread(10, 267022, 30387, 25538);
    const auto loads = spread(9, 663, 119, 50);
    const auto forward = spread(10, 143873, 18096, 12285);
    const auto backward = spread(10, 99241, 10834, 9588);
    const auto step_gpu = spread(10, 185684, 19887, 17075);
    const auto forward_gpu = spread(10, 72311, 7672, 6685, 3000);
    const auto backward_gpu = spread(10, 111535, 12193, 10203, 3000);
    P::Thread& thread = writer_.thread(1);
    thread.root.children.reserve(10);
    Line time;
    for (std::size_t i = 0; i < 10; ++i) {
      const auto [start, end] = time.next(steps[i]);
      P::Node& step =
          thread.root.child("ProfileStep#" + std::to_string(i), P::ProfileStep, start, end);
      step.children.reserve(3);
      std::uint64_t at = start;
      const auto phase = [&](const char* name, P::Type type, std::uint64_t length) -> P::Node& {
        at += length;
        return step.child(name, type, at - length, at);
      };
      if (i < loads.size()) phase("_DataLoaderIterMultiProcess", P::Dataloader, loads[i]);
      add_kernels(phase("MaskRCNN", P::Forward, forward[i]), forward_gpu[i], 551);
      add_kernels(phase("Gradient Backward", P::Backward, backward[i]), backward_gpu[i], 551);
      add_kernels(step, step_gpu[i] - forward_gpu[i] - backward_gpu[i], i < 5 ? 550 : 551);
    }
  }

  P::Thread& add_events(std::uint64_t id, const char* name, P::Type type, std::uint64_t count,
                        std::uint64_t hundredths) {
    P::Thread& thread = writer_.thread(id);
    Line time;
    std::uint64_t rest = hundredths * kHundredth;
    for (; count > 0; --count) {
      const auto [start, end] = time.next(rest / count);
      rest -= end - start;
      thread.root.child(name, type, start, end);
    }
    return thread;
  }

  P::Call& add_call(P::Node& node) {
    const std::uint64_t done = kCallTime * calls_ / kCalls;
    const std::uint64_t next = kCallTime * (calls_ + 1) / kCalls;
    ++calls_;
    return node.call("cudaLaunchKernel_v7000", done, next, calls_);
  }

  void add_kernels(P::Node& node, std::uint64_t rest, std::uint64_t count) {
    for (; count > 0; --count) {
      const auto [start, end] = gpu_.next(rest / count);
      rest -= end - start;
      add_call(node).devices.push_back({P::Kernel, "kernel", start, end, 0, 7, 0});
    }
  }

  void add_devices(P::Node& node, P::Type type, const char* name, std::uint64_t count,
                   std::uint64_t hundredths) {
    Line time;
    std::uint64_t rest = hundredths * kHundredth;
    for (; count > 0; --count) {
      const auto [start, end] = time.next(rest / count);
      rest -= end - start;
      add_call(node).devices.push_back({type, name, start, end, 0, 7, 64});
    }
  }

  P writer_;
  Line gpu_;
  std::uint32_t calls_ = 0;
};

TEST(PaddleReference, HasItsFirstThreeTables) {
  const std::optional<std::string> text = reference();
  if (!text) GTEST_SKIP() << "no shared reference";
  const Trace trace = test::import_or_fail(ReferenceTrace().dump(), import_paddle_dump);
  PaddleRequest request;
  request.views = {"device", "overview", "model"};
  EXPECT_EQ(paddle_summary(trace, request), table_of(*text, "Device Summary") +
                                                table_of(*text, "Overview Summary") +
                                                table_of(*text, "Model Summary") + "\n");
}

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

std::vector<Row> rows_of(const std::string& table, std::size_t cells) {
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
double fitting_total(const Row& row, const Cell& cell, double whole, double at_least = 0,
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
std::vector<std::uint64_t> fitting_times(const Row& row, const Cell& cell, double total,
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
std::string full_kernel_name(std::string shown, std::size_t number) {
  const bool cut = shown.ends_with("...");
  if (cut) shown = shown.substr(0, shown.size() - 3) + "#" + std::to_string(10000 + number);
  if (shown.find('<', 1) == std::string::npos) return shown;
  return shown + (shown.ends_with('>') ? "" : ">") + "(float const*, int)";
}

TEST(PaddleReference, HasItsKernelTable) {
  const std::optional<std::string> text = reference();
  if (!text) GTEST_SKIP() << "no shared reference";
  const std::string expected = table_of(*text, "Kernel Summary");
  const std::vector<Row> rows = rows_of(expected, 1);
  ASSERT_EQ(rows.size(), 244u);
  double whole = 1856.84 * 100 * kHundredth;
  std::vector<double> totals(rows.size());
  for (int round = 0; round < 20; ++round) {
    double sum = 0;
    for (std::size_t i = rows.size(); i-- > 0;) {
      const double below = i + 1 < rows.size() ? totals[i + 1] : 0;
      totals[i] = fitting_total(rows[i], rows[i].cells[0], whole, below);
      sum += totals[i];
    }
    if (sum == whole) break;
    whole = sum;
  }
  P writer;
  P::Node& step = writer.thread(1).root.child("ProfileStep#0", P::ProfileStep, 0, 1'000'000'000);
  P::Call& call = step.call("cudaLaunchKernel_v7000", 0, 10, 1);
  Line time;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = full_kernel_name(rows[i].name, i);
    for (const std::uint64_t length : fitting_times(rows[i], rows[i].cells[0], totals[i])) {
      const auto [start, end] = time.next(length);
      call.devices.push_back({P::Kernel, name, start, end, 0, 7, 0});
    }
  }
  const Trace trace = test::import_or_fail(writer.dump(), import_paddle_dump);
  PaddleRequest request;
  request.views = {"kernel"};
  request.sort_by = "GPUTotal";
  EXPECT_EQ(paddle_summary(trace, request), expected + "\n");
}

std::size_t depth_of(const Row& row) { return row.name.find_first_not_of(' '); }

bool same_times(const Cell& a, const Cell& b) {
  return a.total == b.total && a.average == b.average && a.greatest == b.greatest &&
         a.least == b.least;
}

// An operator of the reference with the rows below it.
struct OperatorRows {
  Row own;
  std::vector<Row> below;

  // Whether all its device time is that of one kernel for each call, or there is none: then the
  // numbers tell how its events lay.
  bool is_plain() const {
    std::size_t kernels = 0;
    for (const Row& row : below) {
      const bool on_device = row.cells[1].total > 0;
      kernels += depth_of(row) == 4;
      if (row.calls != own.calls || (on_device && !same_times(row.cells[1], own.cells[1])))
        return false;
    }
    return !below.empty() && kernels == (own.cells[1].total > 0 ? 1 : 0);
  }
};

std::vector<OperatorRows> operators_of(const std::string& table) {
  std::vector<OperatorRows> out;
  for (Row& row : rows_of(table, 2)) {
    if (depth_of(row) == 0)
      out.push_back({row, {}});
    else
      out.back().below.push_back(row);
  }
  return out;
}

// The lines of the table that belong to the operators that `wanted` takes.
template <class Wanted>
std::string lines_of_operators(const std::string& table, Wanted wanted) {
  std::string out;
  bool taken = false;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = std::min(table.find('\n', begin), table.size() - 1) + 1;
    const std::string line = table.substr(begin, end - begin);
    begin = end;
    if (line[0] != ' ') taken = wanted(line.substr(0, std::min(line.find("  "), line.size())));
    if (taken) out += line;
  }
  return out;
}

// The table less the rows below operators.
std::string without_details(const std::string& table) {
  std::string out;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = std::min(table.find('\n', begin), table.size() - 1) + 1;
    if (table[begin] != ' ') out += table.substr(begin, end - begin);
    begin = end;
  }
  return out;
}

// Events with the numbers of all operators, and with those of the rows below the plain ones.
std::string operator_dump(const std::vector<OperatorRows>& operators) {
  double whole_cpu = 2977.58 * 100 * kHundredth;
  double whole_gpu = 2763.97 * 100 * kHundredth;
  std::vector<double> cpu(operators.size());
  std::vector<double> gpu(operators.size());
  for (int round = 0; round < 20; ++round) {
    double cpu_sum = 0;
    double gpu_sum = 0;
    for (std::size_t i = operators.size(); i-- > 0;) {
      const Row& row = operators[i].own;
      // The rows below have parts of it.
      double at_least = 0;
      double at_most = 1e18;
      for (const Row& part : operators[i].below) {
        const Cell& cell = part.cells[0];
        if (!operators[i].is_plain() || depth_of(part) == 4 || cell.ratio < 1) continue;
        at_least =
            std::max(at_least, (cell.total * kHundredth - 4980) / ((cell.ratio + 0.49) / 10000));
        at_most =
            std::min(at_most, (cell.total * kHundredth + 4980) / ((cell.ratio - 0.49) / 10000));
      }
      cpu[i] = fitting_total(row, row.cells[0], whole_cpu, at_least, at_most);
      gpu[i] = row.cells[1].greatest == 0 && row.cells[1].total == 0
                   ? 0
                   : fitting_total(row, row.cells[1], whole_gpu,
                                   i + 1 < operators.size() ? gpu[i + 1] : 0);
      cpu_sum += cpu[i];
      gpu_sum += gpu[i];
    }
    if (cpu_sum == whole_cpu && gpu_sum == whole_gpu) break;
    whole_cpu = cpu_sum;
    whole_gpu = gpu_sum;
  }
  P writer;
  writer.threads.reserve(2);
  writer.thread(1).root.child("ProfileStep#0", P::ProfileStep, 0, 5'000'000'000);
  P::Thread& thread = writer.thread(2);
  Line cpu_line;
  Line gpu_line;
  std::uint32_t id = 0;
  // Walked backwards: the last row comes first.
  for (std::size_t i = operators.size(); i-- > 0;) {
    const OperatorRows& each = operators[i];
    const std::vector<std::uint64_t> work = fitting_times(each.own, each.own.cells[1], gpu[i]);
    // Of each child, its lengths; the child that has the kernel, and the kernel's name.
    std::vector<std::pair<std::string, std::vector<std::uint64_t>>> children;
    std::size_t launcher = 0;
    std::string kernel = "kernel";
    if (each.is_plain()) {
      for (const Row& row : each.below) {
        if (depth_of(row) == 4) {
          launcher = children.size() - 1;
          kernel = full_kernel_name(row.name.substr(4), i);
        } else {
          children.emplace_back(
              row.name.substr(2),
              fitting_times(row, row.cells[0], fitting_total(row, row.cells[0], cpu[i]), 1));
        }
      }
    } else {
      children.emplace_back("everything", std::vector<std::uint64_t>(each.own.calls, 0));
    }
    // The shortest call holds the shortest children.
    double shortest = 0;
    for (const auto& child : children)
      shortest += static_cast<double>(child.second[std::min<std::size_t>(1, each.own.calls - 1)]);
    const std::vector<std::uint64_t> lengths =
        fitting_times(each.own, each.own.cells[0], cpu[i], shortest);
    for (std::size_t call = 0; call < lengths.size(); ++call) {
      const auto [start, end] = cpu_line.next(lengths[call]);
      P::Node& node = thread.root.child(each.own.name, P::Operator, start, end);
      std::uint64_t at = start;
      for (std::size_t c = 0; c < children.size(); ++c) {
        const std::uint64_t until = std::min(at + children[c].second[call], end);
        P::Node& child = node.child(children[c].first, P::OperatorInner, at, until);
        if (c == launcher && gpu[i] > 0) {
          const auto [from, to] = gpu_line.next(work[call]);
          child.launch(++id, at, until, {P::Kernel, kernel, from, to, 0, 7, 0});
        }
        at = until;
      }
    }
  }
  return writer.dump();
}

TEST(PaddleReference, HasItsOperatorTable) {
  const std::optional<std::string> text = reference();
  if (!text) GTEST_SKIP() << "no shared reference";
  const std::string expected = table_of(*text, "Operator Summary");
  const std::vector<OperatorRows> operators = operators_of(expected);
  ASSERT_EQ(operators.size(), 87u);
  const Trace trace = test::import_or_fail(operator_dump(operators), import_paddle_dump);
  PaddleRequest request;
  request.views = {"operator"};
  request.sort_by = "GPUTotal";
  request.op_detail = false;
  EXPECT_EQ(paddle_summary(trace, request), without_details(expected) + "\n");
  // What the operators are made of, for those whose numbers tell it.
  request.op_detail = true;
  std::set<std::string> plain;
  for (const OperatorRows& each : operators) {
    if (each.is_plain()) plain.insert(each.own.name);
  }
  EXPECT_GE(plain.size(), 12u);
  const auto is_plain = [&](const std::string& name) { return plain.contains(name); };
  EXPECT_EQ(lines_of_operators(paddle_summary(trace, request), is_plain),
            lines_of_operators(expected, is_plain));
}

TEST(PaddleReference, HasItsTwoTablesOfRanges) {
  const std::optional<std::string> text = reference();
  if (!text) GTEST_SKIP() << "no shared reference";
  const std::string memory = table_of(*text, "Memory Manipulation Summary");
  const std::string ranges = table_of(*text, "UserDefined Summary");
  std::vector<Row> rows = rows_of(memory, 2);
  ASSERT_EQ(rows.size(), 7u);
  // The one table is not sorted, the other one by GPU time.
  std::reverse(rows.begin(), rows.end());
  const std::vector<Row> user = rows_of(ranges, 2);
  ASSERT_EQ(user.size(), 19u);
  P writer;
  writer.threads.reserve(2);
  constexpr std::uint64_t kSteps = 267022 * kHundredth;
  constexpr std::uint64_t kGpu = 196806 * kHundredth;
  writer.thread(1)
      .root.child("ProfileStep#0", P::ProfileStep, 0, kSteps)
      .launch(1, 0, 10, {P::Kernel, "kernel", 0, kGpu, 0, 7, 0});
  P::Thread& thread = writer.thread(2);
  Line cpu;
  Line gpu;
  std::uint32_t id = 1;
  const auto add = [&](const Row& row, P::Type type, double gpu_at_least) {
    const double gpu_total =
        fitting_total(row, row.cells[1], static_cast<double>(kGpu), gpu_at_least);
    const std::vector<std::uint64_t> cpu_times = fitting_times(
        row, row.cells[0], fitting_total(row, row.cells[0], static_cast<double>(kSteps)));
    const std::vector<std::uint64_t> gpu_times = fitting_times(row, row.cells[1], gpu_total);
    EXPECT_EQ(cpu_times.size(), gpu_times.size());
    for (std::size_t i = 0; i < std::min(cpu_times.size(), gpu_times.size()); ++i) {
      const auto [start, end] = cpu.next(cpu_times[i]);
      const auto [from, to] = gpu.next(gpu_times[i]);
      thread.root.child(row.name, type, start, end)
          .launch(++id, start, end, {P::Memcpy, "MEMCPY_DtoD", from, to, 0, 7, 64});
    }
    return gpu_total;
  };
  // Both are walked backwards: from the last row up.
  for (const Row& row : rows) add(row, P::UserDefined, 0);
  double below = 0;
  for (auto row = user.rbegin(); row != user.rend(); ++row)
    below = add(*row, P::PythonUserDefined, below);
  const Trace trace = test::import_or_fail(writer.dump(), import_paddle_dump);
  PaddleRequest request;
  request.views = {"memory_manipulation", "userdefined"};
  request.sort_by = "GPUTotal";
  EXPECT_EQ(paddle_summary(trace, request), memory + ranges + "\n");
}

}  // namespace
}  // namespace sonde
