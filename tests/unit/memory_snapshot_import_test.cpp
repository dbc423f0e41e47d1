#include "import/memory_snapshot/memory_snapshot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "import/loader.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/pickle_file.hpp"

namespace sonde {
namespace {

using test::losses;
using namespace test::pickle;

std::string frame(const std::string& name, const std::string& path, int line) {
  return dict({{"name", text(name)}, {"filename", text(path)}, {"line", number(line)}});
}

std::string entry(const std::string& action, std::int64_t address, std::int64_t bytes,
                  std::int64_t micros, const std::vector<std::string>& frames = {}) {
  return dict({{"action", text(action)},
               {"addr", number(address)},
               {"size", number(bytes)},
               {"stream", number(0)},
               {"time_us", number(micros)},
               {"frames", list(frames)}});
}

std::string block(std::int64_t address, std::int64_t bytes, const std::string& state) {
  return dict({{"address", number(address)},
               {"size", number(bytes)},
               {"requested_size", number(bytes - 12)},
               {"state", text(state)},
               {"frames", list({frame("old", "old.py", 1)})}});
}

std::string segment(int device, std::int64_t address, std::int64_t bytes,
                    const std::vector<std::string>& blocks) {
  return dict({{"device", number(device)},
               {"address", number(address)},
               {"total_size", number(bytes)},
               {"stream", number(3)},
               {"segment_type", text("small")},
               {"segment_pool_id", tuple({number(0), number(device)})},
               {"blocks", list(blocks)}});
}

std::string snapshot(const std::vector<std::string>& segments,
                     const std::vector<std::string>& traces,
                     const std::vector<std::string>& annotations = {}) {
  return file(dict({{"segments", list(segments)},
                    {"device_traces", list(traces)},
                    {"external_annotations", list(annotations)}}));
}

Trace read(const std::string& bytes) {
  EXPECT_TRUE(looks_like_memory_snapshot(bytes));
  return test::import_or_fail(bytes, import_memory_snapshot);
}

TEST(MemorySnapshotImport, HistoryBecomesAllocationsWithTotalsAndStacks) {
  const Trace trace = read(snapshot(
      {segment(0, 1000, 4096,
               {block(1000, 512, "active_allocated"), block(1512, 3584, "inactive")})},
      {list({entry("segment_alloc", 1000, 4096, 10),
             entry("alloc", 1000, 512, 20, {frame("inner", "a.cpp", 0), frame("outer", "b.py", 7)}),
             entry("alloc", 1512, 100, 30), entry("free_requested", 1512, 100, 40),
             entry("free_completed", 1512, 100, 50), entry("oom", 0, 9999, 60),
             entry("snapshot", 0, 0, 70)})}));
  ASSERT_EQ(trace.allocations().size(), 4u);
  const Allocation& first = trace.allocations()[0];
  EXPECT_EQ(first.bytes, 512);
  EXPECT_EQ(first.time, 10'000);  // from the first entry on
  EXPECT_EQ(first.total_allocated, 512);
  EXPECT_EQ(first.total_reserved, 4096);
  EXPECT_EQ(first.device_type, 1);
  EXPECT_EQ(first.device, 0);
  EXPECT_EQ(trace.text(first.pool), "small");
  const StackFrame& inner = trace.stacks()[first.stack.index()];
  EXPECT_EQ(trace.text(inner.function), "inner");
  EXPECT_EQ(trace.text(trace.stacks()[inner.caller.index()].file), "b.py");
  EXPECT_EQ(trace.stacks()[inner.caller.index()].line, 7);
  EXPECT_EQ(trace.allocations()[1].total_allocated, 612);
  EXPECT_EQ(trace.allocations()[2].bytes, -100);
  EXPECT_EQ(trace.allocations()[2].total_allocated, 512);
  EXPECT_TRUE(trace.allocations()[3].out_of_memory);
  EXPECT_EQ(trace.allocations()[3].total_allocated, 512);
  ASSERT_EQ(trace.markers().size(), 1u);
  EXPECT_EQ(trace.text(trace.markers()[0].name), "snapshot");
  EXPECT_EQ(trace.meta().properties[0].second,
            R"([{"device": 0, "segments": 1, "reserved_bytes": 4096, "blocks": 2, )"
            R"("allocated_bytes": 512, "pending_free_bytes": 0, "inactive_bytes": 3584, )"
            R"("requested_bytes": 500, "rounding_bytes": 12}])");
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_TRUE(trace.meta().wall_clock);
}

TEST(MemorySnapshotImport, MemoryFromBeforeTheHistoryIsThereFromItsBegin) {
  const Trace trace = read(snapshot(
      {segment(0, 1000, 2000,
               {block(1000, 500, "active_allocated"), block(1500, 500, "active_pending_free")})},
      {list({entry("free_completed", 5000, 300, 10), entry("segment_free", 5000, 800, 20),
             entry("alloc", 1500, 500, 30)})}));
  ASSERT_EQ(trace.allocations().size(), 4u);
  EXPECT_EQ(trace.allocations()[0].bytes, 300);
  EXPECT_EQ(trace.text(trace.allocations()[0].tag), "before the recording");
  EXPECT_FALSE(trace.allocations()[0].stack.valid());
  EXPECT_EQ(trace.allocations()[0].total_reserved, 2800);
  EXPECT_EQ(trace.allocations()[1].bytes, 488);  // as asked for
  EXPECT_TRUE(trace.allocations()[1].stack.valid());
  EXPECT_EQ(trace.allocations()[2].bytes, -300);
  EXPECT_EQ(trace.allocations()[2].total_allocated, 488);
  EXPECT_EQ(trace.allocations()[3].total_allocated, 988);
  EXPECT_EQ(trace.allocations()[3].total_reserved, 2000);
  ASSERT_EQ(trace.slice_count(), 2u);  // two segments, one of them given back
  EXPECT_EQ(trace.slices().duration(SliceId(std::uint32_t{0})) +
                trace.slices().duration(SliceId(std::uint32_t{1})),
            10'000 + 20'000);
}

TEST(MemorySnapshotImport, WithoutAHistoryTheBlocksAreThere) {
  const Trace trace = read(snapshot(
      {segment(1, 1000, 2000, {block(1000, 500, "active_allocated")})}, {list({}), list({})}));
  ASSERT_EQ(trace.allocations().size(), 1u);
  EXPECT_EQ(trace.allocations()[0].device, 1);
  EXPECT_EQ(trace.text(trace.allocations()[0].pool), "small (0,1)");
  EXPECT_FALSE(trace.meta().wall_clock);
}

TEST(MemorySnapshotImport, AnnotationsAreRanges) {
  const auto mark = [](const std::string& stage, const std::string& name, int micros) {
    return dict({{"stage", text(stage)},
                 {"name", text(name)},
                 {"device", number(0)},
                 {"time_us", number(micros)}});
  };
  const Trace trace =
      read(snapshot({}, {list({entry("alloc", 1, 8, 5)})},
                    {mark("START", "Optimizer.step#Adam.step", 10),
                     mark("END", "Optimizer.step#Adam.step", 30), mark("END", "never begun", 40)}));
  const SliceId step = test::slice_named(trace, "Optimizer.step#Adam.step");
  ASSERT_TRUE(step.valid());
  EXPECT_EQ(trace.slices().kind(step), SliceKind::Optimizer);
  EXPECT_EQ(trace.slices().duration(step), 20'000);
  EXPECT_EQ(losses(trace, "odd_annotations"), 1u);
}

TEST(MemorySnapshotImport, OddEntriesAreCountedAndSharedOnesReadOnce) {
  const std::string shared = "]\x94(" + entry("alloc", 1, 8, 5) + "\x94h\x01h\x01h\x01" + "e";
  const Trace trace = read(file(
      dict({{"segments", list({})},
            {"device_traces",
             list({shared, list({entry("alloc", 1, -8, 5), entry("alloc", 1, 8, -5),
                                 entry("", 1, 8, 5), entry("novel", 1, 8, 6), number(5)})})}})));
  EXPECT_EQ(trace.allocations().size(), 1u);
  EXPECT_EQ(losses(trace, "odd_entries"), 7u);
  EXPECT_EQ(losses(trace, "unknown_actions"), 1u);
  EXPECT_EQ(trace.markers().size(), 1u);
}

TEST(MemorySnapshotImport, OtherPicklesAreRefused) {
  const Result<Trace> trace =
      test::try_import(file(dict({{"x", text("device_traces")}})), import_memory_snapshot);
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().text().find("no memory snapshot"), std::string::npos);
  EXPECT_FALSE(looks_like_memory_snapshot(file(dict({{"x", number(1)}}))));
}

TEST(MemorySnapshotImport, ReadsARealSnapshot) {
  const std::string path =
      std::string(SONDE_SHARED_DATA) + "/torch/torch_memory_snapshot.pickle.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Result<Trace> trace = load_trace(path);
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->meta().format, "memory_snapshot");
  EXPECT_EQ(trace->allocations().size(), 372u);  // 220 allocations, 152 frees
  std::int64_t sum = 0;
  std::int64_t peak = 0;
  for (const Allocation& allocation : trace->allocations()) {
    sum += allocation.bytes;
    peak = std::max(peak, sum);
    EXPECT_EQ(allocation.total_allocated, sum);
    EXPECT_TRUE(allocation.stack.valid());
  }
  // Counted from the pickle by a script of its own.
  EXPECT_EQ(peak, 237'142'020);
  EXPECT_EQ(sum, 203'554'816);
  EXPECT_EQ(trace->allocations()[trace->allocations().size() - 1].total_reserved, 251'658'240);
  const auto& properties = trace->meta().properties;
  const auto at_snapshot =
      std::find_if(properties.begin(), properties.end(),
                   [](const auto& property) { return property.first == "memory_at_snapshot"; });
  ASSERT_NE(at_snapshot, properties.end());
  const std::string& totals = at_snapshot->second;
  EXPECT_NE(totals.find("\"reserved_bytes\": 251658240,"), std::string::npos) << totals;
  EXPECT_NE(totals.find("\"allocated_bytes\": 203554816,"), std::string::npos) << totals;
  EXPECT_TRUE(trace->losses().empty());
}

}  // namespace
}  // namespace sonde
