// A piece of a file is the same, whether the file is read whole and filtered, or only the piece and
// what belongs to it is ever in memory.

#include "import/piece.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/support/export_text.hpp"
#include "tests/support/files.hpp"
#include "tests/support/load.hpp"
#include "tests/support/rich_trace.hpp"
#include "tests/support/same_piece.hpp"
#include "tests/support/sonde_file.hpp"

namespace sonde {
namespace {

using test::Compared;
using test::expect_same_piece;
using test::load_or_fail;
using test::some_pieces;
using test::Wanted;

TEST(Piece, FilesOfEveryFormatAreCutTheSameBothWays) {
  namespace fs = std::filesystem;
  std::map<std::string, bool> whole;  // by format
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(SONDE_TEST_DATA)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const Result<Trace> trace = load_trace(path);
    if (!trace) continue;
    ++files;
    for (const Wanted& wanted : some_pieces()) {
      const Compared compared = expect_same_piece(path, *trace, wanted, path);
      bool& known = whole.try_emplace(trace->meta().format, false).first->second;
      known = known || compared.read_whole;
    }
  }
  EXPECT_GT(files, 20u);
  EXPECT_FALSE(whole.at("kineto"));
  EXPECT_FALSE(whole.at("xplane"));
}

// Everything that Sonde writes and reads again, with all sorts of links.
TEST(Piece, RichTracesAreCutTheSameBothWays) {
  const test::ScratchFolder folder;
  for (const char* format : {"chrome", "perfetto"}) {
    const std::string ending = std::string(format) == "chrome" ? ".json" : ".pftrace";
    for (const std::string name :
         {"ddp_rank0.pt.trace.json.gz", "resnet50_stack.pt.trace.json.gz"}) {
      const Trace original = load_or_fail(std::string(SONDE_TEST_DATA) + "/" + name);
      const std::string path =
          folder.write("data" + ending, test::export_text(format, original).text);
      const Trace trace = load_or_fail(path);
      for (const Wanted& wanted : some_pieces()) {
        const Compared compared = expect_same_piece(path, trace, wanted, name + ending);
        EXPECT_FALSE(compared.read_whole) << name << ending;
      }
    }
    const std::string path =
        folder.write("rich" + ending, test::export_text(format, test::rich_trace()).text);
    const Trace trace = load_or_fail(path);
    for (const Wanted& wanted : some_pieces())
      expect_same_piece(path, trace, wanted, "rich" + ending);
  }
}

TEST(Piece, RunsOfSondeAreCutTheSameBothWays) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("run.sonde", test::rich_sonde_file());
  const Trace trace = load_or_fail(path);
  for (const Wanted& wanted : some_pieces())
    EXPECT_FALSE(expect_same_piece(path, trace, wanted, "run").read_whole);
}

TEST(Piece, SharedFilesAreCutTheSameBothWays) {
  namespace fs = std::filesystem;
  if (!fs::exists(SONDE_SHARED_DATA)) GTEST_SKIP() << "no shared data";
  constexpr std::uintmax_t kMostBytes = 1'000'000;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(SONDE_SHARED_DATA)) {
    if (!entry.is_regular_file() || entry.file_size() > kMostBytes) continue;
    const std::string path = entry.path().string();
    const Result<Trace> trace = load_trace(path);
    if (!trace || trace->slice_count() == 0) continue;
    for (const Wanted& wanted : some_pieces()) expect_same_piece(path, *trace, wanted, path);
  }
}

// What the fuzzers begin with: damage of every sort.
TEST(Piece, DamagedFilesAreCutTheSameBothWays) {
  namespace fs = std::filesystem;
  std::size_t files = 0;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(std::string(SONDE_TEST_DATA) + "/../fuzz/corpus")) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const Result<Trace> trace = load_trace(path);
    if (!trace) continue;
    ++files;
    for (const Wanted& wanted : some_pieces()) expect_same_piece(path, *trace, wanted, path);
  }
  EXPECT_GT(files, 50u);
}

TEST(Piece, HalvesOutOfOrderAreReadWhole) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("halves.json", R"([
    {"ph": "B", "name": "a", "pid": 1, "tid": 1, "ts": 10},
    {"ph": "E", "name": "a", "pid": 1, "tid": 1, "ts": 30},
    {"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": 5},
    {"ph": "E", "name": "b", "pid": 1, "tid": 1, "ts": 7}])");
  const Trace trace = load_or_fail(path);
  EXPECT_TRUE(expect_same_piece(path, trace, {0.1, 0.5, false, {}, true}, "halves").read_whole);
}

TEST(Piece, AFileOfAnotherRankIsNotReadFurther) {
  const std::string path = std::string(SONDE_TEST_DATA) + "/ddp_rank1.pt.trace.json.gz";
  const auto everything = [](const std::vector<Selection::Step>&) -> Result<TraceFilter> {
    ADD_FAILURE() << "nobody wants it";
    return TraceFilter();
  };
  const Result<Piece> piece =
      load_piece(path, everything, {}, [](const TraceMeta& meta) { return meta.rank == 0; });
  ASSERT_TRUE(piece.ok());
  EXPECT_FALSE(piece->wanted);
  EXPECT_EQ(piece->trace.meta().rank, 1);
  EXPECT_EQ(piece->trace.slice_count(), 0u);
}

}  // namespace
}  // namespace sonde
