// The views of a recorded Python program: functions, callers, lines, stacks, memory, objects,
// source and the summary.

#include <gtest/gtest.h>

#include "report/registry.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/tables_run.hpp"

namespace sonde::test {
namespace {

// What the system agent saw of the program: a curve with one peak.
void write_system_file(const std::filesystem::path& folder) {
  SondeFile file;
  file.header.pid = 90;
  std::strcpy(file.header.program, "sonde");
  file.chunk(90);
  const std::uint64_t megabyte = 1024 * 1024;
  const std::uint64_t curve[] = {20, 40, 60, 90, 160, 150, 80, 30};
  for (std::size_t i = 0; i < std::size(curve); ++i) {
    const std::uint64_t at = SondeFile::kFirstTick + i * 10'000'000;
    file.record(file::RecordType::Counter, at, i * 90'000'000, 0, "cpu time (ns)", "processes", 0);
    file.record(file::RecordType::Counter, at, curve[i] * megabyte, 0, "resident bytes",
                "processes", 0);
    file.record(file::RecordType::Counter, at, i * 1000, 0, "busy time (ns)", "machine", 0);
  }
  std::ofstream(folder / "system.sonde", std::ios::binary) << file.bytes();
}

class PythonViews : public ::testing::Test {
 protected:
  PythonViews() {
    TablesRun run(folder_.path());
    fill_rich_tables(run);
    run.finish();
    TablesRun child(folder_.path(), "worker");
    child.recording.header.pid = 101;
    const std::uint32_t work = child.code("work", "pool.py", 3);
    const std::uint32_t train = child.code("train", "train.py", 10, "Trainer.train");
    child.function(work, 2, 0, 40'000, 70'000);
    child.function(train, 1, 0, 30'000, 30'000);
    child.call(work, train, 1, 0, 30'000, 30'000);
    child.line(train, 12, 5, 30'000);
    child.finish();
    write_system_file(folder_.path());
    Result<LoadedSet> loaded = load_traces({folder_.path().string()});
    EXPECT_TRUE(loaded.ok());
    if (!loaded) return;
    traces_ = std::move(loaded->traces);
    for (NamedTrace& named : traces_) named.path = named.worker + ".sonde";
  }

  std::string render(ReportRequest request) const {
    const Result<const ReportView*> found = find_view(request);
    if (!found) return found.error().text();
    const Result<std::string> text = (*found)->render(traces_, request);
    return text ? *text : text.error().text();
  }
  std::string render(const std::string& view, const std::string& format = "text",
                     const std::string& sort = {}) const {
    ReportRequest request;
    request.view = view;
    request.format = format;
    request.sort = sort;
    return render(request);
  }

  ScratchFolder folder_;
  TraceSet traces_;
};

TEST_F(PythonViews, AsText) {
  ASSERT_EQ(traces_.size(), 3u);
  for (const char* view : {"summary", "functions", "callgraph", "lines", "stacks", "source",
                           "memory", "memory-lines", "objects"}) {
    testing::expect_golden("python_" + std::string(view) + ".txt", render(view));
  }
}

TEST_F(PythonViews, ForPrograms) {
  for (const char* view : {"memory", "memory-lines", "objects", "source"}) {
    testing::expect_golden("python_" + std::string(view) + ".json", render(view, "json"));
    testing::expect_golden("python_" + std::string(view) + ".csv", render(view, "csv"));
  }
  testing::expect_golden("python_summary.json", render("summary", "json"));
}

TEST_F(PythonViews, TheOtherSourceAndCost) {
  ReportRequest request;
  request.view = "functions";
  request.from = "samples";
  request.weight = "cpu";
  testing::expect_golden("python_functions_cpu.txt", render(request));
  request.weight = "Ir";
  EXPECT_NE(render(request).find("there is no weight 'Ir'"), std::string::npos);
  request.weight.clear();
  request.from = "slices";
  EXPECT_NE(render(request).find("there are no slices"), std::string::npos);
  EXPECT_NE(render(request).find("calls or samples"), std::string::npos);
}

TEST_F(PythonViews, FiltersAndSortKeys) {
  ReportRequest request;
  request.format = "csv";
  request.filter = "TRAIN.py";
  for (const char* view : {"functions", "lines", "callgraph", "memory-lines"}) {
    request.view = view;
    const std::string text = render(request);
    EXPECT_NE(text.find("train"), std::string::npos) << view << text;
    EXPECT_EQ(text.find("builtins.len\n"), std::string::npos) << view;
  }
  request.view = "functions";
  EXPECT_EQ(render(request).find("pool.py"), std::string::npos);
  request.filter = "nothing like it";
  request.format = "text";
  EXPECT_NE(render(request).find("No functions"), std::string::npos);

  const auto first = [&](const char* view, const char* sort) {
    const std::string text = render(view, "csv", sort);
    const std::size_t at = text.find('\n') + 1;
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_NE(first("functions", "calls").find("builtins.len"), std::string::npos);
  EXPECT_NE(first("functions", "ncalls").find("builtins.len"), std::string::npos);
  EXPECT_NE(first("functions", "cumulative").find("train"), std::string::npos);
  EXPECT_NE(first("functions", "per_call").find("<module>"), std::string::npos);
  EXPECT_NE(first("functions", "file").find("pool.py"), std::string::npos);
  EXPECT_NE(first("lines", "hits").find("train.py,12,45"), std::string::npos)
      << first("lines", "hits");
  EXPECT_NE(first("lines", "per_hit").find("train.py,1,1"), std::string::npos);
  EXPECT_NE(first("memory-lines", "count").find("train.py,12"), std::string::npos);
  EXPECT_NE(first("memory-lines", "line").find("train.py,11"), std::string::npos);
  EXPECT_NE(first("objects", "count").find("builtins.dict"), std::string::npos);
  EXPECT_NE(first("objects", "bytes").find("numpy.ndarray"), std::string::npos);
}

TEST_F(PythonViews, SnapshotsAreCompared) {
  ReportRequest request;
  request.view = "objects";
  request.snapshot = "end";
  request.against = "start";
  testing::expect_golden("python_objects_difference.txt", render(request));
  request.against = "1";
  EXPECT_NE(render(request).find("numpy.ndarray"), std::string::npos);
  request.against = "middle";
  EXPECT_NE(render(request).find("no snapshot 'middle'"), std::string::npos);
  EXPECT_NE(render(request).find("start, end"), std::string::npos);
}

TEST_F(PythonViews, ASourceThatIsNotThereIsTold) {
  ReportRequest request;
  request.view = "source";
  request.file = "train.py";
  testing::expect_golden("python_source_file.txt", render(request));
  request.file = "other.py";
  EXPECT_NE(render(request).find("nothing is known of the lines of 'other.py'"), std::string::npos);
}

TEST(PythonSource, LinesStandBesideTheirCosts) {
  const ScratchFolder folder;
  const std::string file =
      folder.write("work.py", "import time\n\ndef work():\n\tfor i in range(3):\n\t\tpass\n");
  TablesRun run(folder.path());
  const std::uint32_t work = run.code("work", file, 3);
  run.line(work, 4, 4, 1'000'000);
  run.line(work, 5, 3, 250'000);
  run.finish();
  Result<LoadedSet> loaded = load_traces({folder.path().string()});
  ASSERT_TRUE(loaded.ok());
  ReportRequest request;
  request.view = "source";
  request.file = "work.py";
  const Result<const ReportView*> view = find_view(request);
  ASSERT_TRUE(view.ok());
  const Result<std::string> text = (*view)->render(loaded->traces, request);
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_NE(text->find("        for i in range(3):"), std::string::npos) << *text;
  EXPECT_NE(text->find("import time"), std::string::npos);
  EXPECT_NE(text->find("10.00 ms  100.0%"), std::string::npos) << *text;
}

}  // namespace
}  // namespace sonde::test
