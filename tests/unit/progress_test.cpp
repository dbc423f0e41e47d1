#include "cli/progress.hpp"

#include <gtest/gtest.h>

#include "report/safe_text.hpp"

namespace sonde {
namespace {

TEST(ProgressLine, ShowsHowFarReadingHasCome) {
  EXPECT_EQ(progress_line({"trace.json.gz", 1 << 20, 4 << 20}, 80),
            "reading trace.json.gz  [#######                       ]  25%  1.00 MiB");
}

TEST(ProgressLine, IsHonestWhereTheSizeIsUnknown) {
  EXPECT_EQ(progress_line({"-", 1536, 0}, 80), "reading standard input  1.50 KiB");
}

TEST(ProgressLine, NeverPassesTheEnd) {
  EXPECT_EQ(progress_line({"x", 5, 4}, 80),
            "reading x  [##############################] 100%  5 B");
}

TEST(ProgressLine, FitsAndIsSafe) {
  const LoadProgress state{std::string(300, 'a') + "\x1b[31m", 1, 2};
  const std::string line = progress_line(state, 80);
  EXPECT_LE(display_width(line), 80u);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace sonde
