// The aggregate statistics that MXNet 1.9.1 itself printed for a recording, and what Sonde prints
// from its dump.

#include <gtest/gtest.h>

#include "import/loader.hpp"
#include "report/registry.hpp"
#include "tests/support/files.hpp"
#include "tests/support/render.hpp"

namespace sonde {
namespace {

std::string data(const std::string& name) {
  return std::string(SONDE_TEST_DATA) + "/mxnet_real/" + name;
}

std::string report(ReportRequest request) {
  request.style = "mxnet-1.5";
  request.view = "aggregate";
  return test::report(data("train.json.gz"), request);
}

TEST(MxnetReal, TheDumpGivesThePrintedTable) {
  EXPECT_EQ(report({}), test::read_bytes(data("table.txt")));
}

TEST(MxnetReal, TheDumpGivesThePrintedTableByAverageTime) {
  ReportRequest request;
  request.sort = "avg";
  EXPECT_EQ(report(request), test::read_bytes(data("table.avg.txt")));
}

TEST(MxnetReal, TheDumpGivesThePrintedJson) {
  ReportRequest request;
  request.format = "json";
  EXPECT_EQ(report(request), test::read_bytes(data("table.json")));
}

}  // namespace
}  // namespace sonde
