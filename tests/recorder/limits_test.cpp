// When there is no room: the program goes on as if nothing was, and the file says what was lost.

#include <errno.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/recorder/recorded_run.hpp"

namespace sonde::testing {
namespace {

constexpr std::uint64_t kRecorded = 300'000 + 1000;

void expect_undisturbed(const ProcessResult& result) {
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(result.out, "first line\nlast line\n");
  EXPECT_EQ(result.err, "");
}

void expect_all_accounted_for(const Recording& file) {
  const std::uint64_t kept = file.named("number").size();
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, kRecorded);
  EXPECT_EQ(kept + file.header.dropped_records, kRecorded);
}

TEST(Limits, FullDisk) {
  const Folder folder;
  if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "may not mount a small file system";
  }
  expect_undisturbed(record(folder.path(), {"output", "300000"}));
  const Recording file = read_only_file(folder.path());
  expect_all_accounted_for(file);
  EXPECT_EQ(file.header.drop_reason, static_cast<std::uint32_t>(ENOSPC));
  ::umount(folder.path().c_str());
}

TEST(Limits, FileSystemThatCannotReserveSpace) {
  const Folder folder;
  expect_undisturbed(record(folder.path(), {"output", "300000"}, {}, SONDE_RECORDER_CHILD_ODD));
  const Recording file = read_only_file(folder.path());
  EXPECT_EQ(file.named("number").size(), kRecorded);
  EXPECT_EQ(file.header.dropped_records, 0u);
}

TEST(Limits, FullDiskThatCannotReserveSpace) {
  const Folder folder;
  if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "may not mount a small file system";
  }
  expect_undisturbed(record(folder.path(), {"output", "300000"}, {}, SONDE_RECORDER_CHILD_ODD));
  const Recording file = read_only_file(folder.path());
  expect_all_accounted_for(file);
  EXPECT_EQ(file.header.drop_reason, static_cast<std::uint32_t>(ENOSPC));
  ::umount(folder.path().c_str());
}

TEST(Limits, DiskThatIsFullFromTheStart) {
  const Folder folder;
  if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=16k") != 0) {
    GTEST_SKIP() << "may not mount a small file system";
  }
  expect_undisturbed(record(folder.path(), {"output", "300000"}));
  ::umount(folder.path().c_str());
}

TEST(Limits, FileSizeLimitOfTheProcess) {
  const Folder folder;
  const std::string command = "ulimit -f 1500; exec " SONDE_RECORDER_CHILD " output 300000";
  expect_undisturbed(run_process({"bash", "-c", command}, {}, {{"SONDE_RUN_DIR", folder.path()}}));
  const Recording file = read_only_file(folder.path());
  expect_all_accounted_for(file);
  EXPECT_EQ(file.header.drop_reason, static_cast<std::uint32_t>(EFBIG));
}

TEST(Limits, ReadOnlyFolder) {
  const Folder folder;
  const bool mounted = ::mount("none", folder.path().c_str(), "tmpfs", MS_RDONLY, "size=1m") == 0;
  if (!mounted) {
    if (::geteuid() == 0) GTEST_SKIP() << "root writes anywhere, and may not mount";
    ::chmod(folder.path().c_str(), 0500);
  }
  expect_undisturbed(record(folder.path(), {"output", "300000"}));
  expect_undisturbed(record(folder.path() + "/below", {"output", "300000"}));
  if (mounted) ::umount(folder.path().c_str());
  ::chmod(folder.path().c_str(), 0700);
}

TEST(Limits, FolderThatIsAFile) {
  expect_undisturbed(record("/dev/null/run", {"output", "300000"}));
}

TEST(Limits, SizeLimit) {
  const Folder folder;
  expect_undisturbed(record(folder.path(), {"output", "300000"}, {{"SONDE_MAX_SIZE", "1M"}}));
  const Recording file = read_only_file(folder.path());
  expect_all_accounted_for(file);
  EXPECT_EQ(file.header.drop_reason, 0u);
  EXPECT_EQ(file.header.limit, file::Limit::Stop);
  EXPECT_LE(std::filesystem::file_size(recordings(folder.path())[0]), 1u << 20);
  // What was there first is there without a gap.
  auto numbers = numbers_in(file);
  std::erase_if(numbers, [](std::uint64_t number) { return number >= 1'000'000'000; });
  EXPECT_EQ(numbers, count_from(1, numbers.size()));
}

TEST(Limits, NoMemoryForAChunk) {
  if (sanitized()) GTEST_SKIP() << "sanitizers need all of the address space";
  for (const char* earlier : {"0", "1", "5000"}) {
    const Folder folder;
    expect_undisturbed(record(folder.path(), {"memory", "300000", earlier}));
    const Recording file = read_only_file(folder.path());
    const auto numbers = numbers_in(file);
    EXPECT_EQ(numbers, count_from(1, numbers.size()));
    EXPECT_GE(numbers.size(), std::strtoul(earlier, nullptr, 10));
    EXPECT_EQ(numbers.size() + file.header.dropped_records, 300'000u);
    EXPECT_GT(file.header.dropped_records, 0u);
    EXPECT_EQ(file.header.drop_reason, static_cast<std::uint32_t>(ENOMEM));
  }
}

TEST(Limits, KeepLastHoldsTheNewest) {
  const Folder folder;
  EXPECT_EQ(record(folder.path(), {"die", "kill", "1000000"}, {{"SONDE_KEEP_LAST", "1M"}}).status,
            128 + SIGKILL);
  const Recording file = read_only_file(folder.path());
  EXPECT_LE(std::filesystem::file_size(recordings(folder.path())[0]), 1u << 20);
  EXPECT_EQ(file.header.limit, file::Limit::KeepLast);
  EXPECT_EQ(file.header.dropped_records, 0u);
  const auto numbers = numbers_in(file);
  ASSERT_GT(numbers.size(), 10 * file::kRecordsPerChunk);
  EXPECT_EQ(numbers, count_from(1'000'001 - numbers.size(), numbers.size()));
}

TEST(Limits, KeepLastWithMoreThreadsThanChunks) {
  const Folder folder;
  EXPECT_EQ(record(folder.path(), {"threads", "400", "3000"}, {{"SONDE_KEEP_LAST", "64K"}}).status,
            0);
  const Recording file = read_only_file(folder.path());
  const auto numbers = numbers_in(file);
  ASSERT_FALSE(numbers.empty());
}

}  // namespace
}  // namespace sonde::testing
