#include "import/vprof/vprof.hpp"

#include "tests/support/profile_rows.hpp"

namespace sonde {
namespace {

using test::function_named;
using test::import_or_fail;
using test::losses;

const std::string kProfiler =
    R"json("p": {"objectName": "x.py (module)", "totalTime": 1.5, "primitiveCalls": 3, "totalCalls": 5,
       "callStats": [["x.py", 3, "f", 1.25, 83.3, 4, 2, 1.0, "x.py", 7],
                     ["x.py", 1, "main", 1.5, 100, 1, 1, 0.25, "x.py", 8], ["short"]]})json";
const std::string kHeatMap =
    R"json("h": {"objectName": "x.py (module)", "runTime": 1, "heatmaps": [{"name": "x.py",
       "heatmap": {"3": 0.5, "4": 0.25, "x": 1}, "executionCount": {"3": 10, "4": 20}, "srcCode": []}]})json";
const std::string kFlameGraph =
    R"json("c": {"objectName": "x.py (module)", "sampleInterval": 0.001,
       "callStats": {"stack": ["main", "x.py", 1], "sampleCount": 10,
                     "children": [{"stack": ["f", "x.py", 3], "sampleCount": 7, "children": []}]}})json";

TEST(Vprof, ReadsFunctionsAndLines) {
  const std::string bytes = "{" + kProfiler + "," + kHeatMap + R"(, "version": "0.38"})";
  EXPECT_EQ(test::format_of(bytes), "vprof");
  const Trace trace = import_or_fail(bytes, import_vprof);
  const FunctionProfile profile = function_profile(trace);
  const std::size_t f = function_named(profile, "f");
  EXPECT_EQ(profile.functions[f].calls, 4);
  EXPECT_EQ(profile.functions[f].primitive_calls, 2);
  EXPECT_EQ(profile.self[f], 1e9);
  EXPECT_EQ(profile.total[f], 1.25e9);
  EXPECT_EQ(profile.whole[0], 1.25e9);  // the lines are not counted a second time
  ASSERT_EQ(profile.lines.size(), 2u);
  EXPECT_EQ(profile.lines[1].hits, 20);
  EXPECT_EQ(profile.line_self[1], 0.25e9);
  EXPECT_EQ(losses(trace, "row_unusable"), 2u);
  EXPECT_EQ(trace.meta().version, "0.38");
}

TEST(Vprof, ReadsTheFlameGraphAsSamples) {
  const Trace trace = import_or_fail("{" + kFlameGraph + "}", import_vprof);
  EXPECT_EQ(test::sample_lines(trace), (std::vector<std::string>{"main 3", "main;f 7"}));
  EXPECT_TRUE(trace.losses().empty());
}

TEST(Vprof, SaysWhatIsMissing) {
  const Trace trace = import_or_fail(
      R"({"m": {"objectName": "x", "codeEvents": [[1, 2, 3.5, "f", "x.py"]]}, "p": 5})",
      import_vprof);
  EXPECT_EQ(losses(trace, "memory_left_out"), 1u);
  EXPECT_EQ(losses(trace, "part_unusable"), 1u);
  EXPECT_EQ(losses(trace, "no_events"), 1u);
  EXPECT_FALSE(test::try_import("{" + kProfiler, import_vprof).ok());
}

}  // namespace
}  // namespace sonde
