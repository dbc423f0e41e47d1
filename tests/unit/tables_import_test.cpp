#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "analysis/function_profile.hpp"
#include "import/sonde_run/tables/tables.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/tables_run.hpp"
#include "trace/properties.hpp"

namespace sonde::test {
namespace {

const CallProfile::Function* find_function(const Trace& trace, std::string_view name) {
  for (const CallProfile::Function& function : trace.call_profile().functions) {
    if (trace.text(function.name) == name) return &function;
  }
  return nullptr;
}

std::size_t index_of(const Trace& trace, const CallProfile::Function* function) {
  return static_cast<std::size_t>(function - trace.call_profile().functions.data());
}

TEST(TablesImport, FunctionsOfSeveralThreadsAreAddedUp) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  fill_rich_tables(run);
  const Trace trace = run.load();
  const CallProfile& profile = trace.call_profile();
  ASSERT_EQ(profile.types.size(), 1u);
  EXPECT_EQ(trace.text(profile.types[0].unit), "ns");
  ASSERT_EQ(profile.functions.size(), 3u);
  const auto* train = find_function(trace, "train");
  ASSERT_NE(train, nullptr);
  EXPECT_EQ(train->calls, 4);
  EXPECT_EQ(train->primitive_calls, 3);
  EXPECT_EQ(trace.text(train->qualified_name), "Trainer.train");
  EXPECT_EQ(trace.text(train->file), "train.py");
  EXPECT_EQ(train->line, 10);
  EXPECT_EQ(profile.function_self[index_of(trace, train)], 7'000'000);  // ticks of 10 ns
  EXPECT_EQ(profile.function_total[index_of(trace, train)], 10'000'000);
  const auto* len = find_function(trace, "<built-in method builtins.len>");
  ASSERT_NE(len, nullptr);
  EXPECT_EQ(trace.text(len->file), "~");
  // The call from outside of what is recorded is in the function's own sums only.
  ASSERT_EQ(profile.calls.size(), 3u);
  EXPECT_EQ(profile.calls[1].calls, 1);
  EXPECT_EQ(profile.calls[1].primitive_calls, 0);
  EXPECT_EQ(profile.call_total[0], 9'000'000);
  EXPECT_TRUE(profile.self_known);
  EXPECT_FALSE(profile.line_self_known);
  ASSERT_EQ(profile.lines.size(), 3u);
  EXPECT_EQ(profile.lines[2].hits, 40);
  EXPECT_EQ(profile.line_self[2], 8'500'000);
  EXPECT_EQ(losses(trace, "unknown_numbers"), 0u);
}

TEST(TablesImport, OperatorsFindTheirPlaceInTheProgram) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t main = run.code("<module>", "/home/me/train.py", 1);
  const std::uint32_t step = run.code("step", "/home/me/train.py", 10, "Trainer.step");
  const std::uint32_t outer = run.frame(0, main, 30);
  const std::uint32_t inner = run.frame(outer, step, 12);
  run.recording.chunk(7);
  run.recording.placed("aten::mm", 10, 20, inner, 5);
  run.recording.record(file::RecordType::Operator, SondeFile::kFirstTick + 30,
                       SondeFile::kFirstTick + 40, 0, "aten::add");
  run.recording.placed("aten::neg", 50, 60, outer);
  const Trace trace = run.load();
  ASSERT_EQ(trace.places().size(), 2u);
  const StackFrame& frame = trace.stacks()[trace.places().row(0).index()];
  EXPECT_EQ(trace.name(trace.places().key(0)), "aten::mm");
  EXPECT_EQ(trace.slices().duration(trace.places().key(0)), 100);
  EXPECT_EQ(trace.operators().find(trace.places().key(0))->sequence, 4);
  EXPECT_EQ(trace.text(frame.function), "Trainer.step");
  EXPECT_EQ(trace.text(frame.file), "/home/me/train.py");
  EXPECT_EQ(frame.line, 12);
  EXPECT_EQ(trace.stacks()[frame.caller.index()].line, 30);
  EXPECT_EQ(trace.name(trace.places().key(1)), "aten::neg");
  EXPECT_EQ(losses(trace, "places_unknown"), 0u);
  EXPECT_EQ(losses(trace, "unknown_numbers"), 0u);
}

TEST(TablesImport, PlacesThatNoFrameStandsForAreLosses) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t frame = run.frame(0, run.code("f", "a.py", 1), 2);
  run.recording.chunk(7);
  run.recording.placed("aten::mm", 10, 20, frame);
  run.recording.placed("aten::add", 30, 40, 0xFFFF'FFFF);
  run.recording.placed("aten::neg", 50, 60, 0x0001'0000 + frame);
  // As long as can be told, and none at all.
  run.recording.placed("aten::abs", 70, 70 + file::kMaxPlacedTicks, frame);
  run.recording.placed("aten::exp", 80, 90, 0);
  const Trace trace = run.load();
  ASSERT_EQ(trace.places().size(), 2u);
  EXPECT_EQ(trace.name(trace.places().key(0)), "aten::mm");
  EXPECT_EQ(trace.name(trace.places().key(1)), "aten::abs");
  EXPECT_EQ(trace.operators().size(), 5u);
  EXPECT_EQ(losses(trace, "places_unknown"), 2u);
  EXPECT_EQ(losses(trace, "unknown_numbers"), 2u);
}

TEST(TablesImport, PlacesOfCallsThatAreNotThereAreLosses) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t frame = run.frame(0, run.code("f", "a.py", 1), 2);
  run.recording.chunk(7);
  const std::uint64_t at = SondeFile::kFirstTick + 10;
  run.recording.record(file::RecordType::CallPlace, at, frame, 101);
  run.recording.record(file::RecordType::CallPlace, at, 0, 101);
  run.recording.record(file::RecordType::CallPlace, at, frame, std::uint64_t{1} << 40);
  run.recording.record(file::RecordType::CallPlace, at, std::uint64_t{1} << 40, 101);
  const Trace trace = run.load();
  EXPECT_TRUE(trace.places().empty());
  EXPECT_EQ(losses(trace, "call_places_unused"), 1u);
  EXPECT_EQ(losses(trace, "bad_call_places"), 3u);
}

TEST(TablesImport, PlacesWithoutTablesAreLosses) {
  SondeFile file;
  file.chunk(7).placed("aten::mm", 10, 20, 3);
  const ScratchFolder folder;
  std::ofstream(folder.path() / "alone.sonde", std::ios::binary) << file.bytes();
  const Result<Trace> trace = load_trace((folder.path() / "alone.sonde").string());
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->operators().size(), 1u);
  EXPECT_TRUE(trace->places().empty());
  EXPECT_EQ(losses(*trace, "places_unknown"), 1u);
}

TEST(TablesImport, FramesOfPlacesAreNoSamples) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t sampled = run.frame(0, run.code("sampled", "a.py", 1), 2);
  const std::uint32_t placed = run.frame(sampled, run.code("placed", "a.py", 10), 12);
  run.sample(1000, sampled, 10'000'000, 9'000'000);
  run.recording.chunk(7).placed("aten::mm", 10, 20, placed);
  TraceSet set;
  set.push_back({".", "w", "w", run.load()});
  ASSERT_EQ(set[0].trace.places().size(), 1u);
  const FunctionProfile profile =
      function_profile(set, nullptr, {ProfileNeed::Lines, ProfileSource::Samples});
  ASSERT_EQ(profile.functions.size(), 1u);
  EXPECT_EQ(profile.functions[0].name, "sampled");
  ASSERT_EQ(profile.lines.size(), 1u);
}

TEST(TablesImport, SamplesHaveWallCpuLockAndIdleTime) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  fill_rich_tables(run);
  const Trace trace = run.load();
  std::map<std::string, double> sums;
  for (const Sample& sample : trace.samples()) {
    sums[std::string(trace.text(trace.sample_types()[sample.type].name))] += sample.weight;
    ASSERT_LT(sample.stack.index(), trace.stacks().size());
  }
  EXPECT_EQ(sums, (std::map<std::string, double>{
                      {"wall", 40e6}, {"cpu", 17e6}, {"gil", 20e6}, {"idle", 20e6}}));
  EXPECT_EQ(trace.samples().front().time, 5'000);  // after the snapshot at tick 500
  const Track& track = trace.track(trace.samples().front().track);
  EXPECT_EQ(track.tid, 7);
  EXPECT_EQ(trace.text(track.name), "MainThread");
  const StackFrame& inner = trace.stacks()[trace.samples().front().stack.index()];
  EXPECT_EQ(trace.text(inner.function), "Trainer.train");
  EXPECT_EQ(inner.line, 12);
  EXPECT_EQ(losses(trace, "uncertain_samples"), 1u);
}

TEST(TablesImport, MemoryAndObjects) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  fill_rich_tables(run);
  const Trace trace = run.load();
  const ProcessMemory& memory = trace.process_memory();
  ASSERT_EQ(memory.sites.size(), 3u);
  EXPECT_EQ(memory.sites[0].live_bytes(), 3'000'000);
  EXPECT_FALSE(memory.sites[0].native);
  EXPECT_TRUE(memory.sites[1].native);
  ASSERT_EQ(memory.lines.size(), 2u);
  EXPECT_EQ(memory.lines[1].increment, -524'288);
  EXPECT_EQ(memory.lines[1].peak, 55'574'528);
  EXPECT_EQ(trace.text(memory.lines[1].function), "train");
  ASSERT_EQ(memory.snapshots.size(), 2u);
  EXPECT_EQ(trace.text(memory.snapshots[1].label), "end");
  EXPECT_EQ(memory.snapshots[1].time - memory.snapshots[0].time, 895'000);
  ASSERT_EQ(memory.snapshots[1].types.size(), 2u);
  EXPECT_EQ(memory.snapshots[1].types[1].bytes, 4'000'000);
  const auto& properties = trace.meta().properties;
  EXPECT_NE(std::find(properties.begin(), properties.end(),
                      std::pair<std::string, std::string>("python.rate", "99.5")),
            properties.end());
}

TEST(TablesImport, LinesAloneMakeTheFunctions) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t work = run.code("work", "a.py", 3);
  run.line(work, 4, 10, 100);
  run.line(work, 5, 10, 300);
  const Trace trace = run.load();
  const CallProfile& profile = trace.call_profile();
  ASSERT_EQ(profile.functions.size(), 1u);
  EXPECT_FALSE(profile.self_known);
  EXPECT_EQ(profile.function_total[0], 4'000);
}

TEST(TablesImport, CallsThatDidNotReturnCountUpToTheEnd) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t main = run.code("main", "a.py", 1);
  const std::uint32_t work = run.code("work", "a.py", 3);
  run.function(work, 2, 0, 100, 100);
  run.call(main, work, 2, 0, 100, 100);
  const auto open = [&](std::uint32_t caller, std::uint32_t callee, std::uint64_t start,
                        std::uint64_t inner) {
    run.writer.add(tables::Table::OpenCall,
                   tables::OpenCallRow{caller, callee, start ? SondeFile::kFirstTick + start : 0,
                                       inner, 7, 0, 1});
  };
  open(0, main, 100, 100);
  open(main, work, 600, 0);
  open(work, work, 800, 0);
  open(0, 0, 0, 0);  // not in use
  run.recording.header.latest[0].ticks = SondeFile::kFirstTick + 1100;
  const Trace trace = run.load();
  const CallProfile& profile = trace.call_profile();
  const auto* work_row = find_function(trace, "work");
  const auto* main_row = find_function(trace, "main");
  ASSERT_NE(work_row, nullptr);
  ASSERT_NE(main_row, nullptr);
  EXPECT_EQ(work_row->calls, 4);
  EXPECT_EQ(work_row->primitive_calls, 3);
  EXPECT_EQ(profile.function_total[index_of(trace, work_row)], 6'000);  // 100 + 500 ticks
  EXPECT_EQ(profile.function_self[index_of(trace, work_row)], 6'000);   // 100 + 200 + 300
  EXPECT_EQ(main_row->calls, 1);
  EXPECT_EQ(profile.function_total[index_of(trace, main_row)], 10'000);
  EXPECT_EQ(profile.function_self[index_of(trace, main_row)], 4'000);  // 1000 - 100 - 500
  EXPECT_EQ(losses(trace, "open_calls"), 3u);
}

TEST(TablesImport, MemoryByPlaceHasAFileOfItsOwn) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  fill_rich_tables(run);
  run.finish();
  TablesRun memory(folder.path(), "other");
  const std::uint32_t work = memory.code("work", "b.py", 3);
  memory.site(memory.frame(0, work, 4), 1, 100, 0, 0, 100, tables::Memory::Native);
  memory.function(work, 1, 0, 1, 1);  // sums stand in one file only
  memory.writer.add_property("memory.gap", "524288");
  memory.finish();
  std::filesystem::rename(memory.tables_path(), folder.path() / "demo.memory");
  const Result<Trace> trace = load_trace(run.recording_path());
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->process_memory().sites.size(), 4u);
  EXPECT_EQ(trace->call_profile().functions.size(), 3u);
  EXPECT_EQ(losses(*trace, "sums_twice"), 1u);
  EXPECT_EQ(plain_property(trace->meta(), "memory.gap"), "524288");
  EXPECT_EQ(plain_property(trace->meta(), "python.method"), "sample");
  EXPECT_EQ(plain_property(trace->meta(), "none"), "");
}

TEST(TablesImport, PropertiesComeBackAsTheyWere) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const char* const kTexts[] = {"a \"quoted\" \\ text\n", "caf\u00e9 \U0001F600", "007", "1.",
                                "-0.5e3"};
  for (const char* text : kTexts) run.writer.add_property(text, text);
  const Trace trace = run.load();
  for (const char* text : kTexts) EXPECT_EQ(plain_property(trace.meta(), text), text);
}

TEST(TablesImport, ATableAloneIsRefusedWithTheWayOut) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  fill_rich_tables(run);
  run.finish();
  const Result<Trace> alone = load_trace(run.tables_path());
  ASSERT_FALSE(alone.ok());
  EXPECT_NE(alone.error().hint.find(".sonde"), std::string::npos);
  const Result<LoadedSet> set = load_traces({folder.path().string()});
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->traces.size(), 1u);
  EXPECT_TRUE(set->skipped.empty());
}

TEST(TablesImport, AKilledProgramLosesNothing) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  fill_rich_tables(run);
  // As the file stands on the disk while the program lives.
  const std::string live = read_bytes(run.tables_path());
  const Trace whole = run.load();
  std::ofstream(run.tables_path(), std::ios::binary) << live;
  const Result<Trace> killed = load_trace(run.recording_path());
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(killed->samples().size(), whole.samples().size());
  EXPECT_EQ(killed->call_profile().functions.size(), whole.call_profile().functions.size());
  EXPECT_EQ(losses(*killed, "tables_unclean_end"), 1u);
  EXPECT_EQ(losses(whole, "tables_unclean_end"), 0u);
}

TEST(TablesImport, UnknownTablesAndLongerRowsAreCountedNotFatal) {
  struct LongThread {
    tables::ThreadRow row;
    std::uint64_t more;
  };
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t work = run.code("work", "a.py", 3);
  run.function(work, 1, 0, 10, 10);
  run.writer.add(tables::Table::Thread, LongThread{{9, run.text("late")}, 77});
  run.writer.add(static_cast<tables::Table>(15), LongThread{});
  const Trace trace = run.load();
  EXPECT_EQ(losses(trace, "longer_rows"), 1u);
  EXPECT_EQ(losses(trace, "unknown_tables"), 1u);
  EXPECT_EQ(trace.call_profile().functions.size(), 1u);
  bool named = false;
  for (const Track& track : trace.tracks()) named |= trace.text(track.name) == "late";
  EXPECT_TRUE(named);
}

TEST(TablesImport, ImpossibleNumbersAreLeftOutAndCounted) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t work = run.code("work", "a.py", -3);
  run.function(work, 1, 2, 10, 10);           // more recursive calls than calls
  run.function(work, UINT64_MAX, 0, 10, 10);  // no count
  run.function(work, 1, 0, UINT64_MAX, 10);   // no time
  run.function(99, 1, 0, 10, 10);             // no such code
  run.function(work, 1, 0, 10, 10);
  run.line(work, -5, UINT64_MAX, 1);
  run.sample(1, 4242, 10, 10);  // no such frame
  run.writer.add(tables::Table::Sample, tables::SampleRow{UINT64_MAX, 7, 0, 1, 1, 0, 0});
  run.site(0, 1, UINT64_MAX, 0, 0, 0);
  run.memory_line(work, 1, 1, INT64_MIN, 0, 0);
  run.objects(17, "builtins.dict", 1, 1);
  const Trace trace = run.load();
  EXPECT_EQ(losses(trace, "impossible_sums"), 4u);
  EXPECT_EQ(losses(trace, "impossible_samples"), 1u);
  EXPECT_EQ(losses(trace, "impossible_memory"), 3u);
  EXPECT_EQ(losses(trace, "unknown_numbers"), 2u);
  ASSERT_EQ(trace.call_profile().functions.size(), 1u);
  EXPECT_EQ(trace.call_profile().functions[0].calls, 1);
  EXPECT_EQ(trace.call_profile().functions[0].line, 0);
  EXPECT_EQ(trace.samples().size(), 2u);
}

TEST(TablesImport, StacksInACircleAreCut) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t work = run.code("work", "a.py", 3);
  run.frame(2, work, 1);
  run.frame(3, work, 2);
  run.frame(1, work, 3);
  run.frame(4, work, 4);   // its own caller
  run.frame(99, work, 5);  // a caller that is not there
  run.sample(1, 1, 10, 0);
  const Trace trace = run.load();
  EXPECT_EQ(losses(trace, "stack_circles"), 2u);
  EXPECT_EQ(losses(trace, "unknown_numbers"), 1u);
  for (std::size_t i = 0; i < trace.stacks().size(); ++i) {
    const StackId caller = trace.stacks()[i].caller;
    EXPECT_TRUE(!caller.valid() || caller.index() < i);
  }
}

TEST(TablesImport, NamesThatAreNoTextAreMended) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  run.function(run.code("caf\xE9", "a.py", 3), 1, 0, 10, 10);
  const Trace trace = run.load();
  EXPECT_EQ(trace.text(trace.call_profile().functions.at(0).name), "caf\uFFFD");
}

TEST(TablesImport, AnyDamageGivesATrace) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  fill_rich_tables(run);
  run.finish();
  const std::string whole = read_bytes(run.tables_path());
  std::mt19937 random(5);
  const std::string damaged = folder.path().string() + "/demo.tables";
  for (int i = 0; i < 60; ++i) {
    std::string bytes = whole.substr(0, random() % whole.size());
    for (int flips = 0; flips < 8 && !bytes.empty(); ++flips) {
      // Where rows stand, more likely than in the empty rest of a block.
      const std::size_t block = random() % (bytes.size() / tables::kBlockBytes + 1);
      const std::size_t at = block * tables::kBlockBytes + random() % 400;
      if (at < bytes.size()) bytes[at] = static_cast<char>(random());
    }
    std::ofstream(damaged, std::ios::binary) << bytes;
    EXPECT_TRUE(load_trace(run.recording_path()).ok());
  }
  std::ofstream(damaged, std::ios::binary) << whole.substr(0, whole.size() - 70'000);
  const Result<Trace> cut = load_trace(run.recording_path());
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(losses(*cut, "tables_cut"), 1u);
}

}  // namespace
}  // namespace sonde::test
