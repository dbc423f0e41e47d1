// What the program says and how it ends when a path is not what it should be, or a file was cut.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/support/bounded_run.hpp"
#include "tests/support/files.hpp"
#include "tests/support/well_behaved.hpp"

namespace sonde {
namespace {

using test::events;
using test::expect_well_behaved;
using test::kGood;
using test::Ran;
using test::run_program;
using test::ScratchFolder;
using test::unwrapped;

TEST(BadPath, AFolderWithoutTraces) {
  const ScratchFolder folder;
  folder.write("sub/config.json", R"({"a": 1})");
  const std::string path = folder.path().string();
  for (const char* command : {"report", "info"}) {
    const Ran ran = run_program({SONDE_BINARY, command, path});
    expect_well_behaved(ran, path);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.err.find("no trace in this folder or below it"), std::string::npos) << ran.err;
  }
}

TEST(BadPath, NothingThere) {
  for (const char* command : {"report", "info"}) {
    const Ran ran = run_program({SONDE_BINARY, command, "/nowhere/trace.json"});
    expect_well_behaved(ran, "/nowhere/trace.json");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.err.find("no such file or folder"), std::string::npos) << ran.err;
  }
}

TEST(BadPath, NoPathAtAll) {
  for (const char* command : {"report", "info"}) {
    const Ran ran = run_program({SONDE_BINARY, command, ""});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_EQ(ran.err, "sonde: a path is empty (is a variable of the shell unset?)\n");
  }
}

TEST(BadPath, AFileInThePlaceOfAFolder) {
  const ScratchFolder folder;
  const std::string path = folder.write("file", "x") + "/trace.json";
  const Ran ran = run_program({SONDE_BINARY, "info", path});
  expect_well_behaved(ran, path);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("no such file or folder"), std::string::npos) << ran.err;
}

TEST(BadPath, NoPermissionForTheFileOrTheFolder) {
  const ScratchFolder folder;
  const std::string file = folder.write("closed/trace.json", events(kGood));
  const std::string closed = (folder.path() / "closed").string();
  ::chmod(folder.path().c_str(), 0755);
  test::RunOptions options;
  options.as_nobody = true;
  if (run_program({SONDE_BINARY, "--version"}, options).exit_code != 0) {
    GTEST_SKIP() << "the program cannot be run without root's rights here";
  }
  ::chmod(file.c_str(), 0000);
  for (const char* command : {"report", "info"}) {
    const Ran ran = run_program({SONDE_BINARY, command, file}, options);
    expect_well_behaved(ran, file);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.err.find("no permission to read it"), std::string::npos) << ran.err;
  }
  ::chmod(closed.c_str(), 0000);
  for (const char* command : {"report", "info"}) {
    const Ran ran = run_program({SONDE_BINARY, command, closed}, options);
    expect_well_behaved(ran, closed);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.err.find("cannot list the folder"), std::string::npos) << ran.err;
  }
  ::chmod(closed.c_str(), 0755);
}

TEST(BadPath, ARankThatCannotBeReadIsNamedAndTheOthersAreReported) {
  const ScratchFolder folder;
  folder.write("rank0.pt.trace.json", events(kGood));
  const std::string empty = folder.write("rank1.pt.trace.json", "");
  for (const char* command : {"report", "info"}) {
    const Ran ran = run_program({SONDE_BINARY, command, folder.path().string()});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_NE(ran.err.find(empty), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("the file is empty"), std::string::npos) << ran.err;
  }
}

// The complete events before `cut`, counted one character at a time.
struct EventCounter {
  explicit EventCounter(const std::string& whole) : text(whole) {
    at = text.find('[', text.find("\"traceEvents\"")) + 1;
    list = at;
  }

  std::size_t before(std::size_t cut) {
    for (; at < cut && !closed; ++at) {
      const char c = text[at];
      if (in_string) {
        if (c == '\\')
          ++at;
        else if (c == '"')
          in_string = false;
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{') {
        ++depth;
      } else if (c == '}') {
        if (--depth == 0) ++complete;
      } else if (c == ']' && depth == 0) {
        closed = true;
      }
    }
    return complete;
  }

  const std::string& text;
  std::size_t list = 0;
  std::size_t at = 0;
  std::size_t depth = 0;
  std::size_t complete = 0;
  bool in_string = false;
  bool closed = false;
};

TEST(CutTrace, AtEvery4KiBWhatWasCompleteIsReadAndTheRestIsReported) {
  const std::string whole =
      test::gunzip(test::read_bytes(std::string(SONDE_TEST_DATA) + "/ddp_rank0.pt.trace.json.gz"));
  ASSERT_GT(whole.size(), 100'000u);
  const ScratchFolder folder;
  EventCounter counter(whole);
  std::size_t cuts = 0;
  for (std::size_t cut = 4096; cut < whole.size(); cut += 4096, ++cuts) {
    SCOPED_TRACE("cut at " + std::to_string(cut));
    const std::string path = folder.write("cut.json", whole.substr(0, cut));
    const std::size_t complete = counter.before(cut);
    const Ran info = run_program({SONDE_BINARY, "info", "--format", "json", path});
    expect_well_behaved(info, path);
    if (cut <= counter.list) {
      ASSERT_EQ(info.exit_code, 1);
      ASSERT_NE(info.err.find("it was cut"), std::string::npos) << info.err;
      continue;
    }
    ASSERT_EQ(info.exit_code, 0) << info.err;
    ASSERT_NE(info.out.find("\"file_events\": " + std::to_string(complete) + ","),
              std::string::npos)
        << "expected " << complete << "\n"
        << info.out.substr(0, 800);
    ASSERT_NE(info.out.find("it was cut"), std::string::npos);
    const Ran report = run_program({SONDE_BINARY, "report", path});
    expect_well_behaved(report, path);
    ASSERT_EQ(report.exit_code, 0) << report.err;
    ASSERT_NE(unwrapped(report.all()).find("it was cut"), std::string::npos) << report.all();
  }
  EXPECT_GT(cuts, 20u);
}

}  // namespace
}  // namespace sonde
