// The library loads anywhere: it needs the C library and nothing else.

#include <sstream>

#include "tests/recorder/recorded_run.hpp"

namespace sonde::testing {
namespace {

TEST(Library, NeedsTheCLibraryOnly) {
  if (sanitized()) GTEST_SKIP() << "sanitizers bring their own runtime";
  const ProcessResult result = run_process({"readelf", "-d", SONDE_RECORDER_LIBRARY});
  if (result.status != 0) GTEST_SKIP() << "readelf is missing";
  std::istringstream stream(result.out);
  for (std::string line; std::getline(stream, line);) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    EXPECT_TRUE(line.find("[libc.so") != std::string::npos ||
                line.find("[ld-linux") != std::string::npos)
        << line;
  }
  EXPECT_NE(result.out.find("NODELETE"), std::string::npos);
}

TEST(Library, ShowsItsOwnNamesOnly) {
  if (sanitized()) GTEST_SKIP() << "sanitizers add names of their own";
  const ProcessResult result = run_process({"nm", "-D", "--defined-only", SONDE_RECORDER_LIBRARY});
  if (result.status != 0) GTEST_SKIP() << "nm is missing";
  std::istringstream stream(result.out);
  for (std::string line; std::getline(stream, line);) {
    EXPECT_NE(line.find(" sonde_"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace sonde::testing
