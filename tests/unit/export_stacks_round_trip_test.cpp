#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/call_sums.hpp"
#include "analysis/call_tree.hpp"
#include "export/stacks/frame_text.hpp"
#include "import/loader.hpp"
#include "tests/support/export_text.hpp"
#include "tests/support/files.hpp"
#include "tests/support/load.hpp"
#include "tests/support/rich_trace.hpp"

namespace sonde {
namespace {

using test::load_or_fail;
using test::test_data;

Trace through(std::string_view format, const std::string& name, const Trace& trace,
              const std::string& weight = {}) {
  const test::Exported file = test::export_text(format, trace, weight);
  EXPECT_EQ(file.error, "");
  const test::ScratchFolder folder;
  return load_or_fail(folder.write(name, file.text));
}

// One line of text without blanks at its ends, as formats of lines keep it.
std::string plain(std::string text) {
  text = one_line(text);
  std::replace(text.begin(), text.end(), ';', ':');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  while (!text.empty() && text.front() == ' ') text.erase(0, 1);
  return text;
}

// The self values of all stacks, by the frames with file and line as one text each; those of all
// tracks together, or with the track as the outermost frame.
using Stacks = std::map<std::string, double>;
Stacks stacks_of(const Trace& trace, std::string_view type, bool tracks_are_frames) {
  Stacks out;
  const Result<std::vector<CallTree>> trees = build_call_trees(trace, {"", !tracks_are_frames});
  if (!trees) {
    ADD_FAILURE() << trees.error().text();
    return out;
  }
  for (const CallTree& tree : *trees) {
    std::size_t value = tree.main_type;
    for (std::size_t t = 0; t < tree.types().size(); ++t) {
      if (tree.types()[t].name == type) value = t;
    }
    for (std::uint32_t i = 1; i < tree.nodes().size(); ++i) {
      if (tree.self(i, value) == 0) continue;
      std::string way;
      for (std::uint32_t at = i; at != 0; at = tree.nodes()[at].parent)
        way = plain(frame_text(tree.frame_of(at))) + ";" + way;
      out[way] += tree.self(i, value);
    }
  }
  return out;
}

// As formats of whole numbers have it.
Stacks rounded(Stacks stacks) {
  for (auto& [way, value] : stacks) value = static_cast<double>(std::llround(value));
  std::erase_if(stacks, [](const auto& entry) { return entry.second == 0; });
  return stacks;
}

void expect_same(const Stacks& before, const Stacks& after) {
  EXPECT_FALSE(before.empty());
  for (const auto& [way, value] : before) {
    const auto found = after.find(way);
    if (found == after.end()) {
      ADD_FAILURE() << "lost: " << way << " " << value;
      return;
    }
    EXPECT_NEAR(found->second, value, std::fabs(value) * 1e-9) << way;
  }
  EXPECT_EQ(after.size(), before.size());
}

struct Source {
  const char* name;
  Trace trace;
};

// Samples, slices, and what deterministic profilers count.
std::vector<Source> sources() {
  std::vector<Source> out;
  out.push_back({"samples of a test", test::sampled_trace()});
  out.push_back({"slices of a test", test::rich_trace()});
  out.push_back({"calls of a test", test::profiled_trace()});
  for (const char* name : {"profiles/samples.perf.txt", "profiles/stacks.folded",
                           "profiles/evented.speedscope.json", "profiles/cprofile_py311.prof",
                           "profiles/small.callgrind", "resnet50_stack.pt.trace.json.gz"})
    out.push_back({name, test_data(name)});
  return out;
}

TEST(RoundTripStacks, Collapsed) {
  for (const Source& source : sources()) {
    SCOPED_TRACE(source.name);
    const Trace again = through("collapsed", "again.folded", source.trace);
    expect_same(rounded(stacks_of(source.trace, {}, true)), stacks_of(again, {}, true));
  }
}

TEST(RoundTripStacks, Pprof) {
  for (const Source& source : sources()) {
    SCOPED_TRACE(source.name);
    const Trace again = through("pprof", "again.pb.gz", source.trace);
    const Result<std::vector<CallTree>> trees = build_call_trees(source.trace, {"", true});
    ASSERT_TRUE(trees.ok());
    for (const CallValueType& type : trees->front().types()) {
      SCOPED_TRACE(type.name);
      Stacks before = rounded(stacks_of(source.trace, type.name, false));
      const std::string name = type.name.empty() ? "samples" : type.name;
      expect_same(before, stacks_of(again, name, false));
    }
  }
}

// Every stack and weight of the samples, and each track's sum.
TEST(RoundTripStacks, SpeedscopeSampled) {
  for (const char* name : {"profiles/samples.perf.txt", "profiles/stacks.folded",
                           "profiles/cprofile_py311.prof", "profiles/small.callgrind"}) {
    SCOPED_TRACE(name);
    const Trace trace = test_data(name);
    const Trace again = through("speedscope", "again.speedscope.json", trace);
    expect_same(stacks_of(trace, {}, false), stacks_of(again, {}, false));
    if (!trace.samples().empty()) {
      EXPECT_EQ(again.samples().size(), trace.samples().size());
    }
  }
}

// Trace events have one type of samples; stacks keep their lines.
TEST(RoundTripStacks, ChromeSamples) {
  for (const char* name : {"profiles/samples.perf.txt", "profiles/stacks.folded"}) {
    SCOPED_TRACE(name);
    const Trace trace = test_data(name);
    const Trace again = through("chrome", "again.json", trace);
    EXPECT_EQ(again.samples().size(), trace.samples().size());
    expect_same(stacks_of(trace, {}, false), stacks_of(again, {}, false));
  }
}

using SliceFacts = std::tuple<Nanos, Nanos, std::string>;
std::multiset<SliceFacts> slice_facts(const Trace& trace) {
  std::multiset<SliceFacts> out;
  Nanos first = INT64_MAX;
  for (const SliceId s : all_slices(trace)) first = std::min(first, trace.slices().start(s));
  for (const SliceId s : all_slices(trace)) {
    const std::string name(trace.name(s));
    const ArgumentValue file = find_argument(trace, s, trace.strings().find("file"));
    const ArgumentValue line = find_argument(trace, s, trace.strings().find("line"));
    out.insert({trace.slices().start(s) - first, trace.slices().duration(s),
                (name.empty() ? "(unnamed)" : name) + "@" + std::string(trace.text(file.text())) +
                    ":" + std::to_string(line.integer(trace, 0))});
  }
  return out;
}

TEST(RoundTripStacks, SpeedscopeEvented) {
  for (const char* name : {"profiles/evented.speedscope.json", "resnet50_stack.pt.trace.json.gz",
                           "ddp_rank0.pt.trace.json.gz", "mxnet_small.json"}) {
    SCOPED_TRACE(name);
    const Trace trace = test_data(name);
    ASSERT_GT(trace.slice_count(), 0u);
    const Trace again = through("speedscope", "again.speedscope.json", trace);
    EXPECT_TRUE(slice_facts(again) == slice_facts(trace));
  }
  const Trace rich = test::rich_trace();
  EXPECT_TRUE(slice_facts(through("speedscope", "again.speedscope.json", rich)) ==
              slice_facts(rich));
}

// Functions by file, line and name; calls by both ends.
struct Sums {
  std::map<std::string, std::vector<double>> functions;
  std::map<std::string, std::vector<double>> calls;
};

struct SumParts {
  bool lines = true;      // of functions
  bool primitive = true;  // numbers of calls from outside
  bool call_self = true;
};

Sums sums_of(const Trace& trace, SumParts parts) {
  Sums out;
  const Result<CallSums> sums = sum_calls(trace, "");
  if (!sums) {
    ADD_FAILURE() << sums.error().text();
    return out;
  }
  const auto add = [](std::vector<double>& row, std::initializer_list<double> values) {
    row.resize(values.size());
    std::size_t i = 0;
    for (const double value : values) row[i++] += value;
  };
  const auto name = [&](std::size_t f) {
    const CallSums::Function& function = sums->functions[f];
    const bool built_in = function.file.empty() || function.file == "~" || function.file == "???";
    std::string text = built_in ? "" : plain(std::string(function.file)) + ":";
    if (parts.lines && !built_in) text += std::to_string(function.line) + ":";
    return text + plain(std::string(function.name));
  };
  for (std::size_t f = 0; f < sums->functions.size(); ++f) {
    const CallSums::Function& function = sums->functions[f];
    add(out.functions[name(f)],
        {static_cast<double>(function.calls),
         parts.primitive ? static_cast<double>(function.primitive_calls) : 0,
         static_cast<double>(sums->cost(sums->function_self, f, 0)),
         static_cast<double>(sums->cost(sums->function_total, f, 0))});
  }
  for (std::size_t c = 0; c < sums->calls.size(); ++c) {
    const CallSums::Call& call = sums->calls[c];
    add(out.calls[name(call.caller) + " -> " + name(call.callee)],
        {static_cast<double>(call.calls),
         parts.primitive ? static_cast<double>(call.primitive_calls) : 0,
         parts.call_self ? static_cast<double>(sums->cost(sums->call_self, c, 0)) : 0,
         static_cast<double>(sums->cost(sums->call_total, c, 0))});
  }
  return out;
}

void expect_rows(const std::map<std::string, std::vector<double>>& before,
                 const std::map<std::string, std::vector<double>>& after) {
  EXPECT_EQ(after.size(), before.size());
  for (const auto& [name, row] : before) {
    const auto found = after.find(name);
    if (found == after.end()) {
      ADD_FAILURE() << "lost: " << name;
      return;
    }
    for (std::size_t i = 0; i < row.size(); ++i)
      EXPECT_NEAR(found->second[i], row[i], 1) << name << ", number " << i;
  }
}

TEST(RoundTripStacks, Pstats) {
  for (const char* name :
       {"profiles/cprofile_py311.prof", "profiles/profile_py311.prof", "profiles/profile_py38.prof",
        "profiles/evented.speedscope.json", "mxnet_small.json"}) {
    SCOPED_TRACE(name);
    const Trace trace = test_data(name);
    const Sums before = sums_of(trace, {});
    const Sums after = sums_of(through("pstats", "again.prof", trace), {});
    expect_rows(before.functions, after.functions);
    expect_rows(before.calls, after.calls);
  }
}

// Callgrind's format has calls of functions only by their callers, and no self cost of a call.
TEST(RoundTripStacks, Callgrind) {
  for (const char* name : {"profiles/small.callgrind", "profiles/cprofile_py311.prof",
                           "profiles/samples.perf.txt", "profiles/evented.speedscope.json"}) {
    SCOPED_TRACE(name);
    const Trace trace = test_data(name);
    const SumParts parts{false, false, false};
    const Sums before = sums_of(trace, parts);
    const Sums after = sums_of(through("callgrind", "callgrind.out.1", trace), parts);
    expect_rows(before.calls, after.calls);
    ASSERT_EQ(after.functions.size(), before.functions.size());
    for (const auto& [function, row] : before.functions) {
      ASSERT_TRUE(after.functions.contains(function)) << function;
      EXPECT_NEAR(after.functions.at(function)[2], row[2], 1) << function << ", self";
      EXPECT_NEAR(after.functions.at(function)[3], row[3], 1) << function << ", total";
    }
  }
}

// Whatever the names are, every format of stacks can be read again.
TEST(RoundTripStacks, HostileNamesAreRead) {
  for (const auto& [format, file] :
       {std::pair("collapsed", "a.folded"), std::pair("speedscope", "a.speedscope.json"),
        std::pair("pprof", "a.pb.gz"), std::pair("callgrind", "callgrind.out.1"),
        std::pair("pstats", "a.prof")}) {
    for (const Trace& trace : {test::rich_trace(), test::sampled_trace(), test::profiled_trace()}) {
      SCOPED_TRACE(format);
      const Trace again = through(format, file, trace);
      for (const LossLedger::Entry& loss : again.losses().entries())
        EXPECT_NE(loss.severity, Severity::Error) << loss.sentence;
      const Result<CallSums> sums = sum_calls(again, "");
      ASSERT_TRUE(sums.ok());
      EXPECT_GT(sums->functions.size(), 2u);
    }
  }
}

}  // namespace
}  // namespace sonde
