// The styles of Python's profilers beside the tools themselves, on files that these write here.

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "analysis/source_lines.hpp"
#include "import/loader.hpp"
#include "report/registry.hpp"
#include "tests/support/files.hpp"
#include "tests/support/process.hpp"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::run_process;

bool has(const char* module) {
  return run_process({"python3", "-c", std::string("import ") + module}).status == 0;
}

// Everything that pstats prints for all orders, restrictions and methods, each behind a mark.
constexpr const char* kPstats = R"(
import pstats, sys
orders, restrictions, files = sys.argv[1].split(";"), sys.argv[2].split(";"), sys.argv[3:]
for keys in orders:
    for strip in False, True:
        for method in "stats", "callers", "callees":
            for words in restrictions:
                what = [int(w) if w.isdigit() else float(w) if w[0] == "0" else w for w in words.split()]
                print(end="\x1e")
                stats = pstats.Stats(*files)
                if strip: stats.strip_dirs()
                if keys: stats.sort_stats(*keys.split(","))
                getattr(stats, "print_" + method)(*what)
)";

const std::vector<std::string> kOrders = {"",     "calls",   "ncalls",      "pcalls", "cumulative",
                                          "time", "line",    "filename",    "module", "name",
                                          "nfl",  "stdname", "tott,cumt,nf"};
const std::vector<std::string> kRestrictions = {"", "12", "0.25", "[.]py:[0-9]+.*_ 0.5 5"};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) out += (i ? ";" : "") + words[i];
  return out;
}

void expect_as_pstats(const std::string& file) {
  const auto theirs =
      run_process({"python3", "-c", kPstats, joined(kOrders), joined(kRestrictions), file}, {},
                  {{"PYTHONIOENCODING", "utf-8"}});
  ASSERT_EQ(theirs.status, 0) << theirs.err;
  const Result<LoadedSet> loaded = load_traces({file});
  ASSERT_TRUE(loaded.ok());
  std::size_t at = 0;
  std::size_t compared = 0;
  for (const std::string& keys : kOrders) {
    for (const bool strip : {false, true}) {
      for (const std::string method : {"stats", "callers", "callees"}) {
        for (const std::string& what : kRestrictions) {
          ReportRequest request;
          request.style = "pstats";
          request.view = method;
          request.sort = keys;
          request.strip_dirs = strip;
          std::istringstream words(what);
          for (std::string word; words >> word;) request.restrictions.push_back(word);
          const Result<const ReportView*> view = find_view(request);
          ASSERT_TRUE(view.ok()) << view.error().text();
          const Result<std::string> ours = (*view)->render(loaded->traces, request);
          ASSERT_TRUE(ours.ok());
          const std::size_t end = std::min(theirs.out.find('\x1e', at + 1), theirs.out.size());
          ASSERT_EQ(*ours, theirs.out.substr(at + 1, end - at - 1))
              << file << " --sort " << keys << " --view " << method << " " << what;
          at = end;
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 13u * 2 * 3 * 4);
  EXPECT_EQ(at, theirs.out.size());
}

class PstatsItself : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has("pstats")) GTEST_SKIP() << "no python3 here";
  }

  // A profile of tests/data/python_styles/calls.py by this machine's Python.
  std::string profile(const std::string& module) {
    const std::string path = (scratch_.path() / (module + ".prof")).string();
    const auto made = run_process(
        {"python3", "-B", "-c",
         "import sys; sys.path.insert(0, sys.argv[1]); import calls, " + module +
             "; p = " + module + ".Profile(); p.runcall(calls.main); p.dump_stats(sys.argv[2])",
         std::string(SONDE_TEST_DATA) + "/python_styles", path});
    EXPECT_EQ(made.status, 0) << made.err;
    return path;
  }

  test::ScratchFolder scratch_;
};

TEST_F(PstatsItself, PrintsTheSameForCProfile) { expect_as_pstats(profile("cProfile")); }

TEST_F(PstatsItself, PrintsTheSameForProfile) { expect_as_pstats(profile("profile")); }

TEST_F(PstatsItself, PrintsTheSameForKeptProfiles) {
  expect_as_pstats(std::string(SONDE_TEST_DATA) + "/profiles/cprofile_py311.prof");
  expect_as_pstats(std::string(SONDE_TEST_DATA) + "/python_styles/moved.prof");
}

TEST_F(PstatsItself, PrintsTheSameAsTheCommand) {
  const std::string path = profile("cProfile");
  const auto theirs = run_process(
      {"python3", "-c",
       "import pstats, sys; pstats.Stats(sys.argv[1]).strip_dirs().sort_stats('cumulative')"
       ".print_stats('json|fib', 5)",
       path});
  const auto ours =
      run_process({SONDE_BINARY, "report", "--style", "pstats", "--sort", "cumulative",
                   "--strip-dirs", "--restrict", "json|fib", path, "--limit", "5"});
  EXPECT_EQ(ours.out, theirs.out) << ours.err;
}

TEST_F(PstatsItself, PrintsTheSameForATraining) {
  const std::string path = std::string(SONDE_SHARED_DATA) + "/python/train_py312.prof";
  if (!fs::exists(path)) GTEST_SKIP() << "needs " << path;
  expect_as_pstats(path);
}

TEST(LineProfilerItself, PrintsTheSame) {
  // Debian's interpreter has Debian's packages, whatever is first on the PATH.
  std::string python;
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    const auto version =
        run_process({candidate, "-c", "import line_profiler; print(line_profiler.__version__)"});
    if (python.empty() && version.status == 0 && version.out.starts_with("4.0.")) {
      python = candidate;
    }
  }
  if (python.empty()) GTEST_SKIP() << "needs python3-line-profiler 4.0";
  const test::ScratchFolder scratch;
  const std::string script = (scratch.path() / "work.py").string();
  fs::copy_file(std::string(SONDE_TEST_DATA) + "/python_styles/work.py", script);
  const std::string file = (scratch.path() / "work.lprof").string();
  const auto made = run_process({python, "-m", "kernprof", "-l", "-o", file, script});
  ASSERT_EQ(made.status, 0) << made.err;
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> options = {
      {{}, {}},
      {{"-z"}, {"--skip-zero"}},
      {{"-u", "1e-3"}, {"--time-unit", "ms"}},
      {{"-u", "1e-9"}, {"--time-unit", "ns"}},
      {{"-u", "1"}, {"--time-unit", "s"}},
  };
  for (const auto& [theirs, ours] : options) {
    std::vector<std::string> tool = {python, "-m", "line_profiler", file};
    tool.insert(tool.end(), theirs.begin(), theirs.end());
    std::vector<std::string> sonde = {SONDE_BINARY, "report", file, "--style", "line_profiler"};
    sonde.insert(sonde.end(), ours.begin(), ours.end());
    EXPECT_EQ(run_process(sonde).out, run_process(tool).out);
  }
}

TEST(PythonBlocksItself, EndWhereInspectSaysForTheStandardLibrary) {
  const auto listed = run_process({"python3", "-c", R"(
import ast, inspect, json, argparse, dataclasses, typing, asyncio.base_events, tarfile, decimal, _pydecimal, sys
for module in inspect, json, argparse, dataclasses, typing, asyncio.base_events, tarfile, _pydecimal:
    path = module.__file__
    lines = open(path, encoding="utf-8").readlines()
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([node.lineno] + [d.lineno for d in node.decorator_list])
            print(first, len(inspect.getblock(lines[first - 1:])), path)
)"});
  if (listed.status != 0) GTEST_SKIP() << "no python3 here: " << listed.err;
  SourceFiles files;
  std::istringstream rows(listed.out);
  std::size_t first = 0;
  std::size_t length = 0;
  std::size_t compared = 0;
  std::string path;
  while (rows >> first >> length && std::getline(rows >> std::ws, path)) {
    const std::vector<std::string>* lines = files.lines(path);
    ASSERT_NE(lines, nullptr) << path;
    EXPECT_EQ(python_block_length(std::span(*lines).subspan(first - 1)), length)
        << path << ":" << first;
    ++compared;
  }
  EXPECT_GT(compared, 1000u);
}

}  // namespace
}  // namespace sonde
