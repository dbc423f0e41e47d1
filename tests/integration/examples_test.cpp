#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/process.hpp"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::ProcessResult;
using testing::run_process;

// A folder for one run, gone with the test.
class RunFolder {
 public:
  RunFolder() {
    std::string name = (fs::temp_directory_path() / "sonde-example-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~RunFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string run() const { return path_ + "/run"; }

 private:
  std::string path_;
};

TEST(Examples, TheLossOfTheSmallNetworkFalls) {
  // The program itself compares the loss at the end with the loss at the start.
  const ProcessResult result = run_process({SONDE_EXAMPLES "/lenet", "40", "32"});
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_NE(result.out.find("loss fell from"), std::string::npos) << result.out;
}

TEST(Examples, RecordingChangesNoNumberOfTheTraining) {
  const RunFolder folder;
  const ProcessResult plain = run_process({SONDE_EXAMPLES "/lenet", "12", "16"});
  const ProcessResult recorded = run_process({SONDE_BINARY, "run", "--quiet", "-o", folder.run(),
                                              "--", SONDE_EXAMPLES "/lenet", "12", "16"});
  EXPECT_EQ(plain.out, recorded.out);
  EXPECT_EQ(plain.status, recorded.status);
}

TEST(Examples, TheRecordedTrainingHasTheSectionsOfAnMxnetTable) {
  const RunFolder folder;
  const ProcessResult recorded = run_process({SONDE_BINARY, "run", "--quiet", "-o", folder.run(),
                                              "--", SONDE_EXAMPLES "/lenet", "12", "16"});
  ASSERT_NE(recorded.out.find("step"), std::string::npos) << recorded.err;
  const ProcessResult table =
      run_process({SONDE_BINARY, "report", folder.run(), "--style", "mxnet"});
  ASSERT_EQ(table.status, 0) << table.err;
  for (const std::string section : {"Device Storage\n====", "LENET_API\n====", "operator\n===="}) {
    EXPECT_NE(table.out.find(section), std::string::npos) << section << "\n" << table.out;
  }
  // Two convolutions a step, forward and backward.
  EXPECT_NE(table.out.find("Convolution                            24"), std::string::npos)
      << table.out;
  EXPECT_NE(table.out.find("_backward_Convolution                  24"), std::string::npos)
      << table.out;
}

TEST(Examples, TheSummaryOfTheTrainingKnowsItsSteps) {
  const RunFolder folder;
  run_process({SONDE_BINARY, "run", "--quiet", "-o", folder.run(), "--", SONDE_EXAMPLES "/lenet",
               "12", "16"});
  const ProcessResult summary = run_process({SONDE_BINARY, "report", folder.run()});
  ASSERT_EQ(summary.status, 0) << summary.err;
  EXPECT_NE(summary.out.find("Steps     12 (0 to 11)"), std::string::npos) << summary.out;
  EXPECT_NE(summary.out.find("DataLoader"), std::string::npos) << summary.out;
}

TEST(Examples, ThePlainCProgramRecordsItsLines) {
  const RunFolder folder;
  const ProcessResult result = run_process(
      {SONDE_BINARY, "run", "--quiet", "-o", folder.run(), "--", SONDE_EXAMPLES "/counter"},
      "one two\nthree\n\nfour five six\n");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "4 lines, 6 words\n");
  const ProcessResult table =
      run_process({SONDE_BINARY, "report", folder.run(), "--view", "operators", "--format", "csv"});
  EXPECT_NE(table.out.find("count_words,4,"), std::string::npos) << table.out << table.err;
}

}  // namespace
}  // namespace sonde
