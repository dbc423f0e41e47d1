#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

#include "import/loader.hpp"
#include "report/styles/torch.hpp"
#include "tests/support/export_text.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/rich_trace.hpp"
#include "tests/support/same_trace.hpp"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using test::difference;
using test::export_text;

// Reads the text as a file would be read: the format is recognised anew.
Result<Trace> read_again(const std::string& text) {
  const test::ScratchFolder folder;
  return load_trace(folder.write("again.json", text));
}

std::vector<std::string> traces_below(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; ++it) {
    if (it->is_regular_file() && it->path().string().find(".json") != std::string::npos)
      paths.push_back(it->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Everything that a trace-event file gives Sonde, Sonde gives back: read, write, read.
void expect_round_trip(const std::string& path) {
  SCOPED_TRACE(path);
  const Result<Trace> trace = load_trace(path);
  if (!trace || (trace->meta().format != "kineto" && trace->meta().format != "chrome")) return;
  const test::Exported file = export_text("chrome", *trace);
  ASSERT_EQ(file.error, "");
  const Result<Trace> again = read_again(file.text);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(difference(*trace, *again), "");
  EXPECT_EQ(export_text("chrome", *again).text, file.text) << "a second round changes the file";
}

TEST(ExportChrome, RoundTripOfOwnData) {
  const std::vector<std::string> paths = traces_below(SONDE_TEST_DATA);
  ASSERT_GE(paths.size(), 6u);
  for (const std::string& path : paths) expect_round_trip(path);
}

TEST(ExportChrome, RoundTripOfSharedData) {
  const std::string root = SONDE_SHARED_DATA;
  if (!fs::exists(root)) GTEST_SKIP() << root << " is not here";
  for (const char* part :
       {"/chrome-trace", "/kineto-hta", "/tensorboard-samples", "/torch", "/jax"}) {
    for (const std::string& path : traces_below(root + part)) {
      if (fs::file_size(path) < 8'000'000) expect_round_trip(path);
    }
  }
}

TEST(ExportChrome, TorchTablesStayTheSame) {
  for (const char* name : {"resnet50_stack", "resnet50_workers0", "ddp_rank0"}) {
    SCOPED_TRACE(name);
    Result<Trace> trace =
        load_trace(std::string(SONDE_TEST_DATA) + "/" + name + ".pt.trace.json.gz");
    ASSERT_TRUE(trace.ok());
    Result<Trace> again = read_again(export_text("chrome", *trace).text);
    ASSERT_TRUE(again.ok());
    const NamedTrace first{".", name, "trace.json", std::move(*trace)};
    const NamedTrace second{".", name, "trace.json", std::move(*again)};
    for (const bool shapes : {false, true}) {
      TorchTableRequest request;
      request.sort_by = "self_cuda_time_total";
      request.group_by_input_shape = shapes;
      const Result<std::string> before = torch_table(first, request);
      const Result<std::string> after = torch_table(second, request);
      ASSERT_TRUE(before.ok());
      ASSERT_TRUE(after.ok());
      EXPECT_GT(before->size(), 1000u);
      EXPECT_EQ(*before, *after);
    }
  }
}

TEST(ExportChrome, KeepsWhatKinetoToolsLookFor) {
  const Trace trace = test::kineto(test::kineto_text(
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":1.5,"dur":10,
          "args":{"External id":7,"Input Dims":[[2,3],[3,4]],"Input type":["float","float"],"Sequence number":3}},
         {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":2,"dur":3,
          "args":{"External id":7,"correlation":99,"cbid":211}},
         {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":5,
          "args":{"External id":7,"correlation":99,"device":0,"stream":7,"context":1,"grid":[1,2,3],"block":[32,1,1],
                  "registers per thread":40,"shared memory":1024,"blocks per SM":0.25,"warps per SM":2.5,
                  "est. achieved occupancy %":12}},
         {"ph":"i","cat":"cpu_instant_event","name":"[memory]","s":"t","pid":9,"tid":9,"ts":3,
          "args":{"Addr":140,"Bytes":512,"Device Type":1,"Device Id":0,"Total Allocated":512,"Total Reserved":1024}})"));
  const std::string text = export_text("chrome", trace).text;
  for (
      const char* part :
      {R"("cat": "cpu_op")", R"("Input Dims": [[2,3],[3,4]])", R"("ts": 1.500, "dur": 10.000)",
       R"("cat": "cuda_runtime")", R"("correlation": 99)", R"("cat": "kernel")",
       R"("grid": [1, 2, 3])", R"("blocks per SM": 0.25)", R"("name": "[memory]")",
       R"("Total Reserved": 1024)", R"("schemaVersion": 1)",
       R"({"ph": "s", "pid": 9, "tid": 9, "cat": "ac2g", "name": "ac2g", "id": 1, "ts": 2.000})",
       R"({"ph": "f", "pid": 0, "tid": 7, "cat": "ac2g", "name": "ac2g", "id": 1, "ts": 20.000, "bp": "e"})"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(ExportChrome, ArgumentsOfSlicesMarkersAndCountersComeBack) {
  const std::string file = R"({"traceEvents": [
    {"ph":"X","cat":"app","name":"a","pid":1,"tid":2,"ts":10,"dur":5,"args":{"n":3,"x":0.5,"s":"q\"\\\n","list":[1,{"k":null}],"yes":true}},
    {"ph":"i","name":"m","cat":"app","pid":1,"tid":2,"ts":11,"s":"p","args":{"why":"because"}},
    {"ph":"C","name":"load","pid":1,"tid":2,"ts":12,"args":{"cpu":1.25,"gpu":3}}]})";
  const Trace trace = test::chrome(file);
  const Trace again = test::chrome(export_text("chrome", trace).text);
  EXPECT_EQ(difference(trace, again), "");
  EXPECT_EQ(again.counters().size(), 2u);
  ASSERT_EQ(trace.arguments().of(SliceId(std::uint32_t{0})).size(), 5u)
      << "the reader dropped arguments";
  EXPECT_EQ(trace.marker_arguments().size(), 1u);
}

// What another format told comes back from the file as far as the format can say it.
TEST(ExportChrome, OtherSourcesKeepKindsLinksAndPoints) {
  const Trace trace = test::rich_trace();
  const test::Exported file = export_text("chrome", trace);
  ASSERT_EQ(file.error, "");
  const Result<Trace> again = read_again(file.text);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->meta().format, "chrome");
  ASSERT_EQ(again->slice_count(), trace.slice_count());
  std::multiset<std::tuple<Nanos, Nanos, std::string, std::string>> before;
  std::multiset<std::tuple<Nanos, Nanos, std::string, std::string>> after;
  const auto collect = [](const Trace& from, auto& into) {
    for (const SliceId s : all_slices(from)) {
      into.insert({from.slices().start(s), from.slices().duration(s), std::string(from.name(s)),
                   std::string(kind_name(from.slices().kind(s)))});
    }
  };
  collect(trace, before);
  collect(*again, after);
  EXPECT_EQ(before, after);
  EXPECT_EQ(again->launch_to_device().size(), 1u);
  EXPECT_EQ(again->forward_to_backward().size(), 1u);
  EXPECT_EQ(again->flows().size(), 2u) << "the launch's arrow is an arrow, too";
  EXPECT_EQ(again->markers().size(), trace.markers().size());
  EXPECT_EQ(again->counters().size(), trace.counters().size());
  EXPECT_EQ(again->counters()[1].value, 1e20);
  EXPECT_EQ(again->allocations().size(), trace.allocations().size());
}

TEST(ExportChrome, EveryKindComesBack) {
  TraceBuilder builder;
  builder.meta().format = "sonde";
  const TrackId track = builder.add_track({});
  for (std::size_t k = 0; k < kSliceKindCount; ++k)
    builder.add_slice(static_cast<Nanos>(k) * 10, 5, track, builder.intern("x"),
                      static_cast<SliceKind>(k));
  builder.nest(1);
  const Trace trace = builder.finish();
  const Trace again = test::chrome(export_text("chrome", trace).text);
  ASSERT_EQ(again.slice_count(), kSliceKindCount);
  for (const SliceId s : all_slices(trace)) {
    const SliceKind kind = trace.slices().kind(s);
    // Without a category there is nothing to tell "other" by.
    const SliceKind expected = kind == SliceKind::Other ? SliceKind::UserRange : kind;
    EXPECT_EQ(kind_name(again.slices().kind(s)), kind_name(expected));
  }
}

// Tools for PyTorch's traces find what they look for, and Sonde still knows that it is none.
TEST(ExportChrome, OtherSourcesHaveKinetosWords) {
  TraceBuilder builder;
  builder.meta().format = "sonde";
  for (int i = 0; i < 40; ++i) {  // more than the reader keeps of a value
    Device device;
    device.id = i;
    device.name = std::string(200, 'x');
    builder.meta().devices.push_back(device);
  }
  const TrackId track = builder.add_track({});
  const std::vector<std::pair<SliceKind, std::string>> words = {
      {SliceKind::Operator, "cpu_op"},    {SliceKind::Runtime, "cuda_runtime"},
      {SliceKind::Driver, "cuda_driver"}, {SliceKind::Kernel, "kernel"},
      {SliceKind::Memcpy, "gpu_memcpy"},  {SliceKind::Memset, "gpu_memset"},
      {SliceKind::Sync, "cuda_sync"},     {SliceKind::PythonFunction, "python_function"}};
  Nanos start = 0;
  for (const auto& [kind, word] : words) {
    builder.add_slice(start += 10, 5, track, builder.intern(word), kind);
  }
  builder.nest(1);
  const Trace trace = builder.finish();
  std::string text = export_text("chrome", trace).text;
  for (int round = 0; round < 3; ++round) {
    for (const auto& [kind, word] : words) {
      EXPECT_NE(text.find("\"cat\": \"" + word + "\", \"name\": \"" + word + "\""),
                std::string::npos)
          << word << " in round " << round;
    }
    const Result<Trace> again = read_again(text);
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(again->meta().format, "chrome");
    text = export_text("chrome", *again).text;
  }
}

TEST(ExportChrome, PlainFilesKeepTheirWords) {
  const Trace trace = test::chrome(
      R"([{"ph":"X","cat":"runtime","name":"a","pid":1,"tid":1,"ts":1,"dur":1},
          {"ph":"X","cat":"operator","name":"b","pid":1,"tid":1,"ts":3,"dur":1}])");
  const std::string text = export_text("chrome", trace).text;
  EXPECT_NE(text.find(R"("cat": "runtime")"), std::string::npos);
  EXPECT_NE(text.find(R"("cat": "operator")"), std::string::npos);
}

// Random traces of the general format: threads, streams, asynchronous lanes, arrows, odd names.
class RandomFile {
 public:
  explicit RandomFile(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
    for (int i = 0; i < 120; ++i) {
      if (i) out += ",\n";
      out += event(i);
    }
    return out + "]}";
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  std::string name() {
    static const std::vector<std::string> kNames = {"f",
                                                    "aten::add",
                                                    "<b>&amp;\\\"x\\\"</b>",
                                                    "tab\\there",
                                                    "ünï → 日本",
                                                    "",
                                                    "\\u0001\\u001f",
                                                    "a;b c 1",
                                                    "ProfilerStep#4",
                                                    "nccl:all_reduce"};
    return kNames[static_cast<std::size_t>(below(static_cast<int>(kNames.size())))];
  }
  std::string category() {
    static const std::vector<std::string> kCategories = {
        "app", "kernel", "cpu work", "gpu_memcpy", "operator", "python_function"};
    return kCategories[static_cast<std::size_t>(below(static_cast<int>(kCategories.size())))];
  }
  std::string event(int i) {
    std::string head = "{\"pid\": " + std::to_string(below(2)) +
                       ", \"tid\": " + std::to_string(below(3)) + ", \"name\": \"" + name() +
                       "\", \"ts\": " + std::to_string(below(1000)) + "." +
                       std::to_string(below(1000));
    switch (below(10)) {
      case 0:
        return head + ", \"ph\": \"i\", \"s\": \"" +
               std::string("tpg").substr(static_cast<std::size_t>(below(3)), 1) + "\"}";
      case 1:
        return head + ", \"ph\": \"C\", \"args\": {\"a\": " + std::to_string(below(100)) +
               ", \"b\": 0.125}}";
      case 2:
        return head + ", \"ph\": \"s\", \"cat\": \"x\", \"id\": " + std::to_string(i / 12) + "}";
      case 3:
        return head +
               ", \"ph\": \"f\", \"bp\": \"e\", \"cat\": \"x\", \"id\": " + std::to_string(i / 12) +
               "}";
      case 4:
        return head + ", \"ph\": \"b\", \"cat\": \"io\", \"id\": " + std::to_string(below(3)) + "}";
      case 5:
        return head + ", \"ph\": \"e\", \"cat\": \"io\", \"id\": " + std::to_string(below(3)) + "}";
      case 6:
        return "{\"pid\": " + std::to_string(below(2)) +
               ", \"tid\": 1, \"ph\": \"M\", \"name\": \"thread_name\", " +
               "\"args\": {\"name\": \"worker " + std::to_string(below(3)) + "\"}}";
      default:
        return head + ", \"ph\": \"X\", \"cat\": \"" + category() +
               "\", \"dur\": " + std::to_string(below(300)) + ".5" +
               ", \"args\": {\"correlation\": " + std::to_string(below(30)) + "}}";
    }
  }

  std::mt19937 random_;
};

TEST(ExportChrome, RoundTripOfRandomFiles) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = test::chrome(RandomFile(seed).text());
    const Trace again = test::chrome(export_text("chrome", trace).text);
    ASSERT_EQ(difference(trace, again), "");
  }
}

}  // namespace
}  // namespace sonde
