#include <gtest/gtest.h>
#include <simdjson.h>
#include <sqlite3.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "export/slice_facts.hpp"
#include "import/loader.hpp"
#include "import/perfetto/perfetto.hpp"
#include "tests/support/export_text.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/load.hpp"
#include "tests/support/rich_trace.hpp"
#include "tests/support/trace_text.hpp"
#include "trace/filter.hpp"

namespace sonde {
namespace {

using test::export_text;
using test::load_or_fail;
using test::test_data;
using test::text_difference;

// What the reader finds in what the exporter wrote; the format is recognised anew.
Trace through(std::string_view format, const Trace& trace) {
  const test::Exported file = export_text(format, trace);
  EXPECT_EQ(file.error, "");
  const test::ScratchFolder folder;
  return load_or_fail(folder.write("again." + std::string(format), file.text));
}

// Traces of everything that there is a place for, at random.
class RandomTrace {
 public:
  explicit RandomTrace(std::uint32_t seed) : random_(seed) {}

  Trace make() {
    builder_.meta().format = "sonde";
    if (below(2) == 0) {
      builder_.meta().wall_clock = true;
      builder_.meta().base_time = 1'700'000'000'000'000'000;
    }
    add_tracks();
    for (int i = 0; i < 150; ++i) add_slice(i);
    for (int i = 0; i < 20; ++i) add_points();
    builder_.nest(1);
    add_links();
    return builder_.finish();
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }
  StringId text(std::string_view s) { return builder_.intern(s); }
  StringId name() {
    return below(3) == 0 ? text(one_of(test::hostile_names()))
                         : text("f" + std::to_string(below(9)));
  }
  Nanos time() { return kOrigin + below(5000); }

  void add_tracks() {
    const std::vector<std::int64_t> pids = {0, 10, 20, 5'000'000'000, -3};
    for (const std::int64_t pid : pids) {
      const StringId process = below(4) == 0 ? StringId() : name();
      for (int i = 0; i < 4; ++i) {
        Track track;
        track.type = static_cast<TrackType>(below(4));
        track.pid = pid;
        track.tid = i;
        track.process = process;
        if (below(9) == 0) track.process = text("another");
        if (track.type == TrackType::Stream) track.device = below(2);
        if (below(2) == 0) track.sort_index = below(100) - 50;
        if (below(4) != 0) track.name = name();
        if (pid == 20) track.labels = text("label");
        tracks_.push_back(builder_.add_track(track));
      }
    }
  }

  template <class Owner>
  Argument<Owner> argument(Owner owner, int i) {
    const StringId key = text(one_of(test::hostile_names()) + std::to_string(i));
    switch (below(6)) {
      case 0:
        return {owner, key, std::int64_t{below(1000)} - 500};
      case 1:
        return {owner, key, std::numeric_limits<std::int64_t>::min() + below(2)};
      case 2:
        return {owner, key, below(1000) / 7.0};
      case 3:
        return {owner, key,
                below(2) == 0 ? std::numeric_limits<double>::quiet_NaN()
                              : -std::numeric_limits<double>::infinity()};
      case 4:
        return {owner, key, name()};
      default:
        return {owner, key, text(R"([1, {"a": null}, "b"])"), ArgType::Json};
    }
  }

  void add_slice(int i) {
    const TrackId track = one_of(tracks_);
    const auto kind = static_cast<SliceKind>(below(static_cast<int>(kSliceKindCount)));
    const Nanos length = below(4) == 0 ? below(3) : below(600);
    const SliceId slice = builder_.add_slice(time(), length, track, name(), kind);
    if (kind == SliceKind::Kernel || kind == SliceKind::Memcpy) {
      DeviceRow row;
      if (below(2) == 0) row.correlation = 1000 + i;
      if (below(2) == 0) row.grid = {1, below(9), 3};
      if (below(2) == 0) row.occupancy = 0.1F * static_cast<float>(below(9));
      builder_.add_device_work(slice, row);
    }
    if (kind == SliceKind::Operator || kind == SliceKind::UserRange) {
      OperatorRow row;
      if (below(2) == 0)
        row.inputs = builder_.intern_inputs({text("[[2, 3]]"), text("[\"x\"]"), {}, {}});
      if (below(2) == 0) row.stack = name();
      builder_.add_operator(slice, row);
    }
    if ((kind == SliceKind::Other || kind == SliceKind::UserRange) && below(2) == 0)
      builder_.add_category(slice, text(one_of<std::string>({"app", "io,disk", "ü <&>"})));
    for (int a = below(4); a > 0; --a) builder_.add_argument(argument(slice, a));
    if (below(3) == 0) {
      const std::vector<SetArg> list = {argument(ArgumentSetId(), 8), argument(ArgumentSetId(), 9)};
      builder_.share_arguments(slice, builder_.intern_arguments(list));
    }
    slices_.push_back(slice);
  }

  void add_points() {
    const MarkerId marker =
        builder_.add_marker({time(), one_of(tracks_), name(), "tpg"[below(3)], name()});
    if (below(2) == 0) builder_.add_argument(argument(marker, 1));
    const CounterId counter = builder_.add_counter(
        {time(), one_of(tracks_), name(), below(2) ? name() : StringId(), below(1000) / 3.0});
    if (below(2) == 0) builder_.add_argument(argument(counter, 1));
    const StackId outer = builder_.intern_stack({{}, name(), name(), below(3)});
    const StackId inner = builder_.intern_stack({outer, name(), {}, 7});
    const StackId stack = one_of<StackId>({{}, outer, inner});
    Allocation allocation{time(), random_(), below(999) - 500, below(999), 9999, one_of(tracks_)};
    allocation.device_type = below(2);
    allocation.device = below(3) - 1;
    allocation.out_of_memory = below(9) == 0;
    allocation.stack = stack;
    if (below(2) == 0) allocation.tag = text("a tag");
    builder_.add_allocation(allocation);
    if (types_.empty()) {
      types_.push_back(builder_.add_sample_type({text("cpu"), text("ns"), true}));
      types_.push_back(builder_.add_sample_type({text("space"), text("bytes"), false}));
    }
    builder_.add_sample({time(), one_of(tracks_), stack, below(3) / 2.0, one_of(types_)});
  }

  // Each slice is the target of one arrow of a sort at most.
  void add_links() {
    std::set<SliceId> taken;
    for (int i = 0; i < 40; ++i) {
      const SliceId from = one_of(slices_);
      const SliceId to = one_of(slices_);
      if (from == to || !taken.insert(to).second) continue;
      if (i % 3 == 0) builder_.add_launch_link(from, to);
      if (i % 3 == 1) builder_.add_backward_link(from, to);
      if (i % 3 == 2) builder_.add_flow_link(from, to);
    }
  }

  static constexpr Nanos kOrigin = 3'000'000;
  std::mt19937 random_;
  TraceBuilder builder_;
  std::vector<TrackId> tracks_;
  std::vector<SliceId> slices_;
  std::vector<std::uint32_t> types_;
};

// All comes back that TraceText shows; what is read and written once more is the same file.
void expect_perfetto_round_trip(const Trace& trace) {
  const Trace again = through("perfetto", trace);
  ASSERT_EQ(text_difference(trace, again), "");
  // The first file has the tracks in another order, and words of kinds that it need not say twice.
  const std::string second = export_text("perfetto", again).text;
  const Trace third = test::import_or_fail(second, import_perfetto);
  ASSERT_EQ(text_difference(again, third), "");
  EXPECT_TRUE(export_text("perfetto", third).text == second) << "the file changes with each trip";
}

TEST(RoundTripPerfetto, RandomTraces) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_perfetto_round_trip(RandomTrace(seed).make());
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(RoundTripPerfetto, TracesOfEverything) {
  expect_perfetto_round_trip(test::rich_trace());
  expect_perfetto_round_trip(test::sampled_trace());
}

TEST(RoundTripPerfetto, RealTraces) {
  for (const char* name :
       {"resnet50_stack.pt.trace.json.gz", "resnet50_workers0.pt.trace.json.gz",
        "ddp_rank0.pt.trace.json.gz", "mxnet_small.json", "paddle_small.paddle_trace.json",
        "paddle_small.paddle_trace.pb", "onnxruntime_profile.json", "tensorflow/jax_cpu.xplane.pb",
        "tensorflow/jax_gpu.xplane.pb", "tensorflow/tf_cpu.xplane.pb",
        "tensorflow/jax_gpu.trace.json.gz", "tensorflow/tf1.timeline.json.gz",
        "profiles/samples.perf.txt"}) {
    SCOPED_TRACE(name);
    const Trace trace = test_data(name);
    EXPECT_GT(trace.slice_count() + trace.samples().size(), 0u);
    expect_perfetto_round_trip(trace);
  }
}

// Operators find their launches again, by ids and by nesting.
TEST(RoundTripPerfetto, OperatorsKeepTheirLaunches) {
  for (const char* name : {"resnet50_stack", "ddp_rank0"}) {
    SCOPED_TRACE(name);
    const Trace trace = test_data(std::string(name) + ".pt.trace.json.gz");
    const Trace again = through("perfetto", trace);
    EXPECT_GT(trace.operator_to_launch().size(), 0u);
    EXPECT_EQ(again.operator_to_launch().size(), trace.operator_to_launch().size());
  }
}

// The arguments of all slices, by what else is told of them.
std::multiset<std::string> all_arguments(const Trace& trace) {
  std::multiset<std::string> out;
  test::TraceText text(trace);
  for (const SliceId slice : all_slices(trace)) {
    out.insert(std::string(trace.name(slice)) + "@" + std::to_string(trace.slices().start(slice)) +
               "+" + std::to_string(trace.slices().duration(slice)) + text.arguments(slice));
  }
  return out;
}

void expect_same_texts(const std::multiset<std::string>& before,
                       const std::multiset<std::string>& after) {
  std::vector<std::string> lost;
  std::vector<std::string> made_up;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(lost));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(made_up));
  EXPECT_EQ(lost.empty() ? "" : lost[0], "");
  EXPECT_EQ(made_up.empty() ? "" : made_up[0], "");
}

// The same with what the columns of side tables say, which the general reader of trace events has
// as arguments. Without correlation ids: a launch that only an arrow tells of gets one, since that
// is how the format says it.
std::multiset<std::string> all_facts(const Trace& trace) {
  std::multiset<std::string> out;
  FactSource source(trace);
  for (const SliceId slice : all_slices(trace)) {
    std::map<std::string, std::string> facts;
    for (const Fact& fact : source.of(slice)) {
      if (fact.key != "correlation") append_json_fact(facts[std::string(fact.key)], fact);
    }
    std::string line = std::string(trace.name(slice)) + "@" +
                       std::to_string(trace.slices().start(slice)) + "+" +
                       std::to_string(trace.slices().duration(slice));
    for (const auto& [key, value] : facts) line += " {" + key + "}=" + value;
    out.insert(line);
  }
  return out;
}

TEST(RoundTrip, SharedArgumentsAreWrittenAndRead) {
  for (const char* name : {"jax_cpu", "jax_gpu", "tf_cpu"}) {
    SCOPED_TRACE(name);
    const Trace trace = test_data("tensorflow/" + std::string(name) + ".xplane.pb");
    ASSERT_FALSE(trace.shared_arguments().empty());
    const std::multiset<std::string> before = all_arguments(trace);
    expect_same_texts(before, all_arguments(through("perfetto", trace)));
    expect_same_texts(all_facts(trace), all_facts(through("chrome", trace)));
  }
}

TEST(RoundTrip, SharedArgumentsAreCopied) {
  const Trace trace = test_data("tensorflow/jax_gpu.xplane.pb");
  const Trace copy = filter_trace(trace, TraceFilter());
  EXPECT_EQ(copy.shared_arguments().size(), trace.shared_arguments().size());
  EXPECT_EQ(copy.shared_arguments().slices(), trace.shared_arguments().slices());
  EXPECT_EQ(text_difference(trace, copy), "");
}

std::int64_t sqlite_number(const std::string& path, const char* question) {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  std::int64_t number = -1;
  if (sqlite3_open(path.c_str(), &database) == SQLITE_OK &&
      sqlite3_prepare_v2(database, question, -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return number;
}

TEST(RoundTrip, SharedArgumentsAreInTheDatabase) {
  const Trace trace = test_data("tensorflow/jax_gpu.xplane.pb");
  const test::ScratchFolder folder;
  const std::string path = (folder.path() / "trace.sqlite").string();
  ASSERT_TRUE(find_exporter("sqlite")->write_file({trace, "test"}, path).ok());
  std::int64_t arguments = 0;
  std::int64_t of_kernel = 0;
  const SliceId kernel = test::slice_named(trace, "gemm_fusion_dot");
  ASSERT_TRUE(kernel.valid());
  for (const SliceId slice : all_slices(trace)) {
    for_each_argument(trace, slice, [&](const auto&) {
      ++arguments;
      of_kernel += slice == kernel ? 1 : 0;
    });
  }
  EXPECT_GT(arguments, static_cast<std::int64_t>(trace.arguments().size()));
  EXPECT_EQ(sqlite_number(path, "SELECT count(*) FROM arguments WHERE owner = 'slice'"), arguments);
  const std::string of_one =
      "SELECT count(*) FROM slice_arguments WHERE slice_id = " + std::to_string(kernel.value);
  EXPECT_EQ(sqlite_number(path, of_one.c_str()), of_kernel);
  EXPECT_EQ(sqlite_number(path,
                          "SELECT max(value = 'jit_step') FROM slice_arguments "
                          "WHERE key = 'hlo_module'"),
            1);
}

// Nothing that a name can hold breaks a format.
TEST(RoundTrip, EveryFormatTakesHostileNames) {
  std::vector<Trace> traces;
  traces.push_back(test::rich_trace());
  traces.push_back(test::sampled_trace());
  traces.push_back(test::profiled_trace());
  for (std::uint32_t seed = 0; seed < 20; ++seed) traces.push_back(RandomTrace(seed).make());
  for (const Exporter& exporter : exporters()) {
    SCOPED_TRACE(exporter.name);
    for (const Trace& trace : traces) {
      if (exporter.write_file != nullptr) {
        const test::ScratchFolder folder;
        const std::string path = (folder.path() / "trace").string();
        ASSERT_TRUE(exporter.write_file({trace, "<&>\n"}, path).ok());
        EXPECT_EQ(sqlite_number(path, "SELECT count(*) FROM slice"),
                  static_cast<std::int64_t>(trace.slice_count()));
        continue;
      }
      const test::Exported file = export_text(exporter.name, trace, {}, "<&>\n");
      // Of lines and functions only.
      const bool python = exporter.name == "vprof" || exporter.name == "heatmap";
      if (python && file.error.find("the trace") != std::string::npos) continue;
      ASSERT_EQ(file.error, "");
      EXPECT_FALSE(file.text.empty());
      if (exporter.name == "chrome" || exporter.name == "json" || exporter.name == "speedscope") {
        simdjson::dom::parser parser;
        EXPECT_EQ(parser.parse(file.text).error(), simdjson::SUCCESS);
      }
      if (exporter.binary) continue;
      EXPECT_TRUE(simdjson::validate_utf8(file.text));
      // Only CSV may have a name's own line breaks, in quotes.
      const auto control = std::find_if(file.text.begin(), file.text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
      });
      if (exporter.name != "csv") {
        EXPECT_TRUE(control == file.text.end()) << control - file.text.begin();
      }
    }
  }
}

}  // namespace
}  // namespace sonde
