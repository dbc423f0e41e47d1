#include "import/mprof/mprof.hpp"

#include "analysis/counter_stats.hpp"
#include "tests/support/profile_rows.hpp"

namespace sonde {
namespace {

using test::format_of;
using test::import_or_fail;
using test::losses;

TEST(Mprof, ReadsARealFile) {
  const std::string bytes = test::profile_bytes("memory.dat");
  EXPECT_EQ(format_of(bytes), "mprof");
  const Trace trace = import_or_fail(bytes, import_mprof);
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_EQ(trace.counters().size(), 13u);
  const std::vector<CounterStats> stats = counter_stats(trace);
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_DOUBLE_EQ(stats[0].peak, 73.058594 * 1024 * 1024);
  EXPECT_EQ(stats[0].peak_time, 312'000'000);
  EXPECT_DOUBLE_EQ(stats[0].last, 22.863281 * 1024 * 1024);
  // The profiled process wrote its functions before mprof wrote the command.
  EXPECT_EQ(test::names(trace), (std::vector<std::string>{"__main__.work", "__main__.grow"}));
  EXPECT_EQ(trace.slices().parent(SliceId(1u)), SliceId(0u));
  EXPECT_EQ(trace.slices().duration(SliceId(1u)), 448'800'000);
  EXPECT_EQ(trace.text(trace.tracks()[0].process), "python3 mp.py");
  EXPECT_TRUE(trace.meta().wall_clock);
}

TEST(Mprof, ReadsChildrenSecondRunsAndFunctionsWithoutLevel) {
  const Trace trace = import_or_fail(
      "CMDLINE a\nMEM 1.0 10.0\nCHLD 0 2.0 10.5\nFUNC m.f 1.0 10.0 2.0 11.0\n"
      "CMDLINE b\nMEM 4.0 20.0\n\n",
      import_mprof);
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_EQ(counter_stats(trace).size(), 3u);
  ASSERT_EQ(trace.tracks().size(), 3u);
  EXPECT_EQ(trace.text(trace.tracks()[2].process), "b");
  const auto arguments = trace.arguments().of(SliceId(0u));
  ASSERT_EQ(arguments.size(), 2u);
  EXPECT_EQ(arguments[1].real(), 2.0 * 1024 * 1024);
}

TEST(Mprof, CountsOddLines) {
  const Trace trace = import_or_fail(
      "CMDLINE a\nMEM x 1\nMEM 1\nFUNC f 1 5 1 4 0\nGPU 1 2\nMEM 1.0 nan\n", import_mprof);
  EXPECT_EQ(losses(trace, "line_unusable"), 5u);
  EXPECT_EQ(losses(trace, "no_events"), 1u);
}

TEST(Mprof, OtherTextsAreNotTaken) {
  EXPECT_EQ(format_of("MEM leaks are bad\n"), "");
  EXPECT_EQ(format_of("CMDLINE tools\nare good\n"), "");
  EXPECT_EQ(format_of("MEM 1.0 10.0\n"), "mprof");
}

}  // namespace
}  // namespace sonde
