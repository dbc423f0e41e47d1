#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "import/loader.hpp"
#include "tests/support/files.hpp"
#include "tests/support/process.hpp"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using test::read_bytes;
using test::ScratchFolder;
using testing::ProcessResult;
using testing::run_on_terminal;
using testing::run_process;

const std::string kBinary = SONDE_BINARY;
const std::string kData = SONDE_TEST_DATA;
const std::string kTrace = kData + "/ddp_rank0.pt.trace.json.gz";

ProcessResult sonde(std::vector<std::string> arguments, const std::string& input = {}) {
  arguments.insert(arguments.begin(), kBinary);
  return run_process(arguments, input);
}

TEST(ExportCommand, WrongUsageIsExit2AndOneLine) {
  struct Case {
    std::vector<std::string> arguments;
    std::string message;
  };
  const ScratchFolder folder;
  const std::string odd = (folder.path() / "out.xyz").string();
  const std::vector<Case> cases = {
      {{"export", kTrace, "--to", "perfeto"}, "unknown format 'perfeto'; did you mean 'perfetto'?"},
      {{"export", kTrace}, "say what to write: --to FORMAT, or a name with -o"},
      {{"export", kTrace, "-o", odd},
       "'" + odd + "' does not tell a format; known are .json, .pftrace"},
      {{"export", kTrace, "--to", "chrome", "--view", "kernels"},
       "--view is for the formats csv and json"},
      {{"export", kTrace, "--to", "csv", "--view", "kernls"},
       "unknown view 'kernls'; did you mean 'kernels'?"},
      {{"export", kTrace, "--to", "sqlite"}, "format 'sqlite' needs a file: -o FILE"},
      {{"export", kTrace, "--to", "chrome", "--weight", "time"},
       "--weight is for formats of stacks, not for 'chrome'"},
      {{"cut", kTrace, "-o", "x.json"},
       "say which piece: --from, --to-time, --step, --rank or --kind"},
      {{"cut", kTrace, "--from", "3", "-o", "x.json"},
       "'3' is no time; write it as 1.5s, 200ms or 10us"},
      {{"cut", kTrace, "--from", "-1s", "-o", "x.json"}, "'-1s' is no time"},
      {{"cut", kTrace, "--from", "2s", "--to-time", "1s", "-o", "x.json"},
       "--to-time must be later than --from"},
      {{"cut", kTrace, "--step", "5-3", "-o", "x.json"},
       "--step needs a number or a range such as 3-5, not '5-3'"},
      {{"cut", kTrace, "--kind", "kernl", "-o", "x.json"},
       "unknown kind 'kernl'; did you mean 'kernel'?"},
      {{"convert", kTrace, "out"}, "'out' does not tell a format"},
  };
  for (const Case& wrong : cases) {
    const ProcessResult result = sonde(wrong.arguments);
    EXPECT_EQ(result.status, 2) << wrong.message << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err.rfind("sonde: " + wrong.message, 0), 0u) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST(ExportCommand, EveryFormatIsWrittenByName) {
  const ScratchFolder folder;
  for (const char* name :
       {"x.json", "x.json.gz", "x.json.zst", "x.pftrace", "x.folded", "x.collapsed", "x.svg",
        "x.speedscope.json", "x.pb.gz", "x.pprof", "callgrind.out.7", "x.prof", "x.dot", "x.csv",
        "x.model.json", "x.sqlite", "x.db", "x.sqlite.gz", "x.folded.zst"}) {
    SCOPED_TRACE(name);
    const std::string path = (folder.path() / name).string();
    const ProcessResult result = sonde({"convert", kTrace, path});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_GT(fs::file_size(path), 100u);
    const std::string head = read_bytes(path).substr(0, 20);
    const bool gzip = fs::path(name).extension() == ".gz" || fs::path(name).extension() == ".pprof";
    EXPECT_EQ(head.starts_with("\x1f\x8b"), gzip);
    EXPECT_EQ(head.starts_with("\x28\xb5\x2f\xfd"), fs::path(name).extension() == ".zst");
    if (std::string(name) == "x.db") {
      EXPECT_TRUE(head.starts_with("SQLite format 3"));
    }
    fs::remove(path);
    EXPECT_TRUE(fs::is_empty(folder.path())) << "a scratch file was left";
  }
}

TEST(ExportCommand, TextGoesToStandardOutputAndBinaryNotToATerminal) {
  const ProcessResult piped = sonde({"export", kTrace, "--to", "collapsed"});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_GT(piped.out.size(), 1000u);
  const ProcessResult binary = sonde({"export", kTrace, "--to", "perfetto"});
  EXPECT_EQ(binary.status, 0);
  EXPECT_EQ(binary.out[0], 0x0A);
  const ProcessResult terminal =
      run_on_terminal({kBinary, "export", kTrace, "--to", "perfetto"}, 200);
  EXPECT_EQ(terminal.status, 2);
  EXPECT_NE(terminal.out.find("format 'perfetto' is binary; give it a file with -o FILE"),
            std::string::npos)
      << terminal.out;
}

TEST(ExportCommand, APieceWithNothingInItIsTold) {
  const ProcessResult late = sonde({"cut", kTrace, "--from", "5000s", "-t", "chrome"});
  EXPECT_EQ(late.status, 0);
  EXPECT_NE(late.err.find("nothing lies in the piece that was asked for"), std::string::npos);
  const ProcessResult some = sonde({"cut", kTrace, "--to-time", "100ms", "-t", "chrome"});
  EXPECT_EQ(some.err.find("nothing lies"), std::string::npos) << some.err;
}

TEST(ExportCommand, AFullDiskIsToldAReaderThatLeavesIsNotAndOldFilesStay) {
  const std::string quoted = "'" + kBinary + "' export '" + kTrace + "' --to ";
  const ProcessResult full = run_process({"sh", "-c", quoted + "chrome > /dev/full"});
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(full.err,
            "sonde: standard output: cannot write: No space left on device (make room, or write "
            "somewhere "
            "else)\n");
  const ProcessResult packed = run_process({"sh", "-c", quoted + "pprof -o /dev/full"});
  EXPECT_EQ(packed.status, 1) << packed.err;
  const ProcessResult left =
      run_process({"bash", "-c", quoted + "json | head -c 10 > /dev/null; echo ${PIPESTATUS[0]}"});
  EXPECT_EQ(left.out, "0\n") << left.err;

  const ScratchFolder folder;
  const std::string old = folder.write("x.svg", "old");
  const std::string empty =
      folder.write("empty.json", "{\"traceEvents\": [], \"schemaVersion\": 1}");
  const ProcessResult failed = sonde({"convert", empty, old});
  EXPECT_EQ(failed.status, 1);
  EXPECT_NE(
      failed.err.find(
          "sonde: the trace holds no stacks: neither samples nor slices, calls or allocations "
          "('sonde info' tells what it holds)\n"),
      std::string::npos)
      << failed.err;
  EXPECT_EQ(read_bytes(old), "old");
}

TEST(ExportCommand, ViewsAreTheReportsOwn) {
  for (const char* format : {"csv", "json"}) {
    const ProcessResult view = sonde({"export", kTrace, "--to", format, "--view", "kernels"});
    EXPECT_EQ(view.status, 0) << view.err;
    EXPECT_EQ(view.out, sonde({"report", kTrace, "--view", "kernels", "--format", format}).out);
  }
}

TEST(ExportCommand, CutKeepsOneStepWithItsDeviceWork) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "step.json.gz").string();
  const Result<Trace> whole = load_trace(kTrace);
  ASSERT_TRUE(whole.ok());
  const ProcessResult missing = sonde({"cut", kTrace, "--step", "999", "-o", path});
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(missing.err.find("the trace has no step 999 (it has "), std::string::npos)
      << missing.err;

  std::string number;
  for (const SliceId s : all_slices(*whole)) {
    if (whole->slices().kind(s) == SliceKind::Step)
      number = whole->name(s).substr(whole->name(s).find('#') + 1);
  }
  const ProcessResult result = sonde({"cut", kTrace, "--step", number, "-o", path});
  ASSERT_EQ(result.status, 0) << result.err;
  const Result<Trace> piece = load_trace(path);
  ASSERT_TRUE(piece.ok());
  EXPECT_EQ(piece->meta().format, "kineto");
  EXPECT_EQ(piece->meta().rank, whole->meta().rank);
  EXPECT_GT(piece->slice_count(), 100u);
  EXPECT_LT(piece->slice_count(), whole->slice_count());
  EXPECT_GT(piece->launch_to_device().size(), 10u);
}

TEST(ExportCommand, CutByTimeKindAndRank) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "piece.json").string();
  ASSERT_EQ(sonde({"cut", kTrace, "--kind", "kernel,memcpy", "--from", "1ms", "--to-time", "0.5s",
                   "-o", path})
                .status,
            0);
  const Result<Trace> kernels = load_trace(path);
  ASSERT_TRUE(kernels.ok());
  ASSERT_GT(kernels->slice_count(), 0u);
  for (const SliceId s : all_slices(*kernels))
    EXPECT_TRUE(is_device_work(kernels->slices().kind(s)));
  EXPECT_TRUE(kernels->markers().empty());

  ASSERT_EQ(sonde({"cut", kData, "--rank", "2", "-o", path}).status, 0);
  const Result<Trace> rank = load_trace(path);
  ASSERT_TRUE(rank.ok());
  EXPECT_EQ(rank->meta().rank, 2);
  const ProcessResult none = sonde({"cut", kData, "--rank", "17", "-o", path});
  EXPECT_EQ(none.status, 1);
  EXPECT_NE(none.err.find("no trace of rank 17 (there are ranks 0, 1, 2, 3)"), std::string::npos)
      << none.err;
}

TEST(ExportCommand, SeveralRanksBecomeOneTrace) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "all.json").string();
  const std::string other = kData + "/ddp_rank1.pt.trace.json.gz";
  const ProcessResult result = sonde({"export", kTrace, other, "-o", path});
  ASSERT_EQ(result.status, 0) << result.err;
  const Result<Trace> first = load_trace(kTrace);
  const Result<Trace> second = load_trace(other);
  const Result<Trace> both = load_trace(path);
  ASSERT_TRUE(first.ok() && second.ok() && both.ok());
  EXPECT_EQ(both->slice_count(), first->slice_count() + second->slice_count());
  EXPECT_EQ(both->launch_to_device().size(),
            first->launch_to_device().size() + second->launch_to_device().size());
  EXPECT_EQ(both->operator_to_launch().size(),
            first->operator_to_launch().size() + second->operator_to_launch().size());
  EXPECT_EQ(both->forward_to_backward().size(),
            first->forward_to_backward().size() + second->forward_to_backward().size());
}

TEST(ExportCommand, WhatIsLeftOutIsToldInOneLine) {
  const ProcessResult result = sonde({"export", kTrace, "--to", "speedscope"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err.rfind("sonde: note: speedscope: ", 0), 0u) << result.err;
  EXPECT_NE(result.err.find("arrows left out: the format has no place for them"),
            std::string::npos);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST(ExportCommand, FormatsOfStacksTellWhatTheyLack) {
  const ProcessResult result = sonde({"export", kTrace, "--to", "collapsed"});
  EXPECT_EQ(
      result.err,
      "sonde: note: collapsed: only stacks are written, no times, arguments, markers, arrows\n");
}

TEST(ExportCommand, ReadsStandardInput) {
  const ProcessResult file = sonde({"export", kTrace, "--to", "collapsed"});
  const ProcessResult input = sonde({"export", "-", "--to", "collapsed"}, read_bytes(kTrace));
  EXPECT_EQ(input.out, file.out);
}

}  // namespace
}  // namespace sonde
