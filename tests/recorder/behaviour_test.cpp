// Threads, signals, libraries that come and go, sessions, schedules, dumps.

#include <set>
#include <sstream>

#include "tests/recorder/recorded_run.hpp"

namespace sonde::testing {
namespace {

TEST(Behaviour, StaticAndSharedLibraryRecordFromTheStart) {
  for (const char* program : {SONDE_RECORDER_CHILD, SONDE_RECORDER_CHILD_STATIC}) {
    const Folder folder;
    EXPECT_EQ(record(folder.path(), {"output", "100"}, {}, program).status, 7);
    const Recording file = read_only_file(folder.path());
    EXPECT_EQ(file.named("number").size(), 1100u);
    EXPECT_EQ(file.header.clean_end, 1u);
    EXPECT_STREQ(file.header.program, std::filesystem::path(program).filename().c_str());
    EXPECT_EQ(std::filesystem::file_size(recordings(folder.path())[0]),
              file::chunk_offset(file.header.chunks));
  }
}

TEST(Behaviour, RecordsNothingUnasked) {
  const ProcessResult result = run_process({SONDE_RECORDER_CHILD, "output", "100"});
  EXPECT_EQ(result.status, 7);
}

TEST(Behaviour, ShortLivedThreadsShareChunks) {
  const Folder folder;
  EXPECT_EQ(record(folder.path(), {"threads", "10000", "3"}).status, 0);
  const Recording file = read_only_file(folder.path());
  auto numbers = numbers_in(file);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, count_from(1, 30'000));
  EXPECT_LT(file.chunks, 40u);
  // Each number belongs to one thread, three in a row.
  std::map<std::uint64_t, std::set<std::uint32_t>> threads;
  for (const ReadRecord& record : file.named("number")) {
    threads[(record.c - 1) / 3].insert(record.thread);
  }
  for (const auto& [group, ids] : threads) EXPECT_EQ(ids.size(), 1u) << group;
}

TEST(Behaviour, GlobalObjectsRecordBeforeAndAfterMain) {
  for (const char* program : {SONDE_RECORDER_CHILD, SONDE_RECORDER_CHILD_STATIC}) {
    const Folder folder;
    EXPECT_EQ(record(folder.path(), {"statics"}, {{"SONDE_TEST_STATICS", "1"}}, program).status, 0);
    const Recording file = read_only_file(folder.path());
    EXPECT_EQ(numbers_in(file), count_from(1, 4));
    EXPECT_EQ(file.header.clean_end, 1u);
  }
}

TEST(Behaviour, HandlerThatInterruptsARecordIsCounted) {
  const Folder folder;
  // Under the sanitizers a record takes ten times as long: as many signals come.
  const std::size_t count = sanitized() ? 200'000 : 2'000'000;
  const ProcessResult result = record(folder.path(), {"signals", std::to_string(count)});
  EXPECT_EQ(result.status, 0);
  const Recording file = read_only_file(folder.path());
  EXPECT_EQ(numbers_in(file), count_from(0, count + 1));
  const std::uint64_t tried = std::strtoull(result.out.c_str(), nullptr, 10);
  EXPECT_EQ(file.named("signal").size() + file.header.dropped_in_signals, tried);
  EXPECT_EQ(file.header.dropped_records, file.header.dropped_in_signals);
  EXPECT_GT(tried, 10u);
}

TEST(Behaviour, LibraryMayBeClosedWhileThreadsLive) {
  const Folder folder;
  const ProcessResult result =
      record(folder.path(), {SONDE_RECORDER_PLUGIN, "20"}, {}, SONDE_RECORDER_HOST);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(read_only_file(folder.path()).named("plugin").size(), 20u * 1010);
}

TEST(Behaviour, StartsAndStopsWhileThreadsRecord) {
  const Folder folder;
  const int rounds = 50;
  const ProcessResult result =
      run_process({SONDE_RECORDER_CHILD, "sessions", folder.path(), std::to_string(rounds)});
  EXPECT_EQ(result.status, 0);
  const auto files = recordings(folder.path());
  ASSERT_EQ(files.size(), static_cast<std::size_t>(rounds));
  for (const auto& path : files) {
    const Recording file = read_recording(path);
    EXPECT_TRUE(file.complaints.empty()) << file.complaints[0];
    EXPECT_EQ(file.header.clean_end, 1u);
    auto numbers = numbers_in(file);
    std::erase_if(numbers, [](std::uint64_t number) { return number >= 1'000'000; });
    EXPECT_EQ(numbers, count_from(1, 100));
  }
}

TEST(Behaviour, ScheduleRecordsTheActiveStepsOnly) {
  const Folder folder;
  EXPECT_EQ(record(folder.path(), {"schedule"}).status, 0);
  const Recording file = read_only_file(folder.path());
  EXPECT_EQ(numbers_in(file), (std::vector<std::uint64_t>{3, 4, 7, 8}));
  std::vector<std::uint64_t> steps;
  for (const ReadRecord& step : file.named("step")) {
    EXPECT_EQ(step.extra, 1);
    steps.push_back(step.c);
  }
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{3, 4, 7, 8}));
}

TEST(Behaviour, PauseAndResume) {
  const Folder folder;
  EXPECT_EQ(record(folder.path(), {"pause"}).status, 0);
  const Recording file = read_only_file(folder.path());
  EXPECT_EQ(numbers_in(file), (std::vector<std::uint64_t>{1, 3}));
  const auto changes = file.of(file::RecordType::Schedule);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].b, 0u);
  EXPECT_EQ(changes[1].b, 1u);
}

TEST(Behaviour, ProgramThatClosesEveryDescriptor) {
  const Folder folder;
  EXPECT_EQ(record(folder.path(), {"closing", "200000"}).status, 0);
  const Recording file = read_only_file(folder.path());
  EXPECT_EQ(file.named("number").size() + file.header.dropped_records, 200'001u);
}

TEST(Behaviour, DumpsOnASignalAndOnACrash) {
  const Environment ring = {{"SONDE_KEEP_LAST", "1M"},
                            {"SONDE_DUMP_SIGNAL", std::to_string(SIGUSR1)}};
  for (const int signal : {SIGUSR1, SIGSEGV, SIGABRT}) {
    // Sanitizers have handlers of their own for crashes, and those stay.
    if (sanitized() && signal != SIGUSR1) continue;
    const Folder own;
    const int status = record(own.path(), {"dump", "100000", std::to_string(signal)}, ring).status;
    EXPECT_EQ(status, signal == SIGUSR1 ? 0 : 128 + signal);
    std::vector<std::filesystem::path> dumps;
    for (const auto& entry : std::filesystem::directory_iterator(own.path())) {
      if (entry.path().extension() != ".sonde") dumps.push_back(entry.path());
    }
    ASSERT_EQ(dumps.size(), 1u) << signal;
    const Recording file = read_recording(dumps[0]);
    EXPECT_TRUE(file.complaints.empty());
    const auto numbers = numbers_in(file);
    ASSERT_GT(numbers.size(), 10'000u);
    EXPECT_EQ(numbers, count_from(100'001 - numbers.size(), numbers.size()));
  }
}

TEST(Behaviour, DumpWhileTheRingTurns) {
  const Folder folder;
  EXPECT_EQ(record(folder.path(), {"dumping", sanitized() ? "200000" : "2000000"},
                   {{"SONDE_KEEP_LAST", "1M"}})
                .status,
            0);
  std::size_t dumps = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const Recording file = read_recording(entry.path());
    EXPECT_TRUE(file.complaints.empty()) << file.complaints[0];
    for (const ReadRecord& record : file.named("number")) {
      ASSERT_LE(record.a, record.b);
      ASSERT_TRUE(record.c >> 32 == 1 || record.c >> 32 == 2);
    }
    ++dumps;
  }
  EXPECT_GT(dumps, 1u);
}

TEST(Behaviour, ClockReadingsAreGoodEvenForAShortRun) {
  for (const char* count : {"1", "100", "100000"}) {
    const Folder folder;
    record(folder.path(), {"die", "kill", count});
    const auto header = read_only_file(folder.path()).header;
    const file::ClockReading latest = header.latest[header.latest_slot & 1];
    EXPECT_GT(header.ticks_per_second_guess, 1'000'000u);
    const double ticks = static_cast<double>(latest.ticks - header.first.ticks);
    const double seconds = static_cast<double>(latest.monotonic - header.first.monotonic) * 1e-9;
    if (seconds > 0.001) {
      EXPECT_NEAR(ticks / seconds / static_cast<double>(header.ticks_per_second_guess), 1, 0.02);
    }
  }
}

// Ticks for a time of the monotonic clock are read back as that time.
TEST(Behaviour, TicksFromNanoseconds) {
  const Folder folder;
  const ProcessResult result = run_process({SONDE_RECORDER_CHILD, "ticks", folder.path()});
  EXPECT_EQ(result.status, 0);
  const Recording file = read_only_file(folder.path());
  const file::ClockReading first = file.header.first;
  const file::ClockReading latest = file.header.latest[file.header.latest_slot & 1];
  const double rate = static_cast<double>(latest.monotonic - first.monotonic) /
                      static_cast<double>(latest.ticks - first.ticks);
  const auto nanoseconds = [&](std::uint64_t ticks) {
    const auto since = static_cast<std::int64_t>(ticks - first.ticks);
    return static_cast<double>(since) * rate;
  };
  std::istringstream times(result.out);
  const auto works = file.named("work");
  ASSERT_EQ(works.size(), 5u);
  for (const ReadRecord& work : works) {
    std::int64_t start = 0;
    std::int64_t end = 0;
    ASSERT_TRUE(times >> start >> end);
    // 20 ms of sleep: a tenth of a percent.
    EXPECT_NEAR(nanoseconds(work.a), static_cast<double>(start - first.monotonic), 20'000);
    EXPECT_NEAR(nanoseconds(work.b), static_cast<double>(end - first.monotonic), 20'000);
  }
}

}  // namespace
}  // namespace sonde::testing
