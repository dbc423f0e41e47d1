#include "import/speedscope/speedscope.hpp"

#include "tests/support/profile_rows.hpp"

namespace sonde {
namespace {

using test::import_or_fail;
using test::losses;
using test::sample_lines;
using Lines = std::vector<std::string>;

std::string file(const std::string& profiles) {
  return R"({"$schema": "https://www.speedscope.app/file-format-schema.json", "exporter": "py-spy@0.3",
    "shared": {"frames": [{"name": "a"}, {"name": "b", "file": "b.py", "line": 7}, {"name": "c"}]},
    "profiles": [)" +
         profiles + "]}";
}

std::string evented(const std::string& events, const std::string& unit = "milliseconds") {
  return file(R"({"type": "evented", "name": "main", "unit": ")" + unit +
              R"(", "startValue": 0, "endValue": 100, "events": [)" + events + "]}");
}

std::string event(const std::string& type, int frame, double at) {
  return R"({"type": ")" + type + R"(", "frame": )" + std::to_string(frame) + R"(, "at": )" +
         std::to_string(at) + "}";
}

TEST(Speedscope, SampledProfilesBecomeSamples) {
  const Trace trace = import_or_fail(
      file(R"({"type": "sampled", "name": "one", "unit": "seconds", "startValue": 1, "endValue": 4,
               "samples": [[0, 1], [], [0, 1, 2]], "weights": [1, 0.5, 1.5]},
              {"type": "sampled", "name": "two", "unit": "bytes", "startValue": 0, "endValue": 4,
               "samples": [[2]], "weights": [4096]})"),
      import_speedscope);
  EXPECT_EQ(sample_lines(trace, 0), (Lines{"a;b 1000000000", " 500000000", "a;b;c 1500000000"}));
  EXPECT_EQ(sample_lines(trace, 1), (Lines{"c 4096"}));
  ASSERT_EQ(trace.tracks().size(), 2u);
  EXPECT_EQ(trace.text(trace.tracks()[0].name), "one");
  EXPECT_TRUE(trace.sample_types()[0].timed);
  EXPECT_FALSE(trace.sample_types()[1].timed);
  EXPECT_EQ(trace.samples()[2].time - trace.samples()[0].time, 1'500'000'000);
  EXPECT_EQ(trace.meta().version, "py-spy@0.3");
  EXPECT_TRUE(trace.losses().empty());
}

TEST(Speedscope, EventedProfilesBecomeNestedSlices) {
  const Trace trace = import_or_fail(
      evented(event("O", 0, 0) + "," + event("O", 1, 0) + "," + event("O", 2, 2) + "," +
              event("C", 2, 5) + "," + event("C", 1, 14) + "," + event("C", 0, 14)),
      import_speedscope);
  ASSERT_EQ(test::names(trace), (Lines{"a", "b", "c"}));
  const SliceColumns& s = trace.slices();
  // a and b have equal times: a was opened first, so it is the outer one.
  EXPECT_FALSE(s.parent(SliceId(0u)).valid());
  EXPECT_EQ(s.parent(SliceId(1u)), SliceId(0u));
  EXPECT_EQ(s.parent(SliceId(2u)), SliceId(1u));
  EXPECT_EQ(s.duration(SliceId(2u)), 3'000'000);
  EXPECT_TRUE(trace.losses().empty());
  const FunctionProfile profile = function_profile(trace);
  const std::size_t b = test::function_named(profile, "b");
  EXPECT_EQ(profile.functions[b].file, "b.py");
  EXPECT_EQ(profile.functions[b].line, 7);
  EXPECT_EQ(profile.self[b], 11e6);
}

TEST(Speedscope, AnEventedProfileOfBytesHasNoTimeLine) {
  const Trace trace = import_or_fail(evented(event("O", 0, 0) + "," + event("O", 1, 10) + "," +
                                                 event("C", 1, 40) + "," + event("C", 0, 50),
                                             "bytes"),
                                     import_speedscope);
  EXPECT_EQ(trace.slice_count(), 0u);
  EXPECT_EQ(sample_lines(trace), (Lines{"a 10", "a;b 30", "a 10"}));
}

TEST(Speedscope, MendsAndCountsWrongOrders) {
  const Trace open = import_or_fail(evented(event("O", 0, 0), "none"), import_speedscope);
  EXPECT_EQ(losses(open, "frame_never_closed"), 1u);
  EXPECT_EQ(losses(open, "no_unit"), 1u);
  EXPECT_EQ(open.slices().duration(SliceId(0u)), 100);
  const Trace crossed = import_or_fail(
      evented(event("O", 1, 0) + "," + event("O", 0, 2) + "," + event("C", 1, 4) + "," +
              event("C", 0, 5) + "," + event("O", 2, 3) + "," + event("C", 2, 6)),
      import_speedscope);
  EXPECT_EQ(losses(crossed, "closed_out_of_order"), 1u);
  EXPECT_EQ(losses(crossed, "close_without_open"), 1u);
  EXPECT_EQ(losses(crossed, "event_out_of_order"), 1u);
  EXPECT_EQ(crossed.slice_count(), 3u);
}

TEST(Speedscope, CountsFramesAndWeightsThatAreNotThere) {
  const Trace trace = import_or_fail(
      file(R"({"type": "sampled", "name": "x", "unit": "none", "startValue": 0, "endValue": 1,
               "samples": [[0, 99], [1], [2]], "weights": [1, 2]},
              {"type": "sampled", "unit": "none"}, 5, {"type": "weird"})"),
      import_speedscope);
  EXPECT_EQ(losses(trace, "sample_unusable"), 2u);
  EXPECT_EQ(losses(trace, "weights_unequal"), 1u);
  EXPECT_EQ(losses(trace, "profile_broken"), 1u);
  EXPECT_EQ(losses(trace, "profile_unknown"), 2u);
  EXPECT_EQ(sample_lines(trace), (Lines{"b 2"}));
}

TEST(Speedscope, IsKnownBeforeTheGeneralJson) {
  EXPECT_EQ(test::format_of(file("")), "speedscope");
  EXPECT_EQ(test::format_of("\xEF\xBB\xBF\n" + file("")), "speedscope");
  EXPECT_NE(test::format_of(R"({"traceEvents": []})"), "speedscope");
  const Result<Trace> cut = test::try_import(file("").substr(0, 150), import_speedscope);
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().text().find("no well-formed JSON"), std::string::npos);
  EXPECT_FALSE(test::try_import(R"({"$schema": 1})", import_speedscope).ok());
}

TEST(Speedscope, TheSharedFilesAreRead) {
  const std::string folder = std::string(SONDE_SHARED_DATA) + "/speedscope/";
  const std::string sampled = test::read_bytes(folder + "0.6.0_two-sampled.speedscope.json");
  if (sampled.empty()) GTEST_SKIP() << "the shared data is not on this machine";
  const Trace two = import_or_fail(sampled, import_speedscope);
  EXPECT_EQ(two.samples().size(), 10u);
  EXPECT_EQ(two.tracks().size(), 2u);
  const Trace out_of_order = import_or_fail(
      test::read_bytes(folder + "invalid_out-of-order-events.json"), import_speedscope);
  EXPECT_EQ(losses(out_of_order, "closed_out_of_order"), 1u);
  EXPECT_EQ(losses(out_of_order, "close_without_open"), 1u);
}

}  // namespace
}  // namespace sonde
