#include "import/perf_script/perf_script.hpp"

#include "import/perf_script/perf_lines.hpp"
#include "tests/support/profile_rows.hpp"

namespace sonde {
namespace {

using test::format_of;
using test::import_or_fail;
using test::losses;
using test::sample_lines;
using Lines = std::vector<std::string>;

TEST(PerfLines, ReadsHeadersOfAllLayouts) {
  const auto plain = parse_perf_header("python    10 198792.736893:    1001001 cpu-clock: ");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->command, "python");
  EXPECT_EQ(plain->tid, 10);
  EXPECT_EQ(plain->time, 198'792'736'893'000);
  EXPECT_EQ(plain->period, 1'001'001);
  EXPECT_EQ(plain->event, "cpu-clock");
  const auto both = parse_perf_header("Web Content 2  9/12 [003]  5.000001: cycles:ppp: ");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->command, "Web Content 2");
  EXPECT_EQ(both->pid, 9);
  EXPECT_EQ(both->tid, 12);
  EXPECT_EQ(both->cpu, 3);
  EXPECT_FALSE(both->period);
  EXPECT_EQ(both->event, "cycles:ppp");
  const auto line = parse_perf_header("sh 7 1.5: 3 cycles:  7f12 main+0x1 (/bin/sh)");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->rest, "7f12 main+0x1 (/bin/sh)");
  EXPECT_FALSE(parse_perf_header("a line of words"));
  EXPECT_FALSE(parse_perf_header("# cmdline : perf record 7 1.5: x:"));
}

TEST(PerfLines, ReadsFrames) {
  const auto frame =
      parse_perf_frame("\t    ffff804d8598 main(int, char**)+0x98 (/tmp/a (deleted))");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "main(int, char**)");
  EXPECT_EQ(frame->object, "/tmp/a (deleted)");
  EXPECT_EQ(parse_perf_frame("  7f [unknown] ([kernel.kallsyms])")->symbol, "[unknown]");
  EXPECT_EQ(parse_perf_frame("  7f f(int)")->symbol, "f(int)");
  EXPECT_EQ(parse_perf_frame("  7f")->symbol, "[unknown]");
  EXPECT_FALSE(parse_perf_frame("  main (x)"));
}

const std::string kTwo =
    "# perf version : 6.1\n"
    "app 10 5.000001: 1000 cpu-clock: \n"
    "\t1a leaf+0x2 (/app)\n"
    "\t2b main (/app)\n"
    "\n"
    "app 10/11 [001] 5.000003: 3 cycles: \n"
    "\t2b main (/app)\n";

TEST(PerfScript, KeepsTheHeader) {
  const std::string header =
      "# ========\n"
      "# captured on: Wed Aug 15 16:01:24 2018\n"
      "# arch : x86_64\n"
      "# event : name = cpu-clock, type = 1\n"
      "# event : name = cycles, type = 0\n"
      "# CACHE info available, use -I to display\n#\n";
  const Trace trace = import_or_fail(header + kTwo, import_perf_script);
  using Property = std::pair<std::string, std::string>;
  const std::vector<Property> expected = {{"captured on", "\"Wed Aug 15 16:01:24 2018\""},
                                          {"arch", "\"x86_64\""},
                                          {"event", "\"name = cpu-clock, type = 1\""},
                                          {"event (2)", "\"name = cycles, type = 0\""}};
  EXPECT_EQ(trace.meta().properties, expected);
  EXPECT_EQ(trace.meta().version, "perf 6.1");
  EXPECT_EQ(losses(trace, "header_lines"), 0u);

  std::string endless;
  for (int i = 0; i < 250; ++i) endless += "# key : value\n";
  const Trace cut = import_or_fail(endless + kTwo, import_perf_script);
  EXPECT_EQ(cut.meta().properties.size(), 200u);
  EXPECT_EQ(losses(cut, "header_lines"), 50u);
}

TEST(PerfScript, ReadsSamplesByEvent) {
  const Trace trace = import_or_fail(kTwo, import_perf_script);
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_EQ(trace.meta().version, "perf 6.1");
  EXPECT_EQ(sample_lines(trace, 0), (Lines{"main;leaf 1000"}));
  EXPECT_EQ(sample_lines(trace, 1), (Lines{"main 3"}));
  EXPECT_EQ(trace.text(trace.sample_types()[0].unit), "ns");
  EXPECT_EQ(trace.text(trace.sample_types()[1].unit), "count");
  EXPECT_EQ(trace.samples()[1].time, 2000);
  ASSERT_EQ(trace.tracks().size(), 2u);
  EXPECT_EQ(trace.tracks()[1].tid, 11);
  EXPECT_EQ(trace.text(trace.stacks()[1].file), "/app");
}

TEST(PerfScript, ReadsSourceLinesAndSamplesWithoutStacks) {
  const Trace trace = import_or_fail(
      "app 10 5.0: cycles: \n\t1a leaf (/app)\n  src/leaf.c:12\n\t2b main (/app)\n\n"
      "app 10 6.0: cycles: \n\napp 10 7.0: 1 cycles:  1a leaf (/app)\n",
      import_perf_script);
  EXPECT_EQ(sample_lines(trace, 0), (Lines{"main;leaf 1", " 1"}));
  EXPECT_EQ(sample_lines(trace, 1), (Lines{"leaf 1"}));
  EXPECT_EQ(losses(trace, "sample_without_stack"), 1u);
  const FunctionProfile profile = function_profile(trace);
  ASSERT_EQ(profile.lines.size(), 1u);
  EXPECT_EQ(profile.lines[0].file, "src/leaf.c");
  EXPECT_EQ(profile.lines[0].line, 12);
}

TEST(PerfScript, CountsOddLines) {
  const Trace trace =
      import_or_fail(kTwo + "\tnot a frame\n\nwhat is this\napp 10 8.0: PERF_RECORD_COMM: exec\n",
                     import_perf_script);
  EXPECT_EQ(losses(trace, "line_unusable"), 2u);
  EXPECT_EQ(losses(trace, "record_without_sample"), 1u);
  EXPECT_EQ(trace.samples().size(), 2u);
}

TEST(PerfScript, IsKnownByItsSamples) {
  EXPECT_EQ(format_of(kTwo), "perf_script");
  EXPECT_EQ(format_of("app 10 cycles: \n\t1a leaf (/app)\n"), "perf_script");
  EXPECT_EQ(format_of("Step 5 loss: 0.3\nStep 6 loss: 0.2\n"), "");
  EXPECT_EQ(format_of("# a comment\n"), "");
}

TEST(PerfScript, TheSharedFilesHaveAllTheirSamples) {
  const std::string folder = std::string(SONDE_SHARED_DATA) + "/linux-perf/";
  // How many blocks of lines each file has.
  const std::vector<std::pair<std::string, std::size_t>> files = {
      {"forks", 561},           {"one-sample", 1},
      {"rust-mangled", 96},     {"simple-with-header", 136},
      {"simple-with-pid", 137}, {"simple", 1},
      {"system-wide", 556}};
  for (const auto& [name, samples] : files) {
    const std::string bytes = test::read_bytes(folder + name + ".linux-perf.txt");
    if (bytes.empty()) GTEST_SKIP() << "the shared data is not on this machine";
    EXPECT_EQ(format_of(bytes), "perf_script") << name;
    const Trace trace = import_or_fail(bytes, import_perf_script);
    EXPECT_EQ(trace.samples().size(), samples) << name;
    EXPECT_TRUE(trace.losses().empty()) << name;
  }
}

}  // namespace
}  // namespace sonde
