// Rebuilds, from the numbers of the reference, events that have these numbers, and expects the
// tables of the reference. Whoever printed it had other events; totals, greatest, least and calls
// are theirs.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "import/paddle/paddle.hpp"
#include "report/styles/paddle.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/paddle_writer.hpp"

namespace sonde {
namespace {

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
  const std::string path = std::string(SONDE_SHARED_REFERENCE) + "/paddle-summary.log";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared reference";
  const std::string reference = testing::read_file(path);
  const std::size_t begin = reference.find("-------------------Device Summary");
  const std::string next = "\n\n\n";
  std::size_t end = begin;
  for (int table = 0; table < 3; ++table) end = reference.find(next, end) + next.size();
  ASSERT_NE(begin, std::string::npos);

  const Trace trace = test::import_or_fail(ReferenceTrace().dump(), import_paddle_dump);
  PaddleRequest request;
  request.views = {"device", "overview", "model"};
  EXPECT_EQ(paddle_summary(trace, request), reference.substr(begin, end - begin) + "\n");
}

}  // namespace
}  // namespace sonde
