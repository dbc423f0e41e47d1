// The files that Sonde writes are opened by the tools that they are for.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "export/exporter.hpp"
#include "import/loader.hpp"
#include "tests/support/export_text.hpp"
#include "tests/support/files.hpp"
#include "tests/support/process.hpp"
#include "tests/support/rich_trace.hpp"
#include "tests/support/tables_run.hpp"

namespace sonde {
namespace {

using test::export_text;
using test::ScratchFolder;
using test::TablesRun;
using testing::ProcessResult;
using testing::run_process;

const std::string kShapes = std::string(SONDE_TEST_DATA) + "/resnet50_workers0.pt.trace.json.gz";
const std::string kTrace = std::string(SONDE_TEST_DATA) + "/resnet50_stack.pt.trace.json.gz";

bool installed(const std::string& program) {
  return run_process({"sh", "-c", "command -v " + program + " > /dev/null"}).status == 0;
}

#define NEEDS(program) \
  if (!installed(program)) GTEST_SKIP() << program << " is not installed"

Trace real_trace(const std::string& path = kTrace) {
  Result<Trace> trace = load_trace(path);
  EXPECT_TRUE(trace.ok());
  return std::move(*trace);
}

constexpr const char* kPstats = R"py(
import pstats, sys
s = pstats.Stats(sys.argv[1])
print(s.total_calls, s.prim_calls, '%.6f' % s.total_tt)
for k, (cc, nc, tt, ct, callers) in sorted(s.stats.items()):
    print(k, cc, nc, '%.9f' % tt, '%.9f' % ct, sorted((c, v[:2], '%.9f' % v[3]) for c, v in callers.items()))
s.sort_stats('cumtime').print_stats().print_callers()
)py";

TEST(ExportTools, PstatsLoadsAProfile) {
  NEEDS("python3");
  const ScratchFolder folder;
  const std::string file =
      folder.write("x.prof", export_text("pstats", test::profiled_trace()).text);
  const ProcessResult result =
      run_process({"python3", "-c", kPstats, file}, "", {{"PYTHONIOENCODING", "utf-8"}});
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* part :
       {"3000000008 3000000003 0.531000\n",
        "('train \"é\".py', 10, 'step') 2 7 0.030000000 0.530000000 "
        "[(('train \"é\".py', 1, '<module>'), (2, 2), '0.530000000'), "
        "(('train \"é\".py', 10, 'step'), (5, 0), '0.100000000')]",
        "('~', 0, '<built-in method builtins.len>') 3000000000 3000000000 0.500000000",
        "3000000008 function calls (3000000003 primitive calls) in 0.531 seconds",
        "      7/2    0.030    0.004    0.530    0.265 train \"é\".py:10(step)",
        "{built-in method builtins.len}"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  }
}

TEST(ExportTools, PstatsLoadsSlicesAndHostileNames) {
  NEEDS("python3");
  const ScratchFolder folder;
  const Trace traces[] = {real_trace(), test::rich_trace(), test::sampled_trace()};
  for (const Trace& trace : traces) {
    const std::string file = folder.write("x.prof", export_text("pstats", trace).text);
    const ProcessResult result =
        run_process({"python3", "-c", kPstats, file}, "", {{"PYTHONIOENCODING", "utf-8"}});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("function calls"), std::string::npos);
  }
}

TEST(ExportTools, CallgrindAnnotatePrintsIt) {
  NEEDS("callgrind_annotate");
  const ScratchFolder folder;
  const Trace traces[] = {real_trace(), test::rich_trace(), test::sampled_trace(),
                          test::profiled_trace()};
  for (const Trace& trace : traces) {
    const std::string file = folder.write("callgrind.out.1", export_text("callgrind", trace).text);
    const ProcessResult result =
        run_process({"callgrind_annotate", "--inclusive=yes", "--tree=both", file});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_NE(result.out.find("PROGRAM TOTALS"), std::string::npos) << result.out;
  }
  const std::string file =
      folder.write("callgrind.out.2", export_text("callgrind", test::profiled_trace()).text);
  const ProcessResult result = run_process({"callgrind_annotate", "--threshold=100", file});
  EXPECT_NE(result.out.find("531,000,000 (100.0%)  PROGRAM TOTALS"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("500,000,000 (94.16%)  ~:<built-in method builtins.len>"),
            std::string::npos)
      << result.out;
}

TEST(ExportTools, DotDrawsIt) {
  NEEDS("dot");
  const ScratchFolder folder;
  const Trace traces[] = {real_trace(), test::rich_trace(), test::profiled_trace()};
  for (const Trace& trace : traces) {
    const std::string file = folder.write("x.dot", export_text("dot", trace).text);
    const ProcessResult result = run_process({"dot", "-Tsvg", file});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("<g id=\"node1\""), std::string::npos);
  }
}

std::vector<std::string> documented_queries() {
  std::ifstream in(std::string(SONDE_TEST_DATA) + "/../../docs/sqlite.md");
  std::vector<std::string> queries;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "```sql") {
      queries.emplace_back();
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      queries.back() += line + "\n";
    }
  }
  return queries;
}

std::string database(const ScratchFolder& folder, const Trace& trace, const std::string& name) {
  const std::string path = (folder.path() / name).string();
  const Result<ExportNotes> notes = find_exporter("sqlite")->write_file({trace, "test"}, path);
  EXPECT_TRUE(notes.ok()) << notes.error().text();
  return path;
}

TEST(ExportTools, SqliteAnswersTheDocumentedQueries) {
  NEEDS("sqlite3");
  const ScratchFolder folder;
  const std::vector<std::string> queries = documented_queries();
  ASSERT_GE(queries.size(), 10u);
  TablesRun run(folder.path());
  test::fill_rich_tables(run);
  const Trace traces[] = {real_trace(kShapes), test::rich_trace(), test::sampled_trace(),
                          test::profiled_trace(), run.load()};
  std::vector<bool> answered(queries.size());
  for (std::size_t t = 0; t < std::size(traces); ++t) {
    const std::string path = database(folder, traces[t], "t" + std::to_string(t) + ".sqlite");
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const ProcessResult result = run_process({"sqlite3", "-bail", path, queries[i]});
      EXPECT_EQ(result.status, 0) << queries[i] << result.err;
      EXPECT_EQ(result.err, "") << queries[i];
      if (!result.out.empty()) answered[i] = true;
    }
  }
  for (std::size_t i = 0; i < queries.size(); ++i)
    EXPECT_TRUE(answered[i]) << "no trace has an answer to\n" << queries[i];
}

TEST(ExportTools, SqliteHoldsEveryRow) {
  NEEDS("sqlite3");
  const ScratchFolder folder;
  const Trace trace = test::rich_trace();
  const std::string path = database(folder, trace, "x.sqlite");
  const auto ask = [&](const std::string& sql) {
    const ProcessResult result = run_process({"sqlite3", path, sql});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(ask("PRAGMA integrity_check"), "ok\n");
  EXPECT_EQ(ask("SELECT count(*), sum(duration_ns) FROM slice"),
            ask("SELECT count(*), sum(duration_ns) FROM slices"));
  EXPECT_EQ(ask("SELECT count(*) FROM slice"), std::to_string(trace.slice_count()) + "\n");
  EXPECT_EQ(ask("SELECT count(*) FROM arguments"),
            std::to_string(trace.arguments().size() + trace.marker_arguments().size()) + "\n");
  EXPECT_EQ(ask("SELECT count(*) FROM slices WHERE name = '''; DROP TABLE slice; --'"), "1\n");
  EXPECT_EQ(ask("SELECT count(*) FROM links"), "4\n");
  EXPECT_EQ(ask("SELECT value FROM slice_arguments WHERE key = 'x' LIMIT 1"), "0.5\n");
  EXPECT_EQ(ask("SELECT name, calls, total_ns FROM kernels"), "gemm<float>|1|900\n");
  EXPECT_EQ(ask("SELECT name FROM steps"), "Step#3\n");
}

TEST(ExportTools, TheFlamegraphIsWellFormed) {
  NEEDS("python3");
  const ScratchFolder folder;
  const Trace traces[] = {real_trace(), real_trace(kShapes), test::rich_trace(),
                          test::sampled_trace(), test::profiled_trace()};
  for (const Trace& trace : traces) {
    const std::string file = folder.write("x.svg", export_text("flamegraph", trace).text);
    const ProcessResult result = run_process(
        {"python3", "-c",
         "import sys, xml.etree.ElementTree as e; print(len(e.parse(sys.argv[1]).getroot()))",
         file});
    EXPECT_EQ(result.status, 0) << result.err;
  }
}

// A page of its own around the picture: Chromium prints what became of it.
ProcessResult chromium(const ScratchFolder& folder, const std::string& url) {
  const std::string profile = (folder.path() / "profile").string();
  return run_process(
      {"timeout", "90", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
       "--disable-background-networking", "--disable-component-update", "--disable-sync",
       "--disable-quic", "--disable-dev-shm-usage", "--user-data-dir=" + profile,
       "--virtual-time-budget=5000", "--dump-dom", url},
      "", {{"HOME", folder.path().string()}});
}

TEST(ExportTools, ChromiumRunsTheFlamegraph) {
  NEEDS("chromium");
  const ScratchFolder folder;
  const std::string file = folder.write(
      "flames.svg", export_text("flamegraph", test::rich_trace(), "", "a <title>").text);
  const ProcessResult search = chromium(folder, "file://" + file + "#s=script");
  ASSERT_EQ(search.status, 0) << search.err;
  EXPECT_NE(search.out.find("data-ready=\"yes\""), std::string::npos)
      << "the script did not run to its end: " << search.out.substr(0, 2000) << search.err;
  EXPECT_NE(search.out.find(">Matched: "), std::string::npos);
  EXPECT_NE(search.out.find("% in 1 frame<"), std::string::npos);
  EXPECT_NE(search.out.find("class=\"f hit\""), std::string::npos);
  EXPECT_NE(search.out.find("Clear search"), std::string::npos);
  EXPECT_EQ(search.out.find("<parsererror"), std::string::npos);

  const std::string real = folder.write("real.svg", export_text("flamegraph", real_trace()).text);
  const ProcessResult page = chromium(folder, "file://" + real + "#s=conv");
  EXPECT_NE(page.out.find("data-ready=\"yes\""), std::string::npos) << page.out.substr(0, 1000);
  EXPECT_NE(page.out.find(">Matched: "), std::string::npos);

  const ProcessResult zoom = chromium(folder, "file://" + file + "#z=inner");
  ASSERT_EQ(zoom.status, 0) << zoom.err;
  EXPECT_NE(zoom.out.find("display: none"), std::string::npos) << "nothing was hidden by the zoom";
  EXPECT_NE(zoom.out.find("data-ready=\"yes\""), std::string::npos);
}

// What stands in names and in the source is text, and nothing is loaded from elsewhere.
TEST(ExportTools, ChromiumRunsTheHeatmap) {
  NEEDS("chromium");
  const ScratchFolder folder;
  const std::string source =
      folder.write("evil</script><b>.py", "def f():\n\treturn '<img src=x onerror=alert(1)>'\n");
  TablesRun run(folder.path());
  const std::uint32_t code = run.code("f", source, 1);
  run.line(code, 2, 40, 5'000'000);
  const std::uint32_t frame = run.frame(0, code, 2);
  run.site(frame, 3, 4096, 0, 0, 4096);
  const std::string page = export_text("heatmap", run.load(), "", "a <title> & \"more\"").text;
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("http:"), std::string::npos);
  EXPECT_EQ(page.find("https:"), std::string::npos);
  const std::string file = folder.write("heat.html", page);
  const ProcessResult dom = chromium(folder, "file://" + file + "#by=memory");
  ASSERT_EQ(dom.status, 0) << dom.err;
  EXPECT_NE(dom.out.find("data-ready=\"yes\""), std::string::npos) << dom.out.substr(0, 2000);
  EXPECT_NE(dom.out.find("<body class=\"memory\">"), std::string::npos);
  EXPECT_NE(dom.out.find("data-by=\"memory\" aria-pressed=\"true\""), std::string::npos);
  EXPECT_NE(dom.out.find("return '&lt;img src=x"), std::string::npos);
  EXPECT_EQ(dom.out.find("<b>.py"), std::string::npos);
}

}  // namespace
}  // namespace sonde
