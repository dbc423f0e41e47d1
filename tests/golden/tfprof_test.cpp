#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "analysis/tfprof.hpp"
#include "import/loader.hpp"
#include "report/styles/tfprof.hpp"
#include "tests/support/golden.hpp"

namespace sonde {
namespace {

std::string data(const std::string& name) {
  return std::string(SONDE_TEST_DATA) + "/tensorflow/" + name;
}

// What the run metadata says that tf1.tfprof.txt was printed for: TensorFlow 2.21,
// tf.compat.v1.profiler, one training step on a CPU.
TEST(Tfprof, PrintsWhatTensorFlowPrinted) {
  std::vector<TfprofOp> ops = {{"Const", 4, 0, 5, 1, 17},
                               {"Mul", 2048, 0, 4, 2, 5},
                               {"MatMul", 567296, 0, 521, 8, 9},
                               {"ReadVariableOp", 0, 0, 8, 3, 6},
                               {"Relu", 0, 0, 11, 2, 2},
                               {"ReluGrad", 0, 0, 10, 2, 2},
                               {"ResourceApplyGradientDescent", 0, 0, 32, 3, 3}};
  const std::string text = tfprof_text(tfprof_rows(ops, TfprofOrder::Micros), SIZE_MAX);
  EXPECT_EQ(text, testing::read_file(data("tf1.tfprof.txt")));
}

// The first rows of a table that tfprof printed for a large network: total time in microseconds, as
// printed, with its two percentages.
TEST(Tfprof, PercentagesFollowFromTheValues) {
  struct Known {
    const char* type;
    std::int64_t total;
    double accumulated;
    double self;
  };
  const std::vector<Known> known = {{"Conv2D", 1'630'000, 100.00, 95.56},
                                    {"Sub", 44'570, 4.44, 2.62},
                                    {"FusedBatchNorm", 7'270, 1.82, 0.43},
                                    {"Mul", 5'280, 1.39, 0.31},
                                    {"Add", 5'160, 1.08, 0.30},
                                    {"Const", 5'050, 0.77, 0.30},
                                    {"Rsqrt", 1'780, 0.48, 0.10},
                                    {"Switch", 1'750, 0.37, 0.10},
                                    {"Relu", 1'680, 0.27, 0.10},
                                    {"ConcatV2", 916, 0.17, 0.05},
                                    {"AvgPool", 545, 0.12, 0.03},
                                    {"Merge", 497, 0.08, 0.03},
                                    {"MatMul", 292, 0.05, 0.02},
                                    {"MaxPool", 238, 0.04, 0.01}};
  std::vector<TfprofOp> ops;
  for (const Known& row : known) ops.push_back({row.type, 0, 0, row.total, 1, 1});
  ops.push_back({"(all that follow)", 0, 0, 404, 1, 1});
  const std::vector<TfprofRow> rows = tfprof_rows(ops, TfprofOrder::Micros);
  const auto total = static_cast<double>(rows[0].accumulated.total_us());
  std::map<std::string, TfprofRow> by_type;
  for (const TfprofRow& row : rows) by_type[row.op.type] = row;
  for (const Known& want : known) {
    const TfprofRow& row = by_type[want.type];
    EXPECT_NEAR(100 * static_cast<double>(row.op.total_us()) / total, want.self, 0.02) << want.type;
    EXPECT_NEAR(100 * static_cast<double>(row.accumulated.total_us()) / total, want.accumulated,
                0.03)
        << want.type;
  }
}

TEST(Tfprof, SumsFollowTheOrder) {
  const std::vector<TfprofOp> ops = {{"A", 10, 5, 1, 1, 1}, {"B", 0, 1, 9, 2, 3}};
  const std::vector<TfprofRow> by_bytes = tfprof_rows(ops, TfprofOrder::Bytes);
  EXPECT_EQ(by_bytes[0].op.type, "A");
  EXPECT_EQ(by_bytes[1].accumulated.cpu_us, 9);
  const std::vector<TfprofRow> by_time = tfprof_rows(ops, TfprofOrder::Micros);
  EXPECT_EQ(by_time[0].op.type, "B");
  EXPECT_EQ(by_time[0].accumulated.requested_bytes, 10);
  EXPECT_EQ(by_time[1].accumulated.accelerator_us, 5);
  // Memory shows nothing where a type has none; times keep what follows.
  const std::string text = tfprof_text(by_time, SIZE_MAX);
  EXPECT_NE(text.find("0B (0.00%, 0.00%)"), std::string::npos);
  EXPECT_NE(text.find("1us (100.00%, 16.67%)"), std::string::npos);
}

TEST(Tfprof, OfATimelineOfTensorFlow1) {
  Result<LoadedSet> loaded = load_traces({data("tf1.timeline.json.gz")});
  ASSERT_TRUE(loaded.ok());
  testing::expect_golden("tf1_tfprof.txt", tfprof_table(loaded->traces[0].trace, {}));
}

TEST(Tfprof, OfATorchTrace) {
  Result<LoadedSet> loaded =
      load_traces({std::string(SONDE_TEST_DATA) + "/resnet50_workers0.pt.trace.json.gz"});
  ASSERT_TRUE(loaded.ok());
  testing::expect_golden("resnet50_tfprof.txt",
                         tfprof_table(loaded->traces[0].trace, {"bytes", 12}));
}

}  // namespace
}  // namespace sonde
