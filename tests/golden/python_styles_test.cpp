// The styles of Python's profilers, against what those tools printed themselves for the same
// numbers. How the texts were made stands in tests/data/python_styles/README.md.

#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/python_styles.hpp"

namespace sonde {
namespace {

using test::expected;
using test::in_style;
using test::InFolder;
using test::kStylesFolder;
using test::load;
using test::made;
using test::one;
using test::render;

TEST(PythonStyles, ATraceWithoutTheDataIsToldHowToRecordIt) {
  TraceBuilder empty;
  const TraceSet traces = one(made(empty));
  const std::vector<std::pair<std::string, std::string>> styles = {
      {"pstats",
       "made: has no calls of functions (record them with: sonde run --python function "
       "-- python3 SCRIPT)"},
      {"line_profiler",
       "made: has no costs of lines (record them with: sonde run --python line -- python3 SCRIPT)"},
      {"pprofile",
       "made: has no costs of lines (record them with: sonde run --python line -- python3 SCRIPT)"},
      {"memory_profiler",
       "made: has no memory of lines (record it with: python3 -m sonde --memory lines SCRIPT)"},
      {"pympler",
       "made: has no snapshots of objects (record them with: sonde run --memory objects "
       "-- python3 SCRIPT)"},
  };
  for (const auto& [style, text] : styles) EXPECT_EQ(render(traces, in_style(style)), text);
}

TEST(PythonStyles, NamesCannotMoveTheCursor) {
  TraceBuilder builder;
  const StringId name = builder.intern("evil\x1b[2J\nname");
  CallProfile& profile = builder.call_profile();
  profile.types.push_back({builder.intern("time"), builder.intern("ns")});
  profile.functions.push_back({name, name, StringId(), 3, 1, 1});
  profile.function_self = {5};
  profile.function_total = {5};
  profile.lines.push_back({FunctionId(0u), name, 4, 1});
  profile.line_self = {5};
  builder.process_memory().lines.push_back({name, name, 3, 4, 1, 10, 10, 10});
  builder.process_memory().snapshots.push_back({name, 0, {{name, 1, 2}}});
  const TraceSet traces = one(made(builder));
  for (const char* style : {"pstats", "line_profiler", "pprofile", "memory_profiler", "pympler"}) {
    const std::string text = render(traces, in_style(style));
    EXPECT_NE(text.find("evil"), std::string::npos) << style;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << style;
    EXPECT_EQ(text.find("\nname"), std::string::npos) << style;
  }
}

TEST(PythonStyles, NumbersOfLinesCannotBlowUpTheText) {
  TraceBuilder builder;
  const StringId name = builder.intern("no/such/file.py");
  CallProfile& profile = builder.call_profile();
  profile.types.push_back({builder.intern("time"), builder.intern("ns")});
  profile.functions.push_back({name, name, StringId(), 1, 1, 1});
  profile.function_self = {INT64_MAX};
  profile.function_total = {INT64_MAX};
  for (const std::int32_t line : {0, 1, INT32_MAX}) {
    profile.lines.push_back({FunctionId(0u), name, line, 1});
    profile.line_self.push_back(INT64_MAX);
    builder.process_memory().lines.push_back({name, name, 1, line, 1, 10, 10, 10});
  }
  const TraceSet traces = one(made(builder));
  for (const char* style : {"line_profiler", "pprofile", "memory_profiler"}) {
    const std::string text = render(traces, in_style(style));
    EXPECT_LT(text.size(), 4000u) << style;
    EXPECT_NE(text.find("2147483647"), std::string::npos) << style << "\n" << text;
  }
}

// ---- line_profiler

TEST(LineProfilerStyle, IsWhatLineProfilerPrints) {
  const TraceSet traces = one(load("work.lprof"));
  {
    const InFolder here(kStylesFolder);
    EXPECT_EQ(render(traces, in_style("line_profiler")), expected("work.line_profiler.txt"));
    ReportRequest request = in_style("line_profiler");
    request.skip_zero = true;
    request.time_unit = "ms";
    EXPECT_EQ(render(traces, request), expected("work.line_profiler_z_ms.txt"));
    EXPECT_EQ(render(one(load("work_us.lprof")), in_style("line_profiler")),
              expected("work_us.line_profiler.txt"));
  }
  const InFolder elsewhere(std::filesystem::temp_directory_path());
  ReportRequest request = in_style("line_profiler");
  request.time_unit = "ns";
  EXPECT_EQ(render(traces, request), expected("work.line_profiler_missing_ns.txt"));
}

TEST(LineProfilerStyle, PrintsWhatOtherProfilersKnowOfLines) {
  const InFolder here(kStylesFolder);
  const std::string listing = render(one(load("steps.pprofile.txt")), in_style("line_profiler"));
  EXPECT_EQ(listing.find("The time of a line is without what it called.\nTimer unit: 1e-06 s\n"),
            0u)
      << listing;
  EXPECT_NE(listing.find("Function: fib at line 4\n"), std::string::npos) << listing;
}

// ---- pprofile

TEST(PprofileStyle, PrintsAListingAsItWasRead) {
  for (const char* name :
       {"steps.pprofile.txt", "loop.pprofile.txt", "../profiles/listing.pprofile.txt"}) {
    // Not in their folder: the source comes from the listing itself.
    EXPECT_EQ(render(one(load(name)), in_style("pprofile")), expected(name)) << name;
  }
}

TEST(PprofileStyle, IsWhatPprofilePrintsForTheSameCounts) {
  struct LineNumbers {
    std::size_t function;
    std::int32_t line;
    std::int64_t hits, nanos;
  };
  struct CallNumbers {
    std::size_t caller;
    std::int32_t line;
    std::size_t callee;
    std::int64_t calls, nanos;
  };
  // The numbers of make_pprofile.py.
  TraceBuilder builder;
  CallProfile& profile = builder.call_profile();
  profile.types.push_back({builder.intern("time"), builder.intern("ns")});
  const StringId steps = builder.intern("steps.py");
  const std::vector<std::pair<const char*, int>> functions = {
      {"<module>", 1}, {"fib", 4}, {"total", 12}, {"main", 17}, {"Table", 8}};
  for (const auto& [name, line] : functions) {
    const bool gone = std::string_view(name) == "Table";
    profile.functions.push_back(
        {builder.intern(name), gone ? builder.intern("gone.py") : steps, StringId(), line, 1, 1});
  }
  profile.function_self.resize(functions.size());
  profile.function_total.resize(functions.size());
  for (const LineNumbers& n : std::vector<LineNumbers>{{0, 4, 1, 1'250},
                                                       {1, 4, 237, 391'007},
                                                       {1, 5, 237, 2'136'681},
                                                       {2, 14, 20, 71'525},
                                                       {3, 18, 1, 25'272},
                                                       {3, 21, 20, 192'403},
                                                       {0, 24, 1, 26'226},
                                                       {4, 3, 3, 1'500}}) {
    profile.lines.push_back(
        {FunctionId(n.function), profile.functions[n.function].file, n.line, n.hits});
    profile.line_self.push_back(n.nanos);
  }
  for (const CallNumbers& n : std::vector<CallNumbers>{{1, 5, 1, 216, 2'153'374},
                                                       {3, 18, 1, 1, 2'142'600},
                                                       {3, 21, 2, 20, 101'566},
                                                       {3, 21, 1, 20, 325'680},
                                                       {0, 24, 3, 1, 2'249'718}}) {
    profile.calls.push_back({FunctionId(n.caller), FunctionId(n.callee), n.line, n.calls, n.calls});
    profile.call_self.push_back(0);
    profile.call_total.push_back(n.nanos);
  }
  const InFolder here(kStylesFolder);
  EXPECT_EQ(render(one(made(builder)), in_style("pprofile")), expected("steps.counts.txt"));
}

TEST(PprofileStyle, SamplesAreItsStatisticOutput) {
  TraceBuilder builder;
  const StringId file = builder.intern("loop.py");
  builder.add_sample_type({builder.intern("wall"), builder.intern("ns"), true});
  const StackId module = builder.intern_stack({StackId(), builder.intern("<module>"), file, 16});
  const StackId at_call = builder.intern_stack({module, builder.intern("main"), file, 13});
  const StackId at_loop = builder.intern_stack({module, builder.intern("main"), file, 12});
  const StackId six = builder.intern_stack({at_call, builder.intern("spin"), file, 6});
  const StackId seven = builder.intern_stack({at_call, builder.intern("spin"), file, 7});
  Track track;
  const TrackId thread = builder.add_track(track);
  int time = 0;
  const auto add = [&](StackId stack, int count) {
    for (int i = 0; i < count; ++i) builder.add_sample({time += 1000, thread, stack, 1e7, 0});
  };
  add(six, 4);
  add(seven, 11);
  add(at_loop, 1);
  const InFolder here(kStylesFolder);
  EXPECT_EQ(render(one(made(builder)), in_style("pprofile")), expected("loop.samples.txt"));
}

// ---- memory_profiler

std::int64_t mebibytes(const std::string& text) {
  return static_cast<std::int64_t>(std::stod(text) * (1 << 20) + (text[0] == '-' ? -.5 : .5));
}

TEST(MemoryProfilerStyle, IsWhatMemoryProfilerPrints) {
  const std::string printed = expected("memory.memory_profiler.txt");
  TraceBuilder builder;
  const StringId file = builder.intern("memory.py");
  std::istringstream lines(printed);
  std::string line;
  std::int32_t first = 0;
  StringId function;
  while (std::getline(lines, line)) {
    if (line.starts_with("=")) {
      first = 0;
      function = builder.intern("function " + std::to_string(builder.strings().size()));
    }
    if (line.size() < 47 || line.find("MiB") == std::string::npos) continue;
    std::istringstream fields(line);
    std::string number, memory, unit, increment, hits;
    fields >> number >> memory >> unit >> increment >> unit >> hits;
    if (first == 0) first = std::stoi(number);
    builder.process_memory().lines.push_back({file, function, first, std::stoi(number),
                                              std::stoll(hits), 0, mebibytes(increment),
                                              mebibytes(memory)});
  }
  ASSERT_EQ(builder.process_memory().lines.size(), 9u);
  const TraceSet traces = one(made(builder));
  const InFolder here(kStylesFolder);
  EXPECT_EQ(render(traces, in_style("memory_profiler")), printed);
  ReportRequest request = in_style("memory_profiler");
  request.precision = 3;
  EXPECT_NE(render(traces, request).find(".500 MiB "), std::string::npos);
}

TEST(MemoryProfilerStyle, CodeInsideOfAFunctionCountsThere) {
  TraceBuilder builder;
  const StringId file = builder.intern("memory.py");
  const std::int64_t mib = 1 << 20;
  auto& lines = builder.process_memory().lines;
  lines.push_back({file, builder.intern("grow"), 5, 10, 1, 0, 1 * mib, 50 * mib});
  lines.push_back({file, builder.intern("<listcomp>"), 10, 10, 4, 0, 2 * mib, 51 * mib});
  const InFolder here(kStylesFolder);
  const std::string text = render(one(made(builder)), in_style("memory_profiler"));
  EXPECT_NE(text.find("    10     51.0 MiB      3.0 MiB           5       sizes"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("Filename", 10), std::string::npos) << text;
}

// ---- pympler

// COUNT \t BYTES \t TYPE
ProcessMemory::Snapshot snapshot(TraceBuilder& builder, const std::string& name) {
  ProcessMemory::Snapshot out;
  out.label = builder.intern(name);
  std::istringstream lines(expected(name + ".objects.tsv"));
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    out.types.push_back({builder.intern(line.substr(second + 1)), std::stoll(line),
                         std::stoll(line.substr(first + 1))});
  }
  return out;
}

TEST(PymplerStyle, IsWhatPymplerPrints) {
  TraceBuilder builder;
  builder.process_memory().snapshots.push_back(snapshot(builder, "all"));
  const TraceSet traces = one(made(builder));
  EXPECT_EQ(render(traces, in_style("pympler")), expected("all.pympler.txt"));
  ReportRequest request = in_style("pympler");
  request.sort = "#";
  request.ascending = true;
  request.limit = 5;
  EXPECT_EQ(render(traces, request), expected("all.pympler_count.txt"));
  EXPECT_NE(render(traces, in_style("pympler", "diff")).find("no second snapshot"),
            std::string::npos);
}

TEST(PymplerStyle, DifferencesAreThoseOfItsTracker) {
  TraceBuilder builder;
  builder.process_memory().snapshots.push_back(snapshot(builder, "before"));
  builder.process_memory().snapshots.push_back(snapshot(builder, "after"));
  const TraceSet traces = one(made(builder));
  EXPECT_EQ(render(traces, in_style("pympler", "diff")), expected("difference.pympler.txt"));
  const std::string both = render(traces, in_style("pympler"));
  EXPECT_EQ(both.find("before\n"), 0u);
  EXPECT_NE(both.find("\n\nafter\n"), std::string::npos);
}

}  // namespace
}  // namespace sonde
