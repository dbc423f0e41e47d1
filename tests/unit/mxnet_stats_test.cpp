#include "analysis/mxnet_stats.hpp"

#include <gtest/gtest.h>

#include "report/styles/mxnet.hpp"
#include "tests/support/small_trace.hpp"
#include "trace/builder.hpp"

namespace sonde {
namespace {

// A trace with counters and slices, in microseconds.
class Recording {
 public:
  Recording() { track_ = builder_.add_track({}); }

  void slice(const std::string& name, double micros, SliceKind kind = SliceKind::Operator,
             const std::string& category = "") {
    const SliceId id = builder_.add_slice(0, static_cast<Nanos>(micros * 1000), track_,
                                          builder_.intern(name), kind);
    if (!category.empty()) builder_.add_category(id, builder_.intern(category));
  }
  void counter(const std::string& category, const std::string& name, double value) {
    Track track;
    track.type = TrackType::Counter;
    track.name = builder_.intern(category);
    const StringId id = builder_.intern(name);
    builder_.add_counter({0, builder_.add_track(track), id, id, value});
  }
  void allocate(Nanos time, std::int64_t bytes, std::int32_t type, std::int32_t device) {
    Allocation allocation;
    allocation.time = time;
    allocation.bytes = bytes;
    allocation.device_type = type;
    allocation.device = device;
    builder_.add_allocation(allocation);
  }
  Trace finish() {
    builder_.nest(1);
    return builder_.finish();
  }

 private:
  TraceBuilder builder_;
  TrackId track_;
};

std::vector<std::string> names(const MxnetSection& section) {
  std::vector<std::string> out;
  for (const MxnetStat& row : section.rows) out.push_back(row.name);
  return out;
}

std::string table(const Trace& trace, MxnetTable which) {
  MxnetRequest request;
  request.table = which;
  return mxnet_table(trace, request);
}

TEST(MxnetStats, DurationsAndCountersAreSummedEachInItsWay) {
  Recording recording;
  recording.slice("dot", 61);
  recording.slice("dot", 58);
  for (const double value : {256.0, 14080784.0, 2948880.0}) {
    recording.counter("Device Storage", "Memory: cpu/0", value);
  }
  const std::vector<MxnetSection> sections = mxnet_stats(recording.finish(), MxnetTable::Old);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].category, "Device Storage");
  EXPECT_TRUE(sections[0].memory);
  const MxnetStat& memory = sections[0].rows.at(0);
  EXPECT_EQ(memory.count, 3u);
  EXPECT_EQ(memory.total, 2948880);
  EXPECT_EQ(memory.average(MxnetTable::Old), 7040264);
  const MxnetStat& dot = sections[1].rows.at(0);
  EXPECT_EQ(dot.total, 119);
  EXPECT_EQ(dot.min, 58);
  EXPECT_EQ(dot.max, 61);
  EXPECT_EQ(dot.average(MxnetTable::Old), 59.5);
}

TEST(MxnetStats, HalfARangeIsWholeInTheNewTable) {
  Recording recording;
  recording.counter("MXNET_C_API", "MXNet C API Concurrency", 1);
  recording.counter("MXNET_C_API", "MXNet C API Concurrency", 0);
  const MxnetStat stat = mxnet_stats(recording.finish(), MxnetTable::New).at(0).rows.at(0);
  EXPECT_EQ(stat.average(MxnetTable::Old), 0.5);
  EXPECT_EQ(stat.average(MxnetTable::New), 0);
}

TEST(MxnetStats, MinimumStartsFromTheGreatestInt) {
  Recording recording;
  recording.counter("Device Storage", "Memory: gpu/0", 3e9);
  const Trace trace = recording.finish();
  EXPECT_NE(table(trace, MxnetTable::Old).find("     2147483.7500 "), std::string::npos);
}

TEST(MxnetStats, SinglePrecisionShowsInTheDigits) {
  Recording recording;
  recording.counter("Device Storage", "Memory: cpu/0", 256);
  recording.counter("Device Storage", "Memory: cpu/0", 14080784);
  recording.counter("Device Storage", "Memory: cpu/0", 2948880);
  EXPECT_NE(
      table(recording.finish(), MxnetTable::Old)
          .find("Memory: cpu/0                           3        2948.8799           0.2560       "
                "14080.7842        7040.2642\n"),
      std::string::npos);
}

TEST(MxnetStats, LongNamesPushTheirRow) {
  Recording recording;
  recording.slice("MXImperativeInvokeExAndMore", 1);
  EXPECT_NE(table(recording.finish(), MxnetTable::Old)
                .find("MXImperativeInvokeExAndMore               1 "),
            std::string::npos);
}

TEST(MxnetStats, SecondRecordsCountInTheOldTableOnly) {
  Recording recording;
  recording.slice("dot", 10);
  recording.slice("dot", 8, SliceKind::Other, "operator");
  recording.slice("net", 5, SliceKind::Other, "net");
  const Trace trace = recording.finish();
  EXPECT_EQ(mxnet_stats(trace, MxnetTable::Old).at(1).rows.at(0).count, 2u);
  EXPECT_EQ(mxnet_stats(trace, MxnetTable::New).at(1).rows.at(0).count, 1u);
  EXPECT_EQ(mxnet_stats(trace, MxnetTable::New).at(0).category, "net");
}

TEST(MxnetStats, RowsKeepTheOrderOfTheFileAcrossSlicesAndCounters) {
  Recording recording;
  recording.counter("api", "calls", 1);
  recording.slice("first", 1, SliceKind::Api, "api");
  recording.counter("api", "depth", 1);
  recording.slice("second", 1, SliceKind::Api, "api");
  EXPECT_EQ(names(mxnet_stats(recording.finish(), MxnetTable::Old).at(0)),
            (std::vector<std::string>{"calls", "first", "depth", "second"}));
}

TEST(MxnetStats, AllocationsStandInForCounters) {
  Recording recording;
  recording.allocate(20, -30, 1, 0);
  recording.allocate(10, 100, 1, 0);
  recording.allocate(30, -500, 1, 0);
  recording.allocate(30, 8, 0, -1);
  const std::vector<MxnetSection> sections = mxnet_stats(recording.finish(), MxnetTable::New);
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(names(sections[0]), (std::vector<std::string>{"Memory: gpu/0", "Memory: cpu/0"}));
  EXPECT_EQ(sections[0].rows[0].count, 3u);
  EXPECT_EQ(sections[0].rows[0].max, 100);
  EXPECT_EQ(sections[0].rows[0].total, 0);
}

TEST(MxnetStats, AllocationsThatACounterTellsOfDoNotCountAgain) {
  Recording recording;
  recording.counter("Device Storage", "Memory: gpu/0", 100);
  recording.allocate(10, 100, 1, 0);
  const std::vector<MxnetSection> sections = mxnet_stats(recording.finish(), MxnetTable::New);
  EXPECT_EQ(sections.at(0).rows.at(0).count, 1u);
}

TEST(MxnetStats, TraceOfAnotherProfilerHasItsSections) {
  std::vector<std::string> categories;
  for (const MxnetSection& section : mxnet_stats(testing::small_trace(), MxnetTable::New)) {
    categories.push_back(section.category);
  }
  EXPECT_EQ(categories, (std::vector<std::string>{"CUDA_API", "event", "kernel", "memcpy", "memset",
                                                  "operator", "step"}));
}

MxnetSection section_of_keys() {
  MxnetSection section;
  const auto add = [&](const char* name, std::uint64_t count, double total, double min,
                       double max) {
    MxnetStat stat;
    stat.name = name;
    stat.count = count;
    stat.total = total;
    stat.min = min;
    stat.max = max;
    section.rows.push_back(stat);
  };
  add("a", 2, 40, 10, 30);
  add("b", 1, 40, 40, 40);
  add("c", 4, 44, 5, 20);
  return section;
}

TEST(MxnetSorting, ByEachKeyInBothDirections) {
  const auto sorted = [](MxnetSort key, bool ascending) {
    MxnetSection section = section_of_keys();
    order_by_key(section, key, ascending);
    std::string out;
    for (const MxnetStat& row : section.rows) out += row.name;
    return out;
  };
  EXPECT_EQ(sorted(MxnetSort::Total, false), "cba");
  // Equal ones stand in the reverse order of their names, in this direction as well.
  EXPECT_EQ(sorted(MxnetSort::Total, true), "bac");
  EXPECT_EQ(sorted(MxnetSort::Average, false), "bac");
  EXPECT_EQ(sorted(MxnetSort::Average, true), "cab");
  EXPECT_EQ(sorted(MxnetSort::Min, false), "bac");
  EXPECT_EQ(sorted(MxnetSort::Max, true), "cab");
  EXPECT_EQ(sorted(MxnetSort::Count, false), "cab");
}

TEST(MxnetJson, HasFourDigitsAndIsWellFormedWhateverTheNames) {
  Recording recording;
  recording.slice("a \"quoted\" \\ name\n", 93389);
  recording.slice("long", 1588342);
  recording.slice("none", 0);
  recording.counter("Device Storage", "Memory: gpu/0", 14080784);
  MxnetRequest request;
  request.table = MxnetTable::New;
  const std::string json = mxnet_json(recording.finish(), request);
  EXPECT_NE(json.find("\"a \\\"quoted\\\" \\\\ name\\u000a\": {"), std::string::npos);
  EXPECT_NE(json.find("\"Total\": 93.39,"), std::string::npos);
  EXPECT_NE(json.find("\"Total\": 1588,"), std::string::npos);
  EXPECT_NE(json.find("\"Max\": 1.408e+04,"), std::string::npos);
  EXPECT_NE(json.find("\"Total\": 0,"), std::string::npos);
  EXPECT_NE(json.find("    ,\n    \"Memory\": {\n        \"Device Storage\": {\n"),
            std::string::npos);
}

}  // namespace
}  // namespace sonde
