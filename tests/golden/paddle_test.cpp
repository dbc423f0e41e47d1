#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "import/loader.hpp"
#include "report/registry.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/paddle_traces.hpp"
#include "tests/support/render.hpp"

namespace sonde {
namespace {

std::string report(const std::string& path, ReportRequest request = {}) {
  request.style = "paddle";
  return test::report(path, request);
}

std::string data(const std::string& name) { return std::string(SONDE_TEST_DATA) + "/" + name; }

std::string view_of(const std::string& path, const std::string& view, const std::string& sort = "",
                    const std::string& detail = "off") {
  ReportRequest request;
  request.view = view;
  request.sort = sort;
  request.op_detail = detail;
  return report(path, request);
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// The first words of the rows behind the title of the threads.
std::vector<std::string> names(const std::string& table) {
  std::vector<std::string> out;
  bool begun = false;
  for (const std::string& line : lines(table)) {
    const bool title = line.find("Thread: ") != std::string::npos;
    if (begun && !title && !line.empty() && line[0] != '-')
      out.push_back(line.substr(0, line.find("  ")));
    begun = begun || title;
  }
  return out;
}

// Summaries that PaddlePaddle's own statistics printed.
class PaddleShared : public ::testing::Test {
 protected:
  static std::string trace() {
    return std::string(SONDE_SHARED_DATA) + "/paddle/synthetic_small.paddle_trace.json";
  }
  static std::string expected(const std::string& name) {
    return testing::read_file(std::string(SONDE_SHARED_DATA) + "/paddle/synthetic_small.summary." +
                              name + ".txt");
  }
  void SetUp() override {
    if (!std::filesystem::exists(trace())) GTEST_SKIP() << "no shared data";
  }
};

TEST_F(PaddleShared, Default) { EXPECT_EQ(report(trace()), expected("default")); }

TEST_F(PaddleShared, SortedByGpuTotal) {
  ReportRequest request;
  request.sort = "GPUTotal";
  EXPECT_EQ(report(trace(), request), expected("gputotal"));
}

TEST_F(PaddleShared, SortedByCpuMinInMicrosecondsWithoutDetail) {
  ReportRequest request;
  request.sort = "CPUMin";
  request.time_unit = "us";
  request.op_detail = "off";
  EXPECT_EQ(report(trace(), request), expected("cpumin_us_nodetail"));
}

TEST_F(PaddleShared, SortedByGpuAverageByThread) {
  ReportRequest request;
  request.sort = "GPUAvg";
  request.thread_sep = true;
  EXPECT_EQ(report(trace(), request), expected("gpuavg_threadsep"));
}

// The files in tests/data are what the writer beside the tests writes.
TEST(PaddleFiles, AreThoseOfTheWriter) {
  const test::PaddleWriter writer = test::paddle_training();
  if (std::getenv("SONDE_UPDATE_GOLDEN")) {
    std::ofstream(data("paddle_small.paddle_trace.json"), std::ios::binary) << writer.json();
    std::ofstream(data("paddle_small.paddle_trace.pb"), std::ios::binary) << writer.dump();
  }
  EXPECT_EQ(testing::read_file(data("paddle_small.paddle_trace.json")), writer.json());
  EXPECT_EQ(testing::read_file(data("paddle_small.paddle_trace.pb")), writer.dump());
}

TEST(PaddleTables, OfASmallTrace) {
  const std::string summary = report(data("paddle_small.paddle_trace.json"));
  for (const char* title :
       {"Device Summary", "Overview Summary", "Model Summary", "Distribution Summary",
        "Operator Summary", "Kernel Summary", "Memory Manipulation Summary", "UserDefined Summary",
        "Memory Summary - Place(gpu:0)", "Memory Summary - Place(cpu)"}) {
    EXPECT_NE(summary.find(title), std::string::npos) << title;
  }
  testing::expect_golden("paddle_small.txt", summary);
}

TEST(PaddleTables, AreTheSameForTheDump) {
  for (const char* view : {"summary", "model,memory", "operator"}) {
    ReportRequest request;
    request.view = view;
    EXPECT_EQ(report(data("paddle_small.paddle_trace.pb"), request),
              report(data("paddle_small.paddle_trace.json"), request))
        << view;
  }
}

TEST(PaddleTables, ByThreadInMicroseconds) {
  ReportRequest request;
  request.thread_sep = true;
  request.time_unit = "us";
  request.sort = "GPUMin";
  testing::expect_golden("paddle_small_threads.txt",
                         report(data("paddle_small.paddle_trace.json"), request));
}

TEST(PaddleTables, HaveTheirNumbersInEachUnit) {
  const auto model = [](const std::string& unit) {
    ReportRequest request;
    request.view = "model";
    request.time_unit = unit;
    return report(data("paddle_small.paddle_trace.json"), request);
  };
  EXPECT_NE(model("s").find("0.01 / 0.00 / 0.00 / 0.00 / 100.00"), std::string::npos);
  EXPECT_NE(model("ms").find("9.70 / 4.85 / 4.90 / 4.80 / 100.00"), std::string::npos);
  EXPECT_NE(model("us").find("9700.00 / 4850.00 / 4900.00 / 4800.00 / 100.00"), std::string::npos);
  EXPECT_NE(model("ns").find("9700000.00 / 4850000.00 / 4900000.00 / 4800000.00 / 100.00"),
            std::string::npos);
  EXPECT_NE(model("ns").find("Time unit: ns\n"), std::string::npos);
}

// The times are those of tests/support/paddle_traces.hpp.
TEST(PaddleTables, AreSortedByEachKey) {
  using Names = std::vector<std::string>;
  const std::string file = data("paddle_small.paddle_trace.json");
  const auto sorted = [&](const char* key) { return names(view_of(file, "operator", key)); };
  // Equals, such as 2 x 200 and 400 us, stay in the order in which they are met.
  const Names by_total = {"matmul dygraph",  "MatmulGradNode", "sgd_ dygraph",
                          "elementwise_add", "cast dygraph",   "c_allreduce_sum"};
  EXPECT_EQ(sorted("CPUTotal"), by_total);
  EXPECT_EQ(sorted(""), by_total);
  // Averages and greatest: 785/800, 790, 390, 400, 200, 90 us.
  const Names by_average = {"MatmulGradNode", "matmul dygraph",  "cast dygraph",
                            "sgd_ dygraph",   "elementwise_add", "c_allreduce_sum"};
  EXPECT_EQ(sorted("CPUAvg"), by_average);
  const Names by_max = {"matmul dygraph", "MatmulGradNode",  "cast dygraph",
                        "sgd_ dygraph",   "elementwise_add", "c_allreduce_sum"};
  EXPECT_EQ(sorted("CPUMax"), by_max);
  Names by_min = by_average;  // 770 of matmul is below 790
  std::reverse(by_min.begin(), by_min.end());
  EXPECT_EQ(sorted("CPUMin"), by_min);
  // On the GPU: 4 x 602, 2 x 800, 2 x 150, 300, 2 x 200, 2 x 500 us.
  const Names by_gpu = {"matmul dygraph",  "MatmulGradNode", "c_allreduce_sum",
                        "elementwise_add", "sgd_ dygraph",   "cast dygraph"};
  EXPECT_EQ(sorted("GPUTotal"), by_gpu);
  const Names by_gpu_average = {"MatmulGradNode", "matmul dygraph",  "c_allreduce_sum",
                                "cast dygraph",   "elementwise_add", "sgd_ dygraph"};
  EXPECT_EQ(sorted("GPUAvg"), by_gpu_average);
  EXPECT_EQ(sorted("GPUMax"), by_gpu_average);
  Names by_gpu_min = by_gpu_average;
  std::reverse(by_gpu_min.begin(), by_gpu_min.end());
  EXPECT_EQ(sorted("GPUMin"), by_gpu_min);
}

TEST(PaddleTables, HaveOnlyTheWantedViewsInTheirOwnOrder) {
  const std::string text = view_of(data("paddle_small.paddle_trace.json"), "kernel,model");
  EXPECT_LT(text.find("Model Summary"), text.find("Kernel Summary"));
  EXPECT_EQ(text.find("Operator Summary"), std::string::npos);
  EXPECT_EQ(text.find("Device Summary"), std::string::npos);
}

TEST(PaddleTables, OfAPytorchTraceHavePhases) {
  testing::expect_golden("resnet50_paddle_model.txt",
                         view_of(data("resnet50_workers0.pt.trace.json.gz"), "overview,model"));
}

TEST(PaddleTables, RefuseWrongWords) {
  const auto reason = [](ReportRequest request) {
    const Result<const ReportView*> view = find_view(request);
    return view ? std::string() : view.error().reason;
  };
  ReportRequest request;
  request.style = "paddle";
  request.view = "model,oprator";
  EXPECT_EQ(reason(request), "unknown view 'oprator'; did you mean 'operator'?");
  request.view = "model,summary";
  EXPECT_EQ(reason(request), "view 'summary' holds all the others; ask for it alone");
  request.view = "operator";
  request.sort = "CPUTotl";
  EXPECT_EQ(reason(request), "unknown sort key 'CPUTotl'; did you mean 'CPUTotal'?");
  ReportRequest other;
  other.style = "torch";
  other.thread_sep = true;
  EXPECT_NE(reason(other).find("for style 'paddle'"), std::string::npos);
  other = {};
  other.view = "kernels,steps";
  EXPECT_EQ(reason(other), "style 'sonde' prints one view at a time, not 'kernels,steps'");
}

// The part of `text` from the line that holds `title` to two empty lines.
std::vector<std::string> table(const std::string& text, const std::string& title) {
  const std::vector<std::string> all = lines(text);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (out.empty() && all[i].find("-" + title + "-") == std::string::npos) continue;
    if (!out.empty() && all[i].empty() && i + 1 < all.size() && all[i + 1].empty()) break;
    out.push_back(all[i]);
  }
  return out;
}

// Whatever is the same in every summary: notes, headings, and the lines of tables whose widths do
// not depend on the numbers.
TEST(PaddleLayout, IsThatOfTheReference) {
  const std::string path = std::string(SONDE_SHARED_REFERENCE) + "/paddle-summary.log";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared reference";
  const std::string reference = testing::read_file(path);
  const std::string own = report(data("paddle_small.paddle_trace.json"));
  const auto notes = [](const std::vector<std::string>& all) {
    const auto begin = std::find(all.begin(), all.end(), "Note:");
    return std::vector<std::string>(begin, all.end() - (begin == all.end() ? 0 : 1));
  };
  for (const char* title : {"Device Summary", "Overview Summary", "Model Summary"}) {
    EXPECT_GT(notes(table(reference, title)).size(), 2u);
    EXPECT_EQ(notes(table(own, title)), notes(table(reference, title))) << title;
  }
  for (const auto& [title, count] : {std::pair("Device Summary", 4),
                                     {"Overview Summary", 5},
                                     {"Operator Summary", 6},
                                     {"Kernel Summary", 5}}) {
    std::vector<std::string> ours = table(own, title);
    std::vector<std::string> theirs = table(reference, title);
    ASSERT_GT(theirs.size(), static_cast<std::size_t>(count)) << title;
    ours.resize(static_cast<std::size_t>(count));
    theirs.resize(static_cast<std::size_t>(count));
    EXPECT_EQ(ours, theirs) << title;
  }
  for (const char* title : {"Memory Manipulation Summary", "UserDefined Summary"}) {
    const std::vector<std::string> ours = table(own, title);
    const std::vector<std::string> theirs = table(reference, title);
    ASSERT_GT(theirs.size(), 5u) << title;
    // Names have the width of the longest one.
    const auto headings = [](const std::string& line) { return line.substr(line.find("  Calls")); };
    EXPECT_EQ(ours[1], theirs[1]);
    EXPECT_EQ(headings(ours[3]), headings(theirs[3])) << title;
    const bool closed = theirs.back()[0] == '-';
    EXPECT_EQ(ours.back()[0] == '-', closed) << title;
  }
}

}  // namespace
}  // namespace sonde
