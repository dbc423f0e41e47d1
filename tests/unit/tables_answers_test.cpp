// Analyses and exports of recorded Python programs, whose traces hold slices, sums and samples.

#include <gtest/gtest.h>

#include "analysis/call_sums.hpp"
#include "analysis/memory_curve.hpp"
#include "analysis/object_growth.hpp"
#include "analysis/source_costs.hpp"
#include "report/sparkline.hpp"
#include "tests/support/export_text.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/tables_run.hpp"
#include "trace/filter.hpp"

namespace sonde::test {
namespace {

Trace rich(const ScratchFolder& folder, const std::string& stem = "demo") {
  TablesRun run(folder.path(), stem);
  run.recording.chunk(7).slice("Step", 0, 100'000, SliceKind::Step, 1);
  fill_rich_tables(run);
  return run.load();
}

double main_total(const Trace& trace, const std::string& weight) {
  const Result<std::vector<CallTree>> trees = build_call_trees(trace, {weight, false});
  if (!trees) {
    ADD_FAILURE() << trees.error().text();
    return -1;
  }
  return trees->front().totals(trees->front().main_type)[0];
}

TEST(PythonRun, FunctionsComeFromCallsAndLinesFromWhatKnowsThem) {
  const ScratchFolder folder;
  const Trace trace = rich(folder);
  EXPECT_EQ(function_profile(trace).source, ProfileSource::Counted);
  EXPECT_EQ(function_profile(trace, {ProfileNeed::Functions, ProfileSource::Samples}).source,
            ProfileSource::Samples);
  EXPECT_EQ(function_profile(trace, {ProfileNeed::Functions, ProfileSource::Slices}).source,
            ProfileSource::Slices);

  TablesRun lines(folder.path(), "lines");
  const std::uint32_t work = lines.code("work", "a.py", 3);
  lines.line(work, 4, 10, 100);
  lines.sample(10, lines.frame(0, work, 4), 10, 10);
  const Trace of_lines = lines.load();
  EXPECT_EQ(function_profile(of_lines).source, ProfileSource::Samples);
  EXPECT_EQ(function_profile(of_lines, {ProfileNeed::Lines, ProfileSource::None}).source,
            ProfileSource::Counted);

  TablesRun calls(folder.path(), "calls");
  const std::uint32_t other = calls.code("work", "a.py", 3);
  calls.function(other, 1, 0, 10, 10);
  calls.sample(10, calls.frame(0, other, 4), 10, 10);
  const Trace of_calls = calls.load();
  EXPECT_EQ(function_profile(of_calls).source, ProfileSource::Counted);
  EXPECT_EQ(function_profile(of_calls, {ProfileNeed::Lines, ProfileSource::None}).source,
            ProfileSource::Samples);
}

TEST(PythonRun, StacksByTimeCpuAndMemory) {
  const ScratchFolder folder;
  const Trace trace = rich(folder);
  EXPECT_EQ(main_total(trace, ""), 40e6);
  EXPECT_EQ(main_total(trace, "wall"), 40e6);
  EXPECT_EQ(main_total(trace, "cpu"), 17e6);
  EXPECT_EQ(main_total(trace, "gil"), 20e6);
  EXPECT_EQ(main_total(trace, "memory"), 11e6);
  EXPECT_EQ(main_total(trace, "inuse_space"), 4e6);
  EXPECT_EQ(main_total(trace, "peak_space"), 5e6);
  EXPECT_EQ(main_total(trace, "alloc_objects"), 115);
  const Result<std::vector<CallTree>> none = build_call_trees(trace, {"heat", false});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().hint.find("cpu"), std::string::npos);
  EXPECT_NE(none.error().hint.find("peak_space"), std::string::npos);
}

TEST(PythonRun, CallGraphsHaveTheExactSums) {
  const ScratchFolder folder;
  const Trace trace = rich(folder);
  const Result<CallSums> sums = sum_calls(trace, "");
  ASSERT_TRUE(sums.ok());
  EXPECT_FALSE(sums->sampled);
  EXPECT_EQ(sums->functions.size(), 3u);
  // The times of lines include calls: they are no part of what functions cost by themselves.
  EXPECT_TRUE(sums->lines.empty());
  const Result<CallSums> sampled = sum_calls(trace, "cpu");
  ASSERT_TRUE(sampled.ok());
  EXPECT_TRUE(sampled->sampled);
}

TEST(PythonRun, ExportsToEveryToolOfStacks) {
  const ScratchFolder folder;
  const Trace trace = rich(folder);
  for (const char* format : {"pstats", "callgrind", "dot", "speedscope", "pprof", "collapsed",
                             "flamegraph", "vprof", "heatmap"}) {
    const Exported out = export_text(format, trace);
    EXPECT_EQ(out.error, "") << format;
    EXPECT_GT(out.text.size(), 100u) << format;
  }
  for (const char* weight : {"wall", "cpu", "memory"}) {
    EXPECT_EQ(export_text("flamegraph", trace, weight).error, "") << weight;
  }
  const Trace back = import_or_fail(export_text("pstats", trace).text,
                                    [](const ImportInput& input) -> Result<Trace> {
                                      for (const Importer& importer : importers()) {
                                        if (importer.name == "pstats")
                                          return importer.import(input);
                                      }
                                      return Error{};
                                    });
  ASSERT_EQ(back.call_profile().functions.size(), 3u);
  std::int64_t calls = 0;
  for (const CallProfile::Function& function : back.call_profile().functions) {
    calls += function.calls;
  }
  EXPECT_EQ(calls, 45);
}

TEST(PythonRun, VprofReadsBack) {
  const ScratchFolder folder;
  const Trace trace = rich(folder);
  const std::string path = folder.write("run.vprof.json", export_text("vprof", trace).text);
  const Result<Trace> back = load_trace(path);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back->meta().format, "vprof");
  EXPECT_EQ(losses(*back, "row_unusable") + losses(*back, "part_unusable"), 0u);
  const CallProfile& profile = back->call_profile();
  std::map<std::string, std::int64_t> self;
  for (std::size_t i = 0; i < profile.functions.size(); ++i) {
    self[std::string(back->text(profile.functions[i].name))] = profile.function_self[i];
  }
  EXPECT_EQ(self["train"], 7'000'000);
  EXPECT_EQ(self["<module>"], 1'000'000);
  EXPECT_EQ(self["<built-in method builtins.len>"], 2'000'000);
  std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> lines;
  for (std::size_t i = 0; i < profile.lines.size(); ++i) {
    lines[profile.lines[i].line] = {profile.lines[i].hits, profile.line_self[i]};
  }
  EXPECT_EQ(lines[12], (std::pair<std::int64_t, std::int64_t>(40, 8'500'000)));
  double samples = 0;
  for (const Sample& sample : back->samples()) samples += sample.weight;
  EXPECT_EQ(samples, 4);  // of wall time: two threads, four looks
}

TEST(PythonRun, ProcessesOfARunAreOneWhenMerged) {
  const ScratchFolder folder;
  const Trace first = rich(folder, "one");
  const Trace second = rich(folder, "two");
  const Trace merged = merge_traces({&first, &second}, {"", ""});
  EXPECT_EQ(merged.sample_types().size(), 4u);
  EXPECT_EQ(merged.samples().size(), 2 * first.samples().size());
  ASSERT_EQ(merged.call_profile().functions.size(), 3u);
  EXPECT_EQ(merged.call_profile().calls.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(merged.call_profile().functions[i].calls,
              2 * first.call_profile().functions[i].calls);
    EXPECT_EQ(merged.call_profile().function_self[i], 2 * first.call_profile().function_self[i]);
  }
  EXPECT_EQ(merged.call_profile().lines.size(), first.call_profile().lines.size());
  EXPECT_FALSE(merged.call_profile().line_self_known);
  ASSERT_EQ(merged.process_memory().sites.size(), 3u);
  EXPECT_EQ(merged.process_memory().sites[0].allocated_bytes, 16'000'000);
  EXPECT_EQ(merged.process_memory().lines.size(), 2u);
  EXPECT_EQ(merged.process_memory().snapshots.size(), 4u);
}

TEST(PythonRun, ObjectsThatGrow) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  for (std::uint64_t i = 1; i <= 4; ++i) {
    const std::uint32_t snapshot = run.snapshot("round " + std::to_string(i), 100 * i);
    run.objects(snapshot, "builtins.list", 10 * i, 800 * i);
    run.objects(snapshot, "builtins.dict", i % 2 == 0 ? 50 : 60, 5000);
    run.objects(snapshot, "Leak", i == 4 ? 1 : 0, i == 4 ? 64 : 0);
  }
  TraceSet set;
  set.push_back({".", "demo", "demo", run.load()});
  const std::vector<ObjectSnapshot> snapshots = object_snapshots(set);
  ASSERT_EQ(snapshots.size(), 4u);
  EXPECT_EQ(find_snapshot(snapshots, "round 2"), std::optional<std::size_t>(1));
  EXPECT_EQ(find_snapshot(snapshots, "4"), std::optional<std::size_t>(3));
  EXPECT_EQ(find_snapshot(snapshots, "5"), std::nullopt);
  const std::vector<ObjectGrowth> growth = object_growth(snapshots);
  ASSERT_EQ(growth.size(), 2u);
  EXPECT_EQ(growth[0].change.type, "Leak");
  EXPECT_EQ(growth[0].rises, 1u);
  EXPECT_EQ(growth[1].change.type, "builtins.list");
  EXPECT_EQ(growth[1].rises, 3u);
  EXPECT_EQ(growth[1].steps, 3u);
  EXPECT_EQ(growth[1].change.more(), 30);
}

TEST(PythonRun, FilesAreFoundByTheEndOfTheirPath) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  run.line(run.code("f", "/a/model.py", 1), 2, 1, 10);
  run.line(run.code("g", "/b/model.py", 1), 2, 1, 10);
  run.line(run.code("h", "/b/train.py", 1), 2, 1, 10);
  const Trace trace = run.load();
  const SourceCosts costs = source_costs(trace);
  EXPECT_EQ(costs.find("model.py"), nullptr);  // two of them
  ASSERT_NE(costs.find("a/model.py"), nullptr);
  EXPECT_EQ(costs.find("odel.py"), nullptr);
}

TEST(Sparkline, GoesFromNothingToTheMost) {
  EXPECT_EQ(sparkline({0, 4, 8}, false), "_=#");
  EXPECT_EQ(sparkline({8, 8}, true), "██");
  EXPECT_EQ(sparkline({0, 0}, false), "__");
  EXPECT_EQ(sparkline({}, false), "");
}

}  // namespace
}  // namespace sonde::test
