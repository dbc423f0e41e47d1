// What is left of a process that did not end in order.

#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <fstream>
#include <map>
#include <random>

#include "tests/recorder/recorded_run.hpp"

namespace sonde::testing {
namespace {

TEST(Survival, KilledAtAnyMomentLosesNothingThatWasFinished) {
  const Folder folder;
  const std::string progress_path = folder.path() + "/progress";
  std::mt19937 random(20);
  const int rounds = sanitized() ? 40 : 200;
  std::uint64_t total = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string run = folder.path() + "/run" + std::to_string(round);
    std::ofstream(progress_path) << std::string(4096, '\0');
    const int fd = ::open(progress_path.c_str(), O_RDWR);
    auto* const progress = static_cast<std::atomic<std::uint64_t>*>(
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    ASSERT_NE(static_cast<void*>(progress), MAP_FAILED);
    ::close(fd);
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("SONDE_RUN_DIR", run.c_str(), 1);
      ::execl(SONDE_RECORDER_CHILD, "child", "numbers", progress_path.c_str(), nullptr);
      ::_exit(127);
    }
    // Some die during their first steps, most in full flight.
    for (int i = 0; round % 4 != 0 && i < 10'000 && progress[0].load() == 0; ++i) ::usleep(1000);
    ::usleep(random() % 10'000);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));

    const auto files = recordings(run);
    if (files.empty()) {
      for (int t = 0; t < 4; ++t) ASSERT_EQ(progress[t * 8].load(), 0u);
      ::munmap(progress, 4096);
      continue;
    }
    ASSERT_EQ(files.size(), 1u);
    const Recording file = read_recording(files[0]);
    if (file.header.magic[0] == 0) {  // killed while the file was made
      for (int t = 0; t < 4; ++t) ASSERT_EQ(progress[t * 8].load(), 0u);
      ::munmap(progress, 4096);
      continue;
    }
    ASSERT_TRUE(file.complaints.empty()) << file.complaints[0] << " in round " << round;
    std::map<std::uint64_t, std::vector<ReadRecord>> by_thread;
    for (const ReadRecord& record : file.named("number")) {
      by_thread[record.c >> 48].push_back(record);
    }
    for (std::uint64_t t = 0; t < 4; ++t) {
      auto& records = by_thread[t];
      std::stable_sort(records.begin(), records.end(),
                       [](const ReadRecord& x, const ReadRecord& y) { return x.a < y.a; });
      const std::uint64_t finished = progress[t * 8].load();
      // The one behind the last published may be finished, or not.
      ASSERT_GE(records.size(), finished) << "round " << round;
      ASSERT_LE(records.size(), finished + 1) << "round " << round;
      for (std::size_t i = 0; i < records.size(); ++i) {
        ASSERT_EQ(records[i].c & 0xFFFF'FFFF'FFFF, i + 1);
        ASSERT_EQ(records[i].thread, records[0].thread);
        ASSERT_LE(records[i].a, records[i].b);
        if (i > 0) {
          ASSERT_LE(records[i - 1].b, records[i].a);
        }
      }
      total += records.size();
    }
    ASSERT_EQ(file.header.dropped_records, 0u);
    ASSERT_EQ(file.header.clean_end, 0u);
    ::munmap(progress, 4096);
    std::filesystem::remove_all(run);
  }
  EXPECT_GT(total, 10'000u);
  RecordProperty("records", static_cast<int>(total));
}

class Death : public ::testing::TestWithParam<const char*> {};

TEST_P(Death, LosesNothing) {
  for (const char* count : {"1", "100", "10000"}) {
    const Folder folder;
    record(folder.path(), {"die", GetParam(), count});
    const Recording file = read_only_file(folder.path());
    EXPECT_EQ(numbers_in(file), count_from(1, std::strtoul(count, nullptr, 10)));
    EXPECT_EQ(file.header.clean_end, 0u);
    EXPECT_EQ(file.header.dropped_records, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Recorder, Death, ::testing::Values("abort", "segv", "_exit", "kill"),
                         [](const auto& how) {
                           return std::string(how.param[0] == '_' ? "exit" : how.param);
                         });

TEST(Survival, ForkWithoutExecGivesTheChildAFileOfItsOwn) {
  const Folder folder;
  EXPECT_EQ(record(folder.path(), {"forks", "5000"}).status, 0);
  const auto files = recordings(folder.path());
  ASSERT_EQ(files.size(), 2u);
  Recording parent = read_recording(files[0]);
  Recording child = read_recording(files[1]);
  if (parent.header.parent_pid == child.header.pid) std::swap(parent, child);
  EXPECT_TRUE(parent.complaints.empty());
  EXPECT_TRUE(child.complaints.empty());
  EXPECT_EQ(child.header.parent_pid, parent.header.pid);
  EXPECT_EQ(numbers_in(parent), count_from(1, 10'000));
  std::vector<std::uint64_t> expected = count_from(1'000'001, 5000);
  const std::vector<std::uint64_t> second = count_from(2'000'001, 5000);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(numbers_in(child), expected);
  EXPECT_EQ(parent.header.clean_end, 1u);
}

// A child by _Fork() or a raw clone(): nobody tells the recorder.
TEST(Survival, ChildOfAnUnseenForkGetsAFileOfItsOwn) {
  if (std::string(SONDE_SANITIZED) == "thread") {
    GTEST_SKIP() << "TSan does not see such a fork and takes the parent's threads for the child's";
  }
  for (const char* how : {"_Fork", "clone"}) {
    for (int round = 0; round < (sanitized() ? 3 : 20); ++round) {
      const Folder folder;
      ASSERT_EQ(record(folder.path(), {"unseen", how, "5000"}).status, 0) << how << round;
      const auto files = recordings(folder.path());
      ASSERT_EQ(files.size(), 2u);
      Recording parent = read_recording(files[0]);
      Recording child = read_recording(files[1]);
      if (parent.header.parent_pid == child.header.pid) std::swap(parent, child);
      EXPECT_TRUE(parent.complaints.empty()) << parent.complaints[0];
      EXPECT_TRUE(child.complaints.empty()) << child.complaints[0];
      EXPECT_EQ(child.header.parent_pid, parent.header.pid);
      EXPECT_EQ(numbers_in(parent), count_from(1, 10'000));
      EXPECT_EQ(numbers_in(child), count_from(1'000'000, 5001));
      EXPECT_EQ(parent.header.clean_end, 1u);
      EXPECT_EQ(child.header.clean_end, 1u);
      EXPECT_EQ(child.named("other 1").size(), 0u);
    }
  }
}

TEST(Survival, ExecutedProgramGetsAFileOfItsOwn) {
  const Folder folder;
  EXPECT_EQ(record(folder.path(), {"executes", "5000"}).status, 0);
  const auto files = recordings(folder.path());
  ASSERT_EQ(files.size(), 2u);
  for (const auto& path : files) {
    const Recording file = read_recording(path);
    EXPECT_TRUE(file.complaints.empty());
    EXPECT_EQ(numbers_in(file), count_from(1, 5000));
  }
}

TEST(Survival, FlushWritesEverythingToTheDisk) {
  const Folder folder;
  const ProcessResult result =
      record(folder.path(), {"flush", "5000"}, {}, SONDE_RECORDER_CHILD_ODD);
  EXPECT_EQ(result.status, 128 + SIGKILL);
  const std::string line = "fdatasync " + recordings(folder.path()).at(0).string() + " 0\n";
  EXPECT_EQ(result.err, line + line);
  const Recording file = read_only_file(folder.path());
  EXPECT_EQ(numbers_in(file), count_from(1, 5000));
  // The clock was read then.
  EXPECT_GE(file.header.latest[file.header.latest_slot & 1].ticks, file.named("number").back().b);
}

TEST(Survival, ThreadThatOutlivesMainRecordsOn) {
  for (const char* program : {SONDE_RECORDER_CHILD, SONDE_RECORDER_CHILD_STATIC}) {
    const Folder folder;
    EXPECT_EQ(record(folder.path(), {"outlive", "100000"}, {}, program).status, 0);
    EXPECT_EQ(numbers_in(read_only_file(folder.path())), count_from(0, 100'001));
  }
}

}  // namespace
}  // namespace sonde::testing
