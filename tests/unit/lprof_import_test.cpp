#include "import/lprof/lprof.hpp"

#include "import/tracemalloc/tracemalloc.hpp"
#include "tests/support/profile_rows.hpp"

namespace sonde {
namespace {

using test::format_of;
using test::function_named;
using test::import_or_fail;

TEST(Lprof, ReadsWhatLineProfilerWrote) {
  // The numbers are those that `python -m line_profiler -u 1e-9` prints for this file.
  const std::string bytes = test::profile_bytes("lines.lprof");
  EXPECT_EQ(format_of(bytes), "lprof");
  const Trace trace = import_or_fail(bytes, import_lprof);
  EXPECT_TRUE(trace.losses().empty());
  const FunctionProfile profile = function_profile(trace);
  EXPECT_FALSE(profile.self_known);
  const std::size_t slow = function_named(profile, "slow");
  EXPECT_EQ(profile.functions[slow].file, "lp.py");
  EXPECT_EQ(profile.functions[slow].line, 2);
  EXPECT_EQ(profile.total[slow], 36'664'187);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < profile.lines.size(); ++i) {
    lines.push_back(std::to_string(profile.lines[i].line) + " " +
                    std::to_string(profile.lines[i].hits) + " " +
                    std::to_string(static_cast<std::int64_t>(profile.line_self[i])));
  }
  EXPECT_EQ(lines,
            (std::vector<std::string>{"4 3 2424", "5 303 54027", "6 300 57169", "7 3 36546386",
                                      "8 3 4181", "11 4 4366", "12 3 36878314"}));
}

TEST(Lprof, ACutFileIsRefused) {
  const std::string whole = test::profile_bytes("lines.lprof");
  for (std::size_t cut = 1; cut + 1 < whole.size(); ++cut) {
    const Result<Trace> trace = test::try_import(whole.substr(0, cut), import_lprof);
    ASSERT_FALSE(trace.ok()) << cut;
    EXPECT_FALSE(trace.error().text().empty());
  }
}

TEST(Tracemalloc, ReadsASnapshot) {
  // statistics('lineno') of this file: blocks.py:2: size=92.8 KiB, count=93
  const std::string bytes = test::profile_bytes("tracemalloc.snapshot");
  EXPECT_EQ(format_of(bytes), "tracemalloc");
  const Trace trace = import_or_fail(bytes, import_tracemalloc);
  const FunctionProfile profile = function_profile(trace);
  ASSERT_EQ(profile.costs.size(), 2u);
  EXPECT_EQ(profile.costs[0].unit, "bytes");
  const std::size_t leaf = function_named(profile, "blocks.py:2");
  EXPECT_EQ(profile.self_of(leaf, 1), 93);
  EXPECT_NEAR(profile.self_of(leaf, 0) / 1024, 92.8, 0.05);
  const std::size_t caller = function_named(profile, "blocks.py:4");
  EXPECT_EQ(profile.self_of(caller, 0), 0);
  EXPECT_GT(profile.total_of(caller, 0), 0);
}

}  // namespace
}  // namespace sonde
