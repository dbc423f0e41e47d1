// What PaddlePaddle 3.3.1 itself printed for a recording, and what Sonde prints from the files of
// the same recording.

#include <gtest/gtest.h>

#include "import/loader.hpp"
#include "report/registry.hpp"
#include "tests/support/files.hpp"
#include "tests/support/render.hpp"

namespace sonde {
namespace {

std::string data(const std::string& name) {
  return std::string(SONDE_TEST_DATA) + "/paddle_real/" + name;
}

std::string report(const std::string& file, ReportRequest request) {
  request.style = "paddle";
  return test::report(data(file), request);
}

TEST(PaddleReal, TheDumpGivesThePrintedSummary) {
  EXPECT_EQ(report("train.paddle_trace.pb", {}), test::read_bytes(data("summary.default.txt")));
}

TEST(PaddleReal, TheDumpGivesThePrintedSummaryWithOptions) {
  ReportRequest request;
  request.sort = "CPUMax";
  request.op_detail = "off";
  request.thread_sep = true;
  request.time_unit = "us";
  EXPECT_EQ(report("train.paddle_trace.pb", request),
            test::read_bytes(data("summary.us_nodetail_threadsep.txt")));
}

// The JSON rounds times to 32-bit floats: in milliseconds nothing of it shows.
TEST(PaddleReal, TheJsonGivesThePrintedSummary) {
  EXPECT_EQ(report("train.paddle_trace.json.gz", {}),
            test::read_bytes(data("summary.default.txt")));
}

}  // namespace
}  // namespace sonde
