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
#include "tests/support/import_text.hpp"
#include "tests/support/paddle_reference.hpp"

namespace sonde {
namespace {

using test::fitting_times;
using test::fitting_total;
using test::full_kernel_name;
using test::kHundredth;
using test::Line;
using test::P;
using test::reference;
using test::Row;
using test::rows_of;
using test::spread;
using test::table_of;

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
