// Rebuilds, from the numbers of the reference, events that have these numbers, and expects the
// tables of the reference. Whoever printed it had other events; totals, greatest, least and calls
// are theirs.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/paddle/paddle.hpp"
#include "report/styles/paddle.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/paddle_reference.hpp"

namespace sonde {
namespace {

using test::Cell;
using test::fitting_times;
using test::fitting_total;
using test::full_kernel_name;
using test::kHundredth;
using test::Line;
using test::P;
using test::reference;
using test::Row;
using test::rows_of;
using test::table_of;

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

}  // namespace
}  // namespace sonde
