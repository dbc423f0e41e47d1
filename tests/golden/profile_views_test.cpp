// The views of profiles: functions, callers and callees, lines, stacks and the summary, of one
// small file for each kind of profile.

#include <gtest/gtest.h>

#include "import/loader.hpp"
#include "report/registry.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/render.hpp"

namespace sonde {
namespace {

using test::render;

TraceSet load(const std::string& name) {
  Result<LoadedSet> loaded = load_traces({std::string(SONDE_TEST_DATA) + "/profiles/" + name});
  EXPECT_TRUE(loaded.ok()) << (loaded ? "" : loaded.error().text());
  if (!loaded) return {};
  // The path depends on the machine.
  for (NamedTrace& named : loaded->traces) named.path = name;
  return std::move(loaded->traces);
}

class EachProfile : public ::testing::TestWithParam<std::string> {};

TEST_P(EachProfile, AsText) {
  const TraceSet traces = load(GetParam());
  ASSERT_EQ(traces.size(), 1u);
  std::string all;
  for (const char* view : {"summary", "functions", "callgraph", "lines", "stacks"}) {
    all += "==== " + std::string(view) + "\n" + render(traces, view, "text") + "\n";
  }
  testing::expect_golden("profile_" + GetParam() + ".txt", all);
}

TEST_P(EachProfile, HasNothingOfTrainingSteps) {
  const std::string text = render(load(GetParam()), "summary", "text");
  for (const char* word : {"Average step", "GPU", "none marked", "no accelerator"}) {
    EXPECT_EQ(text.find(word), std::string::npos) << word;
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, EachProfile,
                         ::testing::Values("cprofile_py311.prof", "profile_py311.prof",
                                           "lines.lprof", "memory.dat", "tracemalloc.snapshot",
                                           "stacks.folded", "evented.speedscope.json",
                                           "small.callgrind", "samples.perf.txt",
                                           "listing.pprofile.txt"),
                         [](const auto& name) {
                           std::string out = name.param;
                           for (char& c : out)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return out;
                         });

TEST(ProfileViews, ProgramsGetOneTableOfAllCosts) {
  const TraceSet traces = load("small.callgrind");
  for (const char* view : {"functions", "callgraph", "lines"}) {
    testing::expect_golden("profile_callgrind_" + std::string(view) + ".csv",
                           render(traces, view, "csv"));
  }
  testing::expect_golden("profile_folded_stacks.json",
                         render(load("stacks.folded"), "stacks", "json"));
  testing::expect_golden("profile_callgrind_functions.md", render(traces, "functions", "markdown"));
}

TEST(ProfileViews, SortKeysOrderTheRows) {
  const TraceSet traces = load("cprofile_py311.prof");
  const auto first_row = [&](const char* view, const char* sort) {
    const std::string text = render(traces, view, "text", sort);
    const std::size_t rule = text.find("----");
    const std::size_t row = text.find('\n', rule) + 1;
    return text.substr(row, text.find("  ", row) - row);
  };
  EXPECT_EQ(first_row("functions", "self"), "busy");
  EXPECT_EQ(first_row("functions", "total"), "<built-in method builtins.exec>");
  EXPECT_EQ(first_row("functions", "calls"), "fib");
  EXPECT_EQ(first_row("functions", "name"), "<built-in method builtins.exec>");
  EXPECT_EQ(first_row("callgraph", "calls"), "fib");
  EXPECT_EQ(first_row("callgraph", "self"), "busy");
}

TEST(ProfileViews, SeveralProfilesAreSummed) {
  TraceSet traces = load("stacks.folded");
  traces.push_back(std::move(load("stacks.folded")[0]));
  traces.push_back(std::move(load("cprofile_py311.prof")[0]));
  const std::string text = render(traces, "functions", "text");
  EXPECT_NE(text.find("matmul     270"), std::string::npos) << text;
  EXPECT_NE(text.find("1 trace of another kind left out"), std::string::npos) << text;
}

}  // namespace
}  // namespace sonde
