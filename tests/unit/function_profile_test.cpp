#include "analysis/function_profile.hpp"

#include "analysis/hot_stacks.hpp"
#include "import/collapsed/collapsed.hpp"
#include "tests/support/profile_rows.hpp"
#include "tests/support/small_trace.hpp"

namespace sonde {
namespace {

using test::function_named;
using test::import_or_fail;

FunctionProfile collapsed(const std::string& text) {
  return function_profile(import_or_fail(text, import_collapsed));
}

TEST(FunctionProfile, RecursionCountsOnceForEachStack) {
  const Trace trace = import_or_fail("a;b;a;b;c 3\na;b 2\nb 1\n", import_collapsed);
  const FunctionProfile profile = function_profile(trace);
  EXPECT_EQ(profile.source, ProfileSource::Samples);
  const std::size_t a = function_named(profile, "a");
  const std::size_t b = function_named(profile, "b");
  EXPECT_EQ(profile.total[a], 5);
  EXPECT_EQ(profile.self[a], 0);
  EXPECT_EQ(profile.total[b], 6);
  EXPECT_EQ(profile.self[b], 3);
  EXPECT_EQ(profile.whole[0], 6);
  EXPECT_EQ(profile.functions[a].calls, 2);  // samples with it
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    if (profile.calls[i].caller == a && profile.calls[i].callee == b) {
      EXPECT_EQ(profile.call_total[i], 5);
      EXPECT_EQ(profile.call_self[i], 2);
    }
  }
}

TEST(FunctionProfile, LinesBelongToTheLeaf) {
  const Trace trace = import_or_fail(
      "f (a.py:1);g (a.py:7) 3\nf (a.py:2);g (a.py:8) 4\nf (a.py:2) 5\n", import_collapsed);
  const FunctionProfile profile = function_profile(trace);
  EXPECT_EQ(profile.functions.size(), 2u);  // a function is one, whatever its line
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < profile.lines.size(); ++i) {
    lines.push_back(std::to_string(profile.lines[i].line) + " " +
                    std::to_string(static_cast<int>(profile.line_self[i])) + " " +
                    std::to_string(static_cast<int>(profile.line_total[i])));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"1 0 3", "7 3 3", "2 5 9", "8 4 4"}));
}

TEST(FunctionProfile, SlicesOfThreadsAreFunctions) {
  TraceBuilder builder;
  const TrackId thread = builder.add_track({});
  Track gpu;
  gpu.type = TrackType::Stream;
  const TrackId stream = builder.add_track(gpu);
  const auto add = [&](const char* name, Nanos start, Nanos end) {
    builder.add_slice(start, end - start, thread, builder.intern(name), SliceKind::Other);
  };
  add("f", 0, 100);
  add("g", 10, 60);
  add("f", 20, 50);  // calls itself through g
  add("g", 70, 90);
  builder.add_slice(0, 1000, stream, builder.intern("kernel"), SliceKind::Kernel);
  builder.nest(1);
  const Trace trace = builder.finish();
  const FunctionProfile profile = function_profile(trace);
  ASSERT_EQ(profile.functions.size(), 2u);
  const std::size_t f = function_named(profile, "f");
  const std::size_t g = function_named(profile, "g");
  EXPECT_EQ(profile.functions[f].calls, 2);
  EXPECT_EQ(profile.functions[f].primitive_calls, 1);
  EXPECT_EQ(profile.total[f], 100);
  EXPECT_EQ(profile.self[f], 60);
  EXPECT_EQ(profile.total[g], 70);
  EXPECT_EQ(profile.self[g], 40);
  EXPECT_EQ(profile.whole[0], 100);
  ASSERT_EQ(profile.calls.size(), 2u);
  EXPECT_EQ(profile.call_total[0], 70);  // f calls g
  EXPECT_EQ(profile.call_self[0], 40);
  EXPECT_EQ(profile.call_self[1], 30);  // g calls f
}

TEST(FunctionProfile, AMillionNestedSlicesAreCountedInTime) {
  TraceBuilder builder;
  const TrackId thread = builder.add_track({});
  const StringId name = builder.intern("deep");
  constexpr int kDeep = 1'000'000;
  for (int i = 0; i < kDeep; ++i) {
    builder.add_slice(i, 2 * (kDeep - i), thread, name, SliceKind::Other);
  }
  builder.nest(1);
  const Trace trace = builder.finish();
  const FunctionProfile profile = function_profile(trace);
  EXPECT_EQ(profile.functions[0].calls, kDeep);
  EXPECT_EQ(profile.functions[0].primitive_calls, 1);
  EXPECT_EQ(profile.total[0], 2.0 * kDeep);
}

TEST(FunctionProfile, SeveralTracesAreAddedUpByName) {
  TraceSet set;
  set.push_back(testing::named(import_or_fail("a;b 1\n", import_collapsed), "x"));
  set.push_back(testing::named(import_or_fail("a;b 2\na;c 4\n", import_collapsed), "y"));
  set.push_back(testing::named(testing::small_trace(), "z"));
  std::size_t left_out = 0;
  const FunctionProfile profile = function_profile(set, &left_out);
  EXPECT_EQ(left_out, 1u);
  EXPECT_EQ(profile.functions.size(), 3u);
  EXPECT_EQ(profile.total[function_named(profile, "a")], 7);
  EXPECT_EQ(profile.self[function_named(profile, "b")], 3);
  const HotStacks stacks = hot_stacks(set);
  ASSERT_EQ(stacks.rows.size(), 2u);
  EXPECT_EQ(stacks.rows[0].weight, 4);
  EXPECT_EQ(stacks.rows[1].weight, 3);
}

TEST(FunctionProfile, OneCostCanBePicked) {
  FunctionProfile profile = collapsed("a;b 1 10\na;c 2 20\n");
  ASSERT_EQ(profile.costs.size(), 2u);
  EXPECT_EQ(profile.whole[1], 30);
  const FunctionProfile second = with_one_cost(profile, 1);
  ASSERT_EQ(second.costs.size(), 1u);
  EXPECT_EQ(second.self, (std::vector<double>{0, 10, 20}));
  EXPECT_EQ(second.total, (std::vector<double>{30, 10, 20}));
}

TEST(FunctionProfile, TellsProfilesFromTimelines) {
  EXPECT_TRUE(is_function_profile(import_or_fail("a;b 1\n", import_collapsed)));
  EXPECT_FALSE(is_function_profile(testing::small_trace()));
  EXPECT_FALSE(is_function_profile(TraceBuilder().finish()));
  EXPECT_EQ(function_profile(TraceBuilder().finish()).source, ProfileSource::None);
}

TEST(HotStacks, APathEndsAtItsLeaf) {
  TraceSet set;
  set.push_back(testing::named(import_or_fail("a;b;c;d 1\n", import_collapsed), "x"));
  const HotStacks stacks = hot_stacks(set);
  ASSERT_EQ(stacks.rows.size(), 1u);
  bool cut = false;
  EXPECT_EQ(stacks.path(stacks.rows[0].frame, 10, cut).size(), 4u);
  EXPECT_FALSE(cut);
  const auto path = stacks.path(stacks.rows[0].frame, 2, cut);
  ASSERT_EQ(path.size(), 2u);
  EXPECT_TRUE(cut);
  EXPECT_EQ(stacks.frames[path[1]].name, "d");
}

}  // namespace
}  // namespace sonde
