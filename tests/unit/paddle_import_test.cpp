#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/loader.hpp"
#include "import/paddle/json_event.hpp"
#include "import/paddle/paddle.hpp"
#include "import/paddle/supplement.hpp"
#include "report/styles/paddle.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/paddle_traces.hpp"

namespace sonde {
namespace {

using test::import_or_fail;
using test::losses;
using test::PaddleWriter;
using test::slice_named;
using P = PaddleWriter;

Trace json(std::string_view text) { return import_or_fail(text, import_paddle_json); }
Trace dump(std::string_view bytes) { return import_or_fail(bytes, import_paddle_dump); }

std::string operators(const Trace& trace) {
  PaddleRequest request;
  request.views = {"operator", "model", "memory"};
  return paddle_summary(trace, request);
}

PaddleWriter one_operator(const std::string& name) {
  PaddleWriter writer;
  P::Node& step = writer.thread(5).root.child("ProfileStep#0", P::ProfileStep, 0, 900'000);
  step.child(name, P::PythonUserDefined, 1'000, 101'000)
      .launch(3, 2'000, 4'000, {P::Kernel, "k<float>(int)", 8'000, 12'000, 0, 7});
  return writer;
}

TEST(PaddleSniff, TellsTheTwoFormatsAndNoOther) {
  const PaddleWriter writer = test::paddle_training();
  EXPECT_TRUE(looks_like_paddle_json(writer.json()));
  EXPECT_TRUE(looks_like_paddle_dump(writer.dump()));
  EXPECT_FALSE(looks_like_paddle_dump(writer.json()));
  EXPECT_FALSE(looks_like_paddle_json(test::kineto_text("")));
  EXPECT_FALSE(looks_like_paddle_dump(""));
  EXPECT_FALSE(
      looks_like_paddle_dump(std::string("\x0A\x05"
                                         "hello\x10",
                                         8)));
  EXPECT_TRUE(
      looks_like_paddle_dump(std::string("\x0A\x05"
                                         "1.0.2\x10\x00",
                                         9)));
}

TEST(PaddleFiles, AreFoundByContentAndNamedByWorker) {
  const test::ScratchFolder folder;
  const PaddleWriter writer = test::paddle_training();
  const std::string stem = "host_node7pid_4711_time_2024_11_05_10_00_00_123456.paddle_trace.";
  folder.write(stem + "pb", writer.dump());
  folder.write(stem + "json.gz", test::gzip(writer.json()));
  const Result<LoadedSet> loaded = load_traces({folder.path().string()});
  ASSERT_TRUE(loaded.ok());
  ASSERT_EQ(loaded->traces.size(), 2u);
  for (const NamedTrace& named : loaded->traces) {
    EXPECT_EQ(named.worker, "host_node7pid_4711");
    EXPECT_EQ(named.trace.meta().format, "paddle");
  }
}

TEST(PaddleJson, BecomesTheModel) {
  const Trace trace = json(test::paddle_training().json());
  SliceId gemm;  // that of the forward pass: the file has it behind that of the backward pass
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().duration(slice) == 500'000 && trace.name(slice).starts_with("void gemm"))
      gemm = slice;
  }
  ASSERT_TRUE(gemm.valid());
  EXPECT_EQ(trace.slices().kind(gemm), SliceKind::Kernel);
  const DeviceRow* row = trace.device_work().find(gemm);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->stream, 7);
  EXPECT_EQ(row->grid[0], 160);
  EXPECT_EQ(row->block[0], 128);
  EXPECT_EQ(row->registers, 32);
  EXPECT_FLOAT_EQ(row->occupancy, 12.5f);
  const SliceId call = trace.launch_to_device().source(gemm);
  ASSERT_TRUE(call.valid());
  EXPECT_EQ(trace.name(trace.operator_to_launch().source(call)), "matmul compute");

  // Both lanes of a thread are one track; the reader's thread has its name.
  std::vector<std::string> threads;
  for (const Track& track : trace.tracks()) {
    if (track.type == TrackType::Thread) threads.emplace_back(trace.text(track.name));
  }
  EXPECT_EQ(threads, (std::vector<std::string>{"thread 100 (main)", "thread 200 (reader)"}));
  ASSERT_EQ(trace.meta().devices.size(), 1u);
  EXPECT_EQ(trace.meta().devices[0].name, "Written GPU");
  EXPECT_EQ(trace.meta().devices[0].multiprocessors, 80);
  EXPECT_TRUE(trace.meta().record_shapes);
  EXPECT_TRUE(trace.meta().profile_memory);
  EXPECT_TRUE(trace.meta().wall_clock);
  EXPECT_EQ(trace.meta().origin / 1000, static_cast<Nanos>(PaddleWriter::kEpoch / 1000));

  const OperatorRow* add = trace.operators().find(slice_named(trace, "elementwise_add"));
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(trace.text(add->stack), "File 'net.py', line 12, in forward: x = x + y");
  EXPECT_EQ(trace.text(trace.inputs(add->inputs).shapes), R"({"X": [[4, 1, 8]], "Y": [[2, 8]]})");
  // Memory of the program, and what the allocator reserved, apart from each other.
  EXPECT_EQ(trace.allocations().size(), 6u);
  EXPECT_EQ(trace.markers().size(), 2u);
}

TEST(PaddleJson, AndTheDumpAreTheSameTrace) {
  const PaddleWriter writer = test::paddle_training();
  const Trace a = json(writer.json());
  const Trace b = dump(writer.dump());
  ASSERT_EQ(a.slice_count(), b.slice_count());
  for (const SliceId slice : all_slices(a)) {
    EXPECT_EQ(a.name(slice), b.name(slice));
    EXPECT_EQ(a.slices().kind(slice), b.slices().kind(slice));
    EXPECT_EQ(a.slices().start(slice), b.slices().start(slice)) << a.name(slice);
    EXPECT_EQ(a.slices().duration(slice), b.slices().duration(slice)) << a.name(slice);
    EXPECT_EQ(a.slices().parent(slice), b.slices().parent(slice)) << a.name(slice);
  }
  EXPECT_EQ(a.launch_to_device().size(), b.launch_to_device().size());
  EXPECT_EQ(losses(b, "input_cut"), 0u);
}

// Times behind 2.7 s are rounded to 256 ns, those behind 40 s to 4 µs: events stick out of the ones
// around them, and yet belong where they belonged.
TEST(PaddleJson, NestsEventsWhoseTimesAreRounded) {
  for (const std::uint64_t seconds : {3, 40, 3000}) {
    PaddleWriter writer = test::paddle_training(seconds * 1'000'000'000);
    // Operators a few nanoseconds apart, one in the other.
    P::Node& step = writer.threads[0].root.children[1];
    const std::uint64_t at = step.start + 4'700'013;
    for (std::uint64_t i = 0; i < 50; ++i) {
      const std::uint64_t from = at + i * 3'001;
      P::Node& outer = step.child("outer", P::Operator, from, from + 3'000);
      outer.children.reserve(3);
      outer.child("first", P::OperatorInner, from + 7, from + 90);
      outer.child("second", P::OperatorInner, from + 91, from + 2'990);
    }
    const Trace exact = dump(writer.dump());
    const Trace rounded = json(writer.json());
    ASSERT_EQ(exact.slice_count(), rounded.slice_count());
    for (const SliceId slice : all_slices(exact)) {
      if (is_launch_call(exact.slices().kind(slice))) {
        EXPECT_EQ(exact.operator_to_launch().source(slice),
                  rounded.operator_to_launch().source(slice));
        continue;
      }
      EXPECT_EQ(exact.slices().parent(slice), rounded.slices().parent(slice))
          << seconds << " s: " << exact.name(slice) << " " << slice.value;
      // The start is right to a microsecond; a duration below 16 ms is, but for what had to be cut
      // to fit.
      EXPECT_NEAR(static_cast<double>(rounded.slices().start(slice)),
                  static_cast<double>(exact.slices().start(slice)), 2'000)
          << seconds;
    }
    EXPECT_EQ(losses(rounded, "times_disagree"), 0u);
    if (seconds == 3) {
      EXPECT_EQ(operators(rounded), operators(exact));
    }
  }
}

TEST(PaddleJson, TakesNamesAsTheyStand) {
  for (const std::string name : {"say \"hello\"", "a [1.5 us] b", "tab\there", "new\nline",
                                 "c:\\temp\\new", "{\"ph\": \"X\"}", "kernel[0]"}) {
    const Trace trace = json(one_operator(name).json());
    EXPECT_TRUE(slice_named(trace, name).valid()) << name;
    EXPECT_EQ(losses(trace, "event_unreadable"), 0u) << name;
    EXPECT_TRUE(slice_named(trace, "k<float>(int)").valid()) << name;
  }
}

// A name that looks like the end of a name costs its own event, and no other.
TEST(PaddleJson, CountsAnEventWithAHopelessName) {
  const Trace trace = json(one_operator("\", \"pid\": 1").json());
  EXPECT_EQ(losses(trace, "event_unreadable"), 1u);
  EXPECT_TRUE(slice_named(trace, "ProfileStep#0").valid());
  EXPECT_TRUE(slice_named(trace, "k<float>(int)").valid());
}

TEST(PaddleJson, ReadsTheLastEventWithAQuoteInItsName) {
  const std::string text = R"j({"schemaVersion": "1.0.2", "span_indx": "0", "traceEvents": [
    {"name": "a[1.000 us]", "pid": 1, "tid": "5(C++)", "ts": 10, "dur": 1.0, "ph": "X",
     "cat": "Operator", "args": {"start_time": "0.000 us", "end_time": "1.000 us"}},
    {"name": "my "own"[2.000 us]", "pid": 1, "tid": "5(C++)", "ts": 20, "dur": 2.0, "ph": "X",
     "cat": "Operator", "args": {"start_time": "10.000 us", "end_time": "12.000 us"}},
    {}], "ExtraInfo": {"Process Cpu Utilization": "0.5"}})j";
  const Trace trace = json(text);
  EXPECT_TRUE(slice_named(trace, "a").valid());
  EXPECT_TRUE(slice_named(trace, "my \"own\"").valid());
}

TEST(PaddleJson, ReadsNanAndWrappedSizes) {
  PaddleWriter writer = test::paddle_training();
  writer.with_nan = true;
  const Trace trace = json(writer.json());
  const SliceId gemm = slice_named(trace, "void gemm::kernel<float, 64>(float*, int)");
  ASSERT_TRUE(gemm.valid());
  EXPECT_FLOAT_EQ(trace.device_work().find(gemm)->blocks_per_sm, -1.0f);
  EXPECT_FLOAT_EQ(trace.device_work().find(gemm)->warps_per_sm, 8.0f);
  const SliceId copy = slice_named(trace, "MEMCPY_DtoH");
  EXPECT_EQ(trace.device_work().find(copy)->bytes, 3'000'000'000);
  EXPECT_EQ(losses(trace, "bytes_wrapped"), 2u);
}

TEST(PaddleJson, CountsWhatItCannotUse) {
  const auto events = [](const std::string& list) {
    return json(R"({"span_indx": "0", "traceEvents": [)" + list + ", {}]}");
  };
  const std::string good =
      R"j({"name": "a[1.000 us]", "pid": 1, "tid": "5(C++)", "ts": 10, "dur": 1.0, "ph": "X",
          "cat": "Operator"})j";
  EXPECT_EQ(losses(events(good + R"(, {"ph": "Z", "ts": 1})"), "unknown_phase"), 1u);
  EXPECT_EQ(losses(events(good + R"(, {"ph": "X", "name": "b"})"), "time_missing"), 1u);
  EXPECT_EQ(losses(events(good + R"(, {"ph": "X", "name": "b", "ts": 3, "dur": nan})"),
                   "duration_unusable"),
            1u);
  EXPECT_EQ(
      losses(events(good + R"(, {"ph": "i", "name": "[memory]", "ts": 3})"), "memory_unusable"),
      1u);
  const Trace odd =
      events(good + R"(, {"ph": "X", "name": "b[1.000 us]", "ts": 3, "dur": 1, "cat": "NewType"})");
  EXPECT_EQ(losses(odd, "unknown_category"), 1u);
  PaddleRequest request;
  request.views = {"overview"};
  EXPECT_NE(paddle_summary(odd, request).find("NewType"), std::string::npos);
  EXPECT_EQ(losses(events(R"({"name": "k[1.000 us]", "pid": 0, "tid": 7, "ts": 10, "dur": 1.0,
      "ph": "X", "cat": "Kernel", "args": {"correlation id": 8}})"),
                   "device_work_without_launch"),
            1u);
  EXPECT_EQ(losses(events(R"({"name": "a", "pid": 1, "tid": 5, "ts": 10, "dur": 1.0, "ph": "X",
      "cat": "Operator", "args": {"start_time": "0.000 us"}}, {"name": "b", "pid": 1, "tid": 5,
      "ts": 5000000, "dur": 1.0, "ph": "X", "cat": "Operator",
      "args": {"start_time": "7.000 us"}})"),
                   "times_disagree"),
            1u);
}

TEST(PaddleJson, IsReadUpToACut) {
  const std::string whole = test::paddle_training().json();
  std::size_t most = 0;
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const Result<Trace> trace = test::try_import(whole.substr(0, size), import_paddle_json);
    if (!trace) {
      EXPECT_FALSE(trace.error().text().empty());
      continue;
    }
    EXPECT_GE(trace->slice_count(), most);
    most = trace->slice_count();
  }
  EXPECT_GT(most, 40u);
}

TEST(PaddleDump, IsReadUpToACut) {
  const std::string whole = test::paddle_training().dump();
  const std::size_t all = dump(whole).slice_count();
  std::size_t most = 0;
  for (std::size_t size = 0; size < whole.size(); size += 13) {
    const Result<Trace> trace = test::try_import(whole.substr(0, size), import_paddle_dump);
    if (!trace) {
      EXPECT_FALSE(trace.error().text().empty());
      continue;
    }
    EXPECT_GE(trace->slice_count(), most) << size;
    EXPECT_LE(trace->slice_count(), all);
    most = trace->slice_count();
  }
  EXPECT_EQ(most, all);
}

TEST(PaddleDump, SurvivesDamage) {
  const std::string whole = test::paddle_training().dump();
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
    const Result<Trace> trace = test::try_import(damaged, import_paddle_dump);
    if (!trace) continue;
    for (const SliceId slice : all_slices(*trace)) EXPECT_GE(trace->slices().duration(slice), 0);
    EXPECT_FALSE(paddle_summary(*trace, {}).empty());
  }
}

TEST(PaddleDump, DoesNotBelieveHugeLengths) {
  // A thread tree of 2^63 bytes that ends after two.
  const std::string text(
      "\x0A\x05"
      "1.0.2\x10\x00\x1A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F\x08\x05",
      21);
  const Result<Trace> trace = test::try_import(text, import_paddle_dump);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::BrokenInput);
}

TEST(PaddleDump, MendsBytesThatAreNoUtf8) {
  const Trace trace = dump(one_operator("bad \xFF name").dump());
  EXPECT_TRUE(slice_named(trace, "bad \xEF\xBF\xBD name").valid());
  EXPECT_EQ(losses(trace, "invalid_utf8"), 1u);
}

TEST(PaddleNames, LoseTheirDuration) {
  EXPECT_EQ(paddle_event_name("relu dygraph[250.000 us]"), "relu dygraph");
  EXPECT_EQ(paddle_event_name("a[0][1.050 ms]"), "a[0]");
  EXPECT_EQ(paddle_event_name("a[0]"), "a[0]");
  EXPECT_EQ(paddle_event_name("a[in us]"), "a[in us]");
  EXPECT_EQ(paddle_event_name("a[nan us]"), "a");
  EXPECT_EQ(paddle_event_name(""), "");
}

TEST(PaddleNames, AreUnescapedOnlyWhereSomebodyEscapedThem) {
  std::string scratch;
  EXPECT_EQ(paddle_text(R"(a\"b\\c)", scratch), R"(a"b\c)");
  EXPECT_EQ(paddle_text("c:\\new\\u00e9", scratch), "c:\\new\xC3\xA9");
  EXPECT_EQ(paddle_text("\\ud83d\\ude00", scratch), "\xF0\x9F\x98\x80");
  EXPECT_EQ(paddle_text("\\", scratch), "\\");
}

TEST(PaddleStack, HasTheInnermostFrameFirst) {
  EXPECT_EQ(paddle_stack("  File 'a.py', line 1, in f\\n    g()\\n  File 'b.py', line 2, in g\\n"),
            "File 'b.py', line 2, in g;File 'a.py', line 1, in f: g()");
  EXPECT_EQ(paddle_stack("one\ntwo"), "one: two");
  EXPECT_EQ(paddle_stack(""), "");
}

}  // namespace
}  // namespace sonde
