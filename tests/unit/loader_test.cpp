#include "import/loader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"

namespace sonde {
namespace {

using test::gzip;
using test::ScratchFolder;
using test::zstd;

const std::string kKineto =
    test::kineto_text(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1})");
const std::string kChrome = R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}])";

std::vector<std::string> found(const std::string& path) {
  const Result<std::vector<TraceFile>> files = find_trace_files(path);
  std::vector<std::string> out;
  if (!files) return {files.error().text()};
  for (const TraceFile& file : *files) out.push_back(file.run + " " + file.worker);
  return out;
}

using Texts = std::vector<std::string>;

TEST(Loader, AFolderOfRunFoldersIsAListOfRuns) {
  const ScratchFolder folder;
  folder.write("run2/w1.pt.trace.json", kKineto);
  folder.write("run1/w0.pt.trace.json.gz", gzip(kKineto));
  folder.write("run1/deep/w0.pt.trace.json.zst", zstd(kKineto));
  EXPECT_EQ(found(folder.path().string()), (Texts{"run1 w0", "run1/deep w0", "run2 w1"}));
}

TEST(Loader, AFolderOfRankFilesIsOneRun) {
  const ScratchFolder folder;
  for (const char* name : {"rank10.pt.trace.json", "rank2.pt.trace.json", "rank0.pt.trace.json"})
    folder.write(name, kKineto);
  EXPECT_EQ(found(folder.path().string()), (Texts{". rank0", ". rank10", ". rank2"}));
}

TEST(Loader, FilesAreRecognisedByContentNotByName) {
  const ScratchFolder folder;
  folder.write("notes.txt", kChrome);
  folder.write("packed.bin", gzip(kKineto));
  EXPECT_EQ(found(folder.path().string()), (Texts{". notes.txt", ". packed.bin"}));
  const Result<Trace> trace = load_trace(folder.write("trace.png", zstd(kKineto)));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->meta().format, "kineto");
}

TEST(Loader, WhatIsNoTraceIsPassedOver) {
  const ScratchFolder folder;
  folder.write("config.json", R"({"learning_rate": 0.1})");
  folder.write("README.md", "words");
  folder.write(".hidden.pt.trace.json", kKineto);
  folder.write("empty.json", "");
  folder.write("w.pt.trace.json", kKineto);
  EXPECT_EQ(found(folder.path().string()), (Texts{". w"}));
}

TEST(Loader, ATraceThatCannotBeReadIsNamedAmongThoseThatCan) {
  const ScratchFolder folder;
  folder.write("rank0.pt.trace.json", kKineto);
  const std::string empty = folder.write("rank1.pt.trace.json", "");
  const std::string cut = folder.write("rank2.pt.trace.json.gz", gzip(kKineto).substr(0, 8));
  const Result<LoadedSet> set = load_traces({folder.path().string()});
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->traces.size(), 1u);
  ASSERT_EQ(set->skipped.size(), 2u);
  EXPECT_EQ(set->skipped[0].path, empty);
  EXPECT_EQ(set->skipped[0].code, ErrorCode::EmptyInput);
  EXPECT_EQ(set->skipped[1].path, cut);
  EXPECT_EQ(set->skipped[1].code, ErrorCode::BrokenInput);
}

TEST(Loader, AFolderWithoutTracesIsAnError) {
  const ScratchFolder folder;
  folder.write("config.json", "{}");
  const Result<std::vector<TraceFile>> files = find_trace_files(folder.path().string());
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().code, ErrorCode::NoTraces);
  EXPECT_EQ(files.error().path, folder.path().string());
}

TEST(Loader, LinksBetweenFoldersDoNotMakeARing) {
  const ScratchFolder folder;
  folder.write("run/w.pt.trace.json", kKineto);
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "run" / "up");
  EXPECT_EQ(found(folder.path().string()), (Texts{"run w"}));
}

TEST(Loader, SpecialFormatsComeBeforeGeneralOnes) {
  const ScratchFolder folder;
  EXPECT_EQ(load_trace(folder.write("a", kKineto))->meta().format, "kineto");
  EXPECT_EQ(load_trace(folder.write("b", kChrome))->meta().format, "chrome");
  EXPECT_EQ(load_trace(folder.write("c", "\xEF\xBB\xBF \n" + kChrome))->meta().format, "chrome");
}

TEST(Loader, SeveralPathsAreReadTogetherAndTheBadOnesAreNamed) {
  const ScratchFolder folder;
  const std::string good = folder.write("good", kKineto);
  const std::string bad = folder.write("bad", "no trace at all");
  const Result<LoadedSet> set = load_traces({bad, good, "/nowhere"});
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->traces.size(), 1u);
  ASSERT_EQ(set->skipped.size(), 2u);
  EXPECT_EQ(set->skipped[0].path, bad);
  EXPECT_EQ(set->skipped[1].code, ErrorCode::NotFound);
  const Result<LoadedSet> none = load_traces({bad});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::UnknownFormat);
}

TEST(Loader, ProgressEndsAtTheSizeOnDisk) {
  const ScratchFolder folder;
  const std::string packed = gzip(kKineto);
  LoadOptions options;
  LoadProgress last;
  options.progress = [&](const LoadProgress& progress) { last = progress; };
  ASSERT_TRUE(load_trace(folder.write("t", packed), options).ok());
  EXPECT_EQ(last.bytes_read, packed.size());
  EXPECT_EQ(last.bytes_total, packed.size());
}

TEST(Loader, WorkerNamesEndBeforeTheUsualExtension) {
  EXPECT_EQ(worker_name("/a/b/host_12.1623.pt.trace.json.gz"), "host_12.1623");
  EXPECT_EQ(worker_name("trace.json"), "trace.json");
}

}  // namespace
}  // namespace sonde
