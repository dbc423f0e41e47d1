#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "import/loader.hpp"
#include "report/registry.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/render.hpp"

namespace sonde {
namespace {

using test::report;

std::string report(const std::string& path, const std::string& style,
                   const std::string& format = "") {
  ReportRequest request;
  request.style = style;
  request.format = format;
  return report(path, request);
}

std::string small() { return std::string(SONDE_TEST_DATA) + "/mxnet_small.json"; }

// The tables that MXNet itself printed when the dumps were made. They show its tab as eight blanks.
TEST(MxnetTables, OfTheReferenceByteForByte) {
  const std::string data =
      std::string(SONDE_SHARED_DATA) + "/mxnet/gpu_mnist_cnn_profile_output.json";
  const std::string reference = std::string(SONDE_SHARED_REFERENCE) + "/mxnet-aggregate-stats.txt";
  if (!std::filesystem::exists(data) || !std::filesystem::exists(reference)) {
    GTEST_SKIP() << "no shared data or reference";
  }
  const std::string heading = "# GPU output\n";
  std::string expected = testing::read_file(reference);
  ASSERT_NE(expected.find(heading), std::string::npos);
  expected.erase(0, expected.find(heading) + heading.size());
  std::string actual = report(data, "mxnet");
  const std::size_t tab = actual.find('\t');
  ASSERT_NE(tab, std::string::npos);
  actual.replace(tab, 1, 8, ' ');
  EXPECT_EQ(actual.find('\t'), std::string::npos);
  EXPECT_EQ(actual, expected);
}

// The CPU dump is of another run of the same script than the reference: the calls are the same, and
// so is their order.
TEST(MxnetTables, OfAnotherRunHasTheRowsOfTheReference) {
  const std::string data =
      std::string(SONDE_SHARED_DATA) + "/mxnet/cpu_mnist_cnn_profile_output.json";
  const std::string reference = std::string(SONDE_SHARED_REFERENCE) + "/mxnet-aggregate-stats.txt";
  if (!std::filesystem::exists(data) || !std::filesystem::exists(reference)) {
    GTEST_SKIP() << "no shared data or reference";
  }
  const auto names = [](const std::string& text) {
    std::string out;
    std::size_t at = text.find("MXNET_C_API\n");
    const std::size_t end = text.find("\n\n", at);
    for (; at < end; at = text.find('\n', at) + 1)
      out += text.substr(at, text.find('\n', at) - at).substr(0, 40) + "\n";
    return out;
  };
  EXPECT_EQ(names(report(data, "mxnet")), names(testing::read_file(reference)));
}

TEST(MxnetTables, OfASmallDump) {
  testing::expect_golden("mxnet_small.txt", report(small(), "mxnet"));
  testing::expect_golden("mxnet_small.json", report(small(), "mxnet", "json"));
  testing::expect_golden("mxnet_small_1.5.txt", report(small(), "mxnet-1.5"));
  testing::expect_golden("mxnet_small_1.5.json", report(small(), "mxnet-1.5", "json"));
}

TEST(MxnetTables, SortedByAKeyUpwards) {
  ReportRequest request;
  request.style = "mxnet-1.5";
  request.sort = "avg";
  request.ascending = true;
  testing::expect_golden("mxnet_small_1.5_avg.txt", report(small(), request));
}

TEST(MxnetTables, OfAPytorchTrace) {
  const std::string trace = std::string(SONDE_TEST_DATA) + "/ddp_rank0.pt.trace.json.gz";
  testing::expect_golden("ddp_rank0_mxnet.txt", report(trace, "mxnet"));
}

TEST(MxnetTables, OnlyTheNewOneHasADirection) {
  ReportRequest request;
  request.style = "mxnet";
  request.ascending = true;
  const Result<const ReportView*> view = find_view(request);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().reason, "view 'aggregate' of style 'mxnet' has no ascending order");
}

}  // namespace
}  // namespace sonde
