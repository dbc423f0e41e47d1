#include <gtest/gtest.h>

#include <cerrno>
#include <random>

#include "import/sonde_run/run_folder.hpp"
#include "import/sonde_run/sonde_run.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/sonde_file.hpp"

namespace sonde::test {
namespace {

using file::RecordType;

constexpr std::uint64_t kAt = SondeFile::kFirstTick;

Trace read(std::string_view bytes) { return import_or_fail(bytes, import_sonde_run); }

std::string text_of(const Trace& trace, StringId id) { return std::string(trace.text(id)); }

TEST(SondeRunImport, IsKnownByItsFirstBytes) {
  EXPECT_TRUE(looks_like_sonde_run(rich_sonde_file()));
  EXPECT_FALSE(looks_like_sonde_run("SONDERU"));
  EXPECT_FALSE(looks_like_sonde_run("{\"traceEvents\": []}"));
}

TEST(SondeRunImport, SlicesNestOnTheirThread) {
  SondeFile out;
  out.chunk(7).slice("inner", 20, 30).slice("outer", 10, 60).slice("later", 60, 70);
  const Trace trace = read(out.bytes());
  ASSERT_EQ(trace.slice_count(), 3u);
  const SliceId inner = slice_named(trace, "inner");
  EXPECT_EQ(trace.slices().parent(inner), slice_named(trace, "outer"));
  EXPECT_EQ(trace.slices().depth(inner), 1u);
  EXPECT_FALSE(trace.slices().parent(slice_named(trace, "later")).valid());
  EXPECT_EQ(trace.slices().start(inner), 100);  // ticks of 10 ns, from the first slice on
  EXPECT_EQ(trace.slices().duration(inner), 100);
  EXPECT_EQ(trace.track(trace.slices().track(inner)).tid, 7);
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_TRUE(trace.meta().wall_clock);
  EXPECT_EQ(trace.meta().base_time + trace.meta().origin, 1'700'000'000'000'000'100);
}

TEST(SondeRunImport, HoldsOneOfEverything) {
  const Trace trace = read(rich_sonde_file());
  const SliceId conv = slice_named(trace, "conv");
  ASSERT_TRUE(conv.valid());
  EXPECT_EQ(text_of(trace, *trace.categories().find(conv)), "layers");
  const auto arguments = trace.arguments().of(conv);
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(text_of(trace, arguments[0].key()), "batch");
  EXPECT_EQ(arguments[0].integer(), 64);
  EXPECT_EQ(arguments[1].real(), 0.5);
  EXPECT_EQ(text_of(trace, arguments[2].text()), "relu");
  EXPECT_TRUE(trace.arguments().of(slice_named(trace, "launch")).empty());

  EXPECT_TRUE(slice_named(trace, "Step#3").valid());
  const SliceId frame = slice_named(trace, "frame");
  EXPECT_EQ(text_of(trace, *trace.categories().find(frame)), "data,frame");
  EXPECT_EQ(trace.track(trace.slices().track(frame)).type, TrackType::Async);
  EXPECT_EQ(trace.slices().duration(slice_named(trace, "request")), 890);

  const SliceId kernel = slice_named(trace, "conv_kernel");
  const Track& stream = trace.track(trace.slices().track(kernel));
  EXPECT_EQ(stream.type, TrackType::Stream);
  EXPECT_EQ(stream.device, 2);
  EXPECT_EQ(stream.tid, 5);
  EXPECT_EQ(trace.launch_to_device().source(kernel), slice_named(trace, "launch"));
  EXPECT_EQ(trace.operator_to_launch().source(slice_named(trace, "launch")), conv);

  ASSERT_EQ(trace.counters().size(), 2u);  // by time
  EXPECT_EQ(text_of(trace, trace.counters()[0].counter), "loss");
  EXPECT_EQ(trace.counters()[0].value, 1.5);
  EXPECT_EQ(trace.counters()[1].value, 42);
  EXPECT_EQ(text_of(trace, trace.track(trace.counters()[1].track).name), "data");

  ASSERT_EQ(trace.markers().size(), 2u);
  EXPECT_EQ(text_of(trace, trace.markers()[0].name), "epoch");
  EXPECT_EQ(trace.markers()[0].scope, 'g');
  EXPECT_EQ(text_of(trace, trace.markers()[1].name), "recording paused");

  ASSERT_EQ(trace.allocations().size(), 2u);
  EXPECT_EQ(trace.allocations()[0].total_allocated, 256);
  EXPECT_EQ(trace.allocations()[0].device_type, 1);
  EXPECT_EQ(trace.allocations()[0].device, 2);
  EXPECT_EQ(text_of(trace, trace.allocations()[0].pool), "pool");
  EXPECT_EQ(text_of(trace, trace.allocations()[0].tag), "weights");
  EXPECT_EQ(trace.allocations()[1].total_allocated, 0);

  EXPECT_EQ(text_of(trace, trace.tracks()[0].name), "main thread");
  EXPECT_EQ(text_of(trace, trace.tracks()[0].process), "trainer");
  EXPECT_EQ(losses(trace, "recording_paused"), 1u);
}

TEST(SondeRunImport, ThreadRecordsSwitchTheThreadInsideOfAChunk) {
  SondeFile out;
  out.chunk(7).slice("a", 0, 1).record(RecordType::Thread, 0, 8, 0).slice("b", 2, 3);
  out.chunk(9).slice("c", 4, 5);
  const Trace trace = read(out.bytes());
  const auto tid = [&](const char* name) {
    return trace.track(trace.slices().track(slice_named(trace, name))).tid;
  };
  EXPECT_EQ(tid("a"), 7);
  EXPECT_EQ(tid("b"), 8);
  EXPECT_EQ(tid("c"), 9);
}

TEST(SondeRunImport, ChunksAreReadInTheOrderOfTheirSequence) {
  SondeFile out;
  out.chunk(7, 12).slice("second", 10, 11);
  out.chunk(7, 11).slice("first", 0, 1);
  out.header.limit = file::Limit::KeepLast;
  const Trace trace = read(out.bytes());
  EXPECT_EQ(names(trace), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(losses(trace, "kept_last"), 1u);
}

TEST(SondeRunImport, WhatIsKeptSpeaksOfTheProcess) {
  SondeFile out;
  out.chunk(0, 1, file::ChunkType::Kept);
  out.record(RecordType::ThreadName, kAt + 2, 7, 0, "new name");
  out.record(RecordType::ThreadName, kAt + 1, 7, 0, "old name");
  out.record(RecordType::Schedule, kAt + 3, 1, 0);
  out.chunk(7).slice("a", 0, 1);
  const Trace trace = read(out.bytes());
  ASSERT_EQ(trace.tracks().size(), 2u);  // the main thread, which has the process's number, and 7
  EXPECT_EQ(text_of(trace, trace.track(trace.slices().track(SliceId(0u))).name), "new name");
  EXPECT_EQ(trace.track(trace.markers()[0].track).tid, 100);
}

TEST(SondeRunImport, ArgumentsWithoutTheirRecordMeanNothing) {
  SondeFile out;
  out.chunk(7).record(RecordType::Argument, 0, 1, 0, "lost");
  out.chunk(7).slice("a", 0, 1);
  const Trace trace = read(out.bytes());
  EXPECT_TRUE(trace.arguments().empty());
}

TEST(SondeRunImport, ArgumentsOfMarkersAndCountersAreKept) {
  SondeFile out;
  const auto argument = [&](std::uint64_t bits, const char* key, file::ArgumentType type) {
    out.record(RecordType::Argument, 0, bits, 0, key, "", static_cast<std::uint8_t>(type));
  };
  out.chunk(7);
  // The later value stands first in the file: ids follow the times.
  argument(static_cast<std::uint64_t>(-3), "late", file::ArgumentType::Int64);
  out.record(RecordType::Counter, kAt + 20, 2, 0, "loss");
  argument(std::bit_cast<std::uint64_t>(0.25), "early", file::ArgumentType::Double);
  argument(8, "second", file::ArgumentType::Int64);
  out.record(RecordType::Counter, kAt + 10, 1, 0, "loss");
  out.record(RecordType::Marker, kAt, 0, 0, "bare", "", 't');
  argument(out.name_id("text"), "key", file::ArgumentType::Name);
  out.record(RecordType::Marker, kAt, 0, 0, "mark", "", 'g');
  const Trace trace = read(out.bytes());
  ASSERT_EQ(trace.counters().size(), 2u);
  const auto first = trace.counter_arguments().of(CounterId(0u));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(text_of(trace, first[0].key()), "early");
  EXPECT_EQ(first[0].real(), 0.25);
  EXPECT_EQ(first[1].integer(), 8);
  const auto second = trace.counter_arguments().of(CounterId(1u));
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(text_of(trace, second[0].key()), "late");
  EXPECT_EQ(second[0].integer(), -3);
  EXPECT_TRUE(trace.marker_arguments().of(MarkerId(0u)).empty());
  const auto mark = trace.marker_arguments().of(MarkerId(1u));
  ASSERT_EQ(mark.size(), 1u);
  EXPECT_EQ(text_of(trace, mark[0].text()), "text");
  EXPECT_TRUE(trace.arguments().empty());
  EXPECT_EQ(losses(trace, "arguments_without_place"), 0u);
}

TEST(SondeRunImport, ArgumentsThatNothingKeepsAreCounted) {
  SondeFile out;
  out.chunk(7).record(RecordType::Argument, 0, 1, 0, "key");
  out.record(RecordType::Argument, 0, 1, 0, "key", "", 77);
  out.record(RecordType::Allocation, kAt, 1, 64, "tag");
  const Trace trace = read(out.bytes());
  EXPECT_EQ(trace.allocations().size(), 1u);
  EXPECT_EQ(losses(trace, "arguments_without_place"), 1u);
  EXPECT_EQ(losses(trace, "unknown_arguments"), 1u);
}

TEST(SondeRunImport, TicksFollowTheReadingsOfTheClock) {
  SondeFile out;
  out.chunk(7).slice("a", 0, 1'000'000);
  out.header.ticks_per_second = 0;
  out.header.latest_slot = 1;
  out.header.latest[1] = {kAt + 30'000'000, 5'010'000'000, 0};  // 30 million ticks in 10 ms
  EXPECT_EQ(read(out.bytes()).slices().duration(SliceId(0u)), 333'333);

  out.header.latest[1].monotonic = 5'001'000'000;  // too near: the guess counts
  out.header.ticks_per_second_guess = 2'000'000'000;
  EXPECT_EQ(read(out.bytes()).slices().duration(SliceId(0u)), 500'000);

  out.header.ticks_per_second_guess = 0;
  EXPECT_EQ(losses(read(out.bytes()), "clock_unknown"), 1u);
}

TEST(SondeRunImport, LossesAreTold) {
  SondeFile out;
  out.header.clean_end = 0;
  out.header.dropped_records = 12;
  out.header.dropped_in_signals = 2;
  out.header.drop_reason = ENOSPC;
  out.chunk(7).slice("a", 5, 2);
  out.record(RecordType::AsyncEnd, kAt, 1, 0, "nothing");
  out.record(RecordType::AsyncBegin, kAt, 2, 0, "open");
  out.record(static_cast<RecordType>(200), kAt, 2, 0);
  out.record(RecordType::Link, kAt, 2, 3);
  out.slice("years", 1ull << 62, 1ull << 62);
  out.raw({kAt, kAt, 0, file::make_word(4711, 0, RecordType::Slice, 250)});
  const Trace trace = read(out.bytes());
  EXPECT_EQ(trace.losses().find("unclean_end")->severity, Severity::Info);
  EXPECT_EQ(losses(trace, "dropped_records"), 10u);
  EXPECT_NE(trace.losses().find("dropped_records")->sentence.find("space"), std::string::npos);
  EXPECT_EQ(losses(trace, "dropped_in_signals"), 2u);
  for (const char* name : {"negative_durations", "async_ends", "async_open", "unknown_records",
                           "open_links", "bad_times", "unknown_names", "unknown_kinds"}) {
    EXPECT_EQ(losses(trace, name), 1u) << name;
  }
}

TEST(SondeRunImport, AHeaderThatCannotBeUsedIsAnError) {
  SondeFile out;
  out.chunk(7).slice("a", 0, 1);
  const std::string good = out.bytes();
  EXPECT_EQ(try_import(good.substr(0, 100), import_sonde_run).error().code, ErrorCode::BrokenInput);
  out.header.version = 99;
  EXPECT_EQ(try_import(out.bytes(), import_sonde_run).error().code, ErrorCode::Unsupported);
  out.header.version = file::kVersion;
  out.header.chunk_bytes = 0;
  const std::string head(reinterpret_cast<const char*>(&out.header), sizeof out.header);
  EXPECT_EQ(try_import(head, import_sonde_run).error().code, ErrorCode::BrokenInput);
}

TEST(SondeRunImport, ACutFileIsReadUpToTheCut) {
  SondeFile out;
  out.chunk(7);
  for (std::uint64_t i = 0; i < 100; ++i) out.slice("a", i, i + 1);
  const std::string whole = out.bytes();
  constexpr std::size_t kFirstRecord = SondeFile::kSmallChunk + sizeof(file::ChunkHeader);
  for (const std::size_t cut : {0u, 1u, 31u, 32u, 33u, 1000u}) {
    const Trace trace = read(std::string_view(whole).substr(0, kFirstRecord + cut));
    EXPECT_EQ(trace.slice_count(), cut / sizeof(file::Record)) << cut;
    EXPECT_EQ(losses(trace, "file_cut"), 1u) << cut;
  }
}

TEST(SondeRunImport, GarbageNeverDoesMoreThanAddLosses) {
  std::mt19937 random(1);
  const std::string whole = rich_sonde_file();
  for (int round = 0; round < 500; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 8; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    const Result<Trace> trace = try_import(bytes, import_sonde_run);
    if (!trace) continue;
    for (const SliceId slice : all_slices(*trace)) EXPECT_GE(trace->slices().duration(slice), 0);
  }
}

TEST(SondeRunImport, TheSeedOfTheFuzzerIsWhatTheHelperMakes) {
  const std::string path = std::string(SONDE_TEST_DATA) + "/../fuzz/corpus/sonde_run/rich.sonde";
  if (std::getenv("SONDE_UPDATE_GOLDEN"))
    std::ofstream(path, std::ios::binary) << rich_sonde_file();
  EXPECT_TRUE(read_bytes(path) == rich_sonde_file())
      << "SONDE_UPDATE_GOLDEN=1 in the environment writes it anew";
}

TEST(RunFolder, IsReadLikeAnyOther) {
  const ScratchFolder folder;
  folder.write("run.json", R"({"start_unix_ns": 5, "command": ["a", "b c"], "exit_code": 3})");
  folder.write("demo-100.sonde", rich_sonde_file());
  folder.write("notes.txt", "nothing");
  const Result<std::vector<TraceFile>> files = find_trace_files(folder.path().string());
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1u);
  EXPECT_EQ((*files)[0].worker, "demo-100");
  const std::optional<RunInfo> info = read_run_info(folder.path().string());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->command, (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(info->exit_code, 3);
  EXPECT_FALSE(info->end);
}

TEST(RunFolder, TheNewestIsTheOneThatBeganLast) {
  const ScratchFolder folder;
  const std::string root = folder.path().string();
  EXPECT_FALSE(newest_run(root).ok());
  EXPECT_FALSE(newest_run(root + "/none").ok());
  folder.write("b/run.json", R"({"start_unix_ns": 20})");
  folder.write("a/deep/run.json", R"({"start_unix_ns": 30})");
  folder.write("c/run.json", R"({"start_unix_ns": 10})");
  folder.write("d/run.json", "garbage");
  EXPECT_EQ(*newest_run(root), root + "/a/deep");
}

}  // namespace
}  // namespace sonde::test
