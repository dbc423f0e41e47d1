// The style pstats, against what pstats itself printed.

#include <gtest/gtest.h>

#include "tests/support/python_styles.hpp"

namespace sonde {
namespace {

using test::expected;
using test::in_style;
using test::load;
using test::one;
using test::render;

struct PstatsCase {
  const char* sort;
  bool strip;
  const char* view;
  std::vector<std::string> restrictions;
};

// The cases of make_pstats.py.
std::string pstats_cases(const TraceSet& traces) {
  const std::vector<PstatsCase> cases = {
      {"", false, "stats", {}},
      {"cumulative", false, "stats", {}},
      {"tottime,nfl", true, "stats", {"7"}},
      {"ncalls", true, "stats", {"0.3"}},
      {"stdname", false, "callers", {}},
      {"cumt", true, "callers", {"py:", "4"}},
      {"pc,name", false, "callees", {"^\\{", "0.5"}},
      {"line", true, "callees", {}},
  };
  std::string out;
  for (const PstatsCase& one_case : cases) {
    ReportRequest request = in_style("pstats", one_case.view);
    request.sort = one_case.sort;
    request.strip_dirs = one_case.strip;
    request.restrictions = one_case.restrictions;
    out += render(traces, request);
  }
  return out;
}

TEST(PstatsStyle, IsWhatPstatsPrints) {
  for (const char* name : {"calls", "calls_profile", "moved"}) {
    EXPECT_EQ(pstats_cases(one(load(std::string(name) + ".prof"))),
              expected(std::string(name) + ".pstats.txt"))
        << name;
  }
}

TEST(PstatsStyle, SeveralFilesAreSummedAsPstatsDoes) {
  TraceSet traces;
  for (const char* name : {"moved.prof", "calls.prof", "../profiles/cprofile_py311.prof"}) {
    traces.push_back(load(name));
  }
  EXPECT_EQ(pstats_cases(traces), expected("three.pstats.txt"));
}

TEST(PstatsStyle, CallsAndSamplesAreNotAddedUp) {
  TraceSet traces;
  traces.push_back(load("calls.prof"));
  traces.push_back(load("../profiles/stacks.folded"));
  const std::string text = render(traces, in_style("pstats"));
  const std::string note =
      "The numbers of 1 trace of another kind than the first one's are left out.\n";
  EXPECT_EQ(text, note + render(one(load("calls.prof")), in_style("pstats")));
}

TEST(PstatsStyle, TheLimitIsTheLastRestriction) {
  const TraceSet traces = one(load("calls.prof"));
  ReportRequest request = in_style("pstats");
  request.sort = "time";
  request.restrictions = {"json"};
  request.limit = 2;
  const std::string text = render(traces, request);
  EXPECT_NE(text.find("due to restriction <'json'>\n   List reduced from "), std::string::npos);
  EXPECT_NE(text.find(" to 2 due to restriction <2>\n"), std::string::npos) << text;
}

TEST(PstatsStyle, ViewsMayBeCombined) {
  const TraceSet traces = one(load("calls.prof"));
  const std::string all = render(traces, in_style("pstats", "stats,callers,callees"));
  EXPECT_EQ(all, render(traces, in_style("pstats")) +
                     render(traces, in_style("pstats", "callers")) +
                     render(traces, in_style("pstats", "callees")));
}

TEST(PstatsStyle, WrongWordsAreToldApart) {
  ReportRequest request = in_style("pstats");
  request.sort = "time,cumm";
  EXPECT_FALSE(find_view(request).ok());
  request.sort = "c";  // calls, cumtime or cumulative
  EXPECT_FALSE(find_view(request).ok());
  request.sort = "time,na";
  EXPECT_TRUE(find_view(request).ok());
  request.restrictions = {"1.5"};
  EXPECT_FALSE(find_view(request).ok());
  ReportRequest other = in_style("torch");
  other.strip_dirs = true;
  EXPECT_FALSE(find_view(other).ok());
  request.restrictions = {"("};
  EXPECT_NE(render(one(load("calls.prof")), request).find("   <Invalid regular expression '('>\n"),
            std::string::npos);
}

TEST(PstatsStyle, SamplesAndTimelinesSayWhatTheyAre) {
  Result<LoadedSet> loaded =
      load_traces({std::string(SONDE_TEST_DATA) + "/profiles/stacks.folded"});
  ASSERT_TRUE(loaded.ok());
  const std::string samples = render(loaded->traces, in_style("pstats"));
  EXPECT_EQ(samples.find("From samples: ncalls counts samples"), 0u) << samples;
  loaded = load_traces({std::string(SONDE_TEST_DATA) + "/profiles/evented.speedscope.json"});
  ASSERT_TRUE(loaded.ok());
  const std::string slices = render(loaded->traces, in_style("pstats"));
  EXPECT_EQ(slices.find("From a timeline: "), 0u) << slices;
  EXPECT_EQ(render(one(load("work.lprof")), in_style("pstats"))
                .find("tottime has what a function called.\nwork.lprof\n"),
            0u);
  loaded = load_traces({std::string(SONDE_TEST_DATA) + "/profiles/small.callgrind"});
  ASSERT_TRUE(loaded.ok());
  const std::string instructions = render(loaded->traces, in_style("pstats"));
  EXPECT_NE(instructions.find("not seconds."), std::string::npos) << instructions;
}

}  // namespace
}  // namespace sonde
