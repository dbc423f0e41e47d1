#include "report/styles/tensorboard.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "import/loader.hpp"

namespace sonde {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Long lines: shows where they part rather than all of them.
void expect_same(const std::string& actual, const std::string& expected, const std::string& what) {
  if (actual == expected) return;
  const auto at = static_cast<std::size_t>(
      std::mismatch(actual.begin(), actual.end(), expected.begin(), expected.end()).first -
      actual.begin());
  const std::size_t from = at < 60 ? 0 : at - 60;
  ADD_FAILURE() << what << " differs at byte " << at << "\nactual:   …" << actual.substr(from, 160)
                << "\nexpected: …" << expected.substr(from, 160);
}

std::string view(const Trace& trace, const TensorboardRequest& request) {
  const Result<std::string> text = tensorboard_view(trace, request);
  return text ? *text : text.error().text();
}

TensorboardRequest request(std::string name, std::string group_by = {}, std::string op = {},
                           std::optional<std::string> shape = {}) {
  return {std::move(name), std::move(group_by), std::move(op), std::move(shape), 1};
}

// The ten answers of the plugin itself to its two sample runs.
TEST(TensorboardGolden, EqualsThePluginsOwnAnswers) {
  const std::string samples = std::string(SONDE_SHARED_DATA) + "/tensorboard-samples";
  const std::string reference = std::string(SONDE_SHARED_REFERENCE) + "/tensorboard-views.jsonl";
  if (!std::filesystem::exists(samples) || !std::filesystem::exists(reference)) {
    GTEST_SKIP() << "needs the sample runs in " << samples;
  }
  const std::vector<std::string> expected = lines_of(reference);
  const Result<LoadedSet> set = load_traces({samples});
  ASSERT_TRUE(set) << set.error().text();
  ASSERT_EQ(set->traces.size(), 2u);
  ASSERT_EQ(expected.size(), 10u);
  std::size_t line = 0;
  for (const NamedTrace& named : set->traces) {
    for (const auto& [name, group] : {std::pair{"overview", ""},
                                      {"operation", "Operation"},
                                      {"operation/table", "Operation"},
                                      {"kernel/table", "Kernel"},
                                      {"kernel", ""}}) {
      expect_same(view(named.trace, request(name, group)), expected[line++],
                  named.run + " " + name);
    }
  }
}

// A small trace with everything that the samples lack: two GPUs, a collective, call stacks,
// occupancy, equal sums, folded and dropped operators, a last step without its kernels. The
// answers were worked out by a separate program from the rules alone.
TEST(TensorboardGolden, SmallTrace) {
  const Result<Trace> trace =
      load_trace(std::string(SONDE_TEST_DATA) + "/tb_small/run1/worker0.pt.trace.json");
  ASSERT_TRUE(trace) << trace.error().text();
  const std::vector<std::string> expected =
      lines_of(std::string(SONDE_TEST_DATA) + "/../golden/tb_small.jsonl");
  const std::vector<TensorboardRequest> requests = {
      request("overview"),
      request("operation", "Operation"),
      request("operation/table"),
      request("kernel/table", "Kernel"),
      request("kernel"),
      request("operation", "OperationAndInputShape"),
      request("operation/table", "OperationAndInputShape"),
      request("kernel/table", "KernelNameAndOpName"),
      request("operation/stack", "", "aten::mm"),
      request("operation/stack", "OperationAndInputShape", "aten::mm", "[[32, 64], [64, 16]]"),
      request("operation/stack", "", "aten::to"),
  };
  ASSERT_EQ(expected.size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    expect_same(view(*trace, requests[i]), expected[i],
                requests[i].view + " " + requests[i].group_by);
  }
}

TEST(Tensorboard, RefusesWhatItDoesNotKnow) {
  const Trace trace;
  EXPECT_EQ(tensorboard_view(trace, request("memory")).error().code, ErrorCode::UsageError);
  EXPECT_EQ(tensorboard_view(trace, request("operation", "Kernel")).error().code,
            ErrorCode::UsageError);
  EXPECT_EQ(tensorboard_view(trace, request("operation/stack", "", "none")).error().code,
            ErrorCode::NotFound);
}

TEST(Tensorboard, AnEmptyTraceHasEmptyViews) {
  const Trace trace;
  EXPECT_EQ(view(trace, request("operation")),
            R"({"device_total_time": null, "device_self_time": null, "host_total_time": null, )"
            R"("host_self_time": null})");
  EXPECT_EQ(view(trace, request("operation/table")), "[]");
  EXPECT_NE(view(trace, request("overview")).find(R"("rows": []})"), std::string::npos);
}

// Traces of today have nanoseconds and other categories; sums must still make sense.
TEST(Tensorboard, TracesOfToday) {
  const Result<Trace> trace =
      load_trace(std::string(SONDE_TEST_DATA) + "/resnet50_workers0.pt.trace.json.gz");
  ASSERT_TRUE(trace) << trace.error().text();
  for (const std::string_view name : tensorboard_view_names()) {
    if (name == "operation/stack") continue;
    EXPECT_TRUE(tensorboard_view(*trace, request(std::string(name)))) << name;
  }
}

}  // namespace
}  // namespace sonde
