#include "trace/tables/writer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "import/sonde_run/tables/tables_file.hpp"
#include "tests/support/files.hpp"

namespace sonde::test {
namespace {

using tables::Table;
using tables::Writer;

TablesFile read(const std::string& path, TraceBuilder& builder) {
  Result<OpenedInput> input = open_input(path);
  EXPECT_TRUE(input.ok());
  if (!input) return {};
  return read_tables_file(*input->source, builder);
}

TEST(TablesWriter, RowsAreThereBeforeTheEndAndMayGoOnCounting) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "a.tables").string();
  Writer writer;
  ASSERT_EQ(writer.open(path.c_str(), 0), 0);
  const std::uint32_t name = writer.add_text("train", 5);
  auto* const row = writer.add(Table::Line, tables::LineRow{1, 2, 3, 0, 4, 5});
  ASSERT_NE(row, nullptr);
  ++row->hits;
  TraceBuilder builder;
  const TablesFile file = read(path, builder);
  ASSERT_EQ(file.lines.size(), 1u);
  EXPECT_EQ(file.lines[0].hits, 5u);
  EXPECT_EQ(file.header.clean_end, 0u);
  ASSERT_NE(file.texts.find(name), nullptr);
  EXPECT_EQ(builder.text(*file.texts.find(name)), "train");
  writer.close();
  TraceBuilder later;
  EXPECT_EQ(read(path, later).header.clean_end, 1u);
  EXPECT_TRUE(later.losses().empty());
}

TEST(TablesWriter, ManyRowsAndLongTexts) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "a.tables").string();
  Writer writer;
  ASSERT_EQ(writer.open(path.c_str(), 0), 0);
  const std::string text(100'000, 'x');
  const std::uint32_t id = writer.add_text(text.data(), text.size());
  EXPECT_NE(writer.add_text("", 0), 0u);
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    ASSERT_NE(writer.add(Table::Frame, tables::FrameRow{i + 1, i, 1, 1}), nullptr);
  }
  writer.close();
  TraceBuilder builder;
  const TablesFile file = read(path, builder);
  ASSERT_EQ(file.frames.size(), 50'000u);
  EXPECT_EQ(file.frames.back().id, 50'000u);
  EXPECT_EQ(builder.text(*file.texts.find(id)).size(), tables::kMaxText);
  EXPECT_TRUE(builder.losses().empty());
}

TEST(TablesWriter, TheLimitHolds) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "a.tables").string();
  Writer writer;
  constexpr std::uint64_t kLimit = 2 * 1024 * 1024;
  ASSERT_EQ(writer.open(path.c_str(), kLimit), 0);
  std::uint64_t kept = 0;
  std::uint64_t dropped = 0;
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    (writer.add(Table::Frame, tables::FrameRow{i + 1, 0, 1, 1}) ? kept : dropped) += 1;
  }
  EXPECT_GT(dropped, 0u);
  writer.close();
  EXPECT_LE(std::filesystem::file_size(path), kLimit + tables::kBlockBytes);
  TraceBuilder builder;
  const TablesFile file = read(path, builder);
  EXPECT_EQ(file.frames.size(), kept);
  EXPECT_EQ(file.header.dropped_rows, dropped);
  EXPECT_EQ(file.header.drop_reason, 0u);
}

// In a child of its own: the limit is the process's.
int in_child(int (*work)(const char* path), const std::string& path) {
  const pid_t child = fork();
  if (child == 0) _exit(work(path.c_str()));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(TablesWriter, AFullDiskIsALossNotACrash) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "a.tables").string();
  const int rc = in_child(
      [](const char* file) {
        rlimit limit{3 * 1024 * 1024, 3 * 1024 * 1024};
        setrlimit(RLIMIT_FSIZE, &limit);
        Writer writer;
        if (writer.open(file, 0) != 0) return 2;
        for (std::uint32_t i = 0; i < 400'000; ++i) {
          writer.add(Table::Frame, tables::FrameRow{i + 1, 0, 1, 1});
        }
        writer.close();
        return 0;
      },
      path);
  ASSERT_EQ(rc, 0);
  TraceBuilder builder;
  const TablesFile file = read(path, builder);
  EXPECT_GT(file.frames.size(), 100'000u);
  EXPECT_EQ(file.frames.size() + file.header.dropped_rows, 400'000u);
  EXPECT_EQ(file.header.drop_reason, static_cast<std::uint32_t>(EFBIG));
  EXPECT_TRUE(builder.losses().empty());
}

TEST(TablesWriter, NoRoomAtAllIsAnErrorWithoutAFile) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "a.tables").string();
  const int rc = in_child(
      [](const char* file) {
        rlimit limit{1024, 1024};
        setrlimit(RLIMIT_FSIZE, &limit);
        Writer writer;
        const int error = writer.open(file, 0);
        return error == EFBIG && !writer.is_open() && !writer.add_text("x", 1) ? 0 : 1;
      },
      path);
  EXPECT_EQ(rc, 0);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TablesWriter, AForkedChildLeavesTheFileAlone) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "a.tables").string();
  Writer writer;
  ASSERT_EQ(writer.open(path.c_str(), 0), 0);
  writer.add(Table::Frame, tables::FrameRow{1, 0, 1, 1});
  const pid_t child = fork();
  if (child == 0) {
    writer.abandon();
    const bool closed =
        !writer.is_open() && !writer.add(Table::Frame, tables::FrameRow{2, 0, 1, 1});
    // A file of its own, with the same object.
    const std::string own = path + ".child";
    const bool opened = writer.open(own.c_str(), 0) == 0 &&
                        writer.add(Table::Frame, tables::FrameRow{3, 0, 1, 1}) != nullptr;
    writer.close();
    _exit(closed && opened ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  writer.add(Table::Frame, tables::FrameRow{4, 0, 1, 1});
  writer.close();
  TraceBuilder builder;
  const TablesFile file = read(path, builder);
  ASSERT_EQ(file.frames.size(), 2u);
  EXPECT_EQ(file.frames[1].id, 4u);
  EXPECT_EQ(file.header.clean_end, 1u);
  TraceBuilder other;
  const TablesFile own = read(path + ".child", other);
  ASSERT_EQ(own.frames.size(), 1u);
  EXPECT_EQ(own.frames[0].id, 3u);
}

TEST(TablesWriter, TwoThreadsLoseNothing) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "a.tables").string();
  Writer writer;
  ASSERT_EQ(writer.open(path.c_str(), 0), 0);
  constexpr std::uint32_t kRows = 30'000;
  const auto work = [&](std::uint32_t thread) {
    for (std::uint32_t i = 0; i < kRows; ++i) {
      writer.add(Table::Line,
                 tables::LineRow{thread, static_cast<std::int32_t>(i), thread, 0, 1, 1});
      if (i % 100 == 0) writer.add_text("text", 4);
    }
  };
  std::thread first(work, 1u);
  std::thread second(work, 2u);
  first.join();
  second.join();
  writer.close();
  TraceBuilder builder;
  const TablesFile file = read(path, builder);
  ASSERT_EQ(file.lines.size(), 2 * kRows);
  std::uint32_t next[3] = {};
  for (const tables::LineRow& row : file.lines) {
    ASSERT_EQ(row.line, static_cast<std::int32_t>(next[row.thread]++));  // each in its own order
  }
  EXPECT_EQ(file.texts.size(), 2 * kRows / 100);
  EXPECT_TRUE(builder.losses().empty());
}

TEST(TablesWriter, CompanionPaths) {
  char out[32];
  EXPECT_TRUE(tables::companion_path("/a/b.sonde", ".tables", out, sizeof out));
  EXPECT_STREQ(out, "/a/b.tables");
  EXPECT_FALSE(tables::companion_path("/a/b.json", ".tables", out, sizeof out));
  EXPECT_FALSE(tables::companion_path("x", ".tables", out, sizeof out));
  EXPECT_FALSE(
      tables::companion_path("/a/very/long/path/to/a/recording.sonde", ".tables", out, sizeof out));
}

}  // namespace
}  // namespace sonde::test
