#include <gtest/gtest.h>

#include <string>

#include "import/perfetto/perfetto.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/perfetto_file.hpp"
#include "tests/support/perfetto_traces.hpp"

namespace sonde {
namespace {

using protozero::pbf_writer;
using test::losses;
using test::PerfettoFile;
using test::read_perfetto;
using test::slice_named;
using test::with_threads;

TEST(PerfettoImport, SlicesNestOnNamedThreads) {
  PerfettoFile file = with_threads();
  file.event(100, 11, 1, "outer").event(110, 11, 1, "inner").event(150, 11, 2).event(200, 11, 2);
  const Trace trace = read_perfetto(file);
  ASSERT_EQ(trace.slice_count(), 2u);
  const SliceId outer = slice_named(trace, "outer");
  const SliceId inner = slice_named(trace, "inner");
  EXPECT_EQ(trace.slices().duration(outer), 100);
  EXPECT_EQ(trace.slices().start(inner), 10);
  EXPECT_EQ(trace.slices().duration(inner), 40);
  EXPECT_EQ(trace.slices().parent(inner), outer);
  const Track& track = trace.track(trace.slices().track(outer));
  EXPECT_EQ(track.type, TrackType::Thread);
  EXPECT_EQ(track.pid, 77);
  EXPECT_EQ(track.tid, 78);
  EXPECT_EQ(trace.text(track.name), "main");
  EXPECT_EQ(trace.text(track.process), "train");
  EXPECT_TRUE(trace.losses().empty());
}

TEST(PerfettoImport, PacketsMayComeInAnyOrder) {
  PerfettoFile file;
  file.event(200, 11, 2).event(110, 11, 1, "inner").event(150, 11, 2).event(100, 11, 1, "outer");
  file.thread(11, 0, 5, 6, "late name");
  const Trace trace = read_perfetto(file);
  EXPECT_EQ(trace.slices().duration(slice_named(trace, "outer")), 100);
  EXPECT_EQ(trace.slices().duration(slice_named(trace, "inner")), 40);
  EXPECT_EQ(trace.text(trace.tracks()[0].name), "late name");
  EXPECT_TRUE(trace.losses().empty());
}

TEST(PerfettoImport, HalvesWithoutTheirOtherHalfAreCounted) {
  PerfettoFile file = with_threads();
  file.event(100, 11, 2).event(110, 11, 1, "open").event(150, 11, 1, "open too");
  const Trace trace = read_perfetto(file);
  EXPECT_EQ(losses(trace, "end_without_begin"), 1u);
  EXPECT_EQ(losses(trace, "begin_without_end"), 2u);
  EXPECT_EQ(trace.slices().duration(slice_named(trace, "open")), 40);
}

TEST(PerfettoImport, FlowsFromACallToDeviceWorkAreLaunches) {
  PerfettoFile file = with_threads();
  const auto flow = [](std::uint64_t id) { return [id](pbf_writer& e) { e.add_fixed64(47, id); }; };
  file.event(100, 11, 1, "aten::add", {}, "cpu_op");
  file.slice(110, 120, 11, "cudaLaunchKernel", "cuda_runtime", flow(900));
  file.event(130, 11, 2);
  file.slice(300, 400, 13, "add_kernel", "kernel", [](pbf_writer& e) { e.add_fixed64(48, 900); });
  file.slice(500, 510, 11, "a", {}, flow(5)).slice(520, 530, 11, "b", {}, flow(5));
  const Trace trace = read_perfetto(file);
  const SliceId call = slice_named(trace, "cudaLaunchKernel");
  const SliceId kernel = slice_named(trace, "add_kernel");
  EXPECT_EQ(trace.slices().kind(kernel), SliceKind::Kernel);
  EXPECT_EQ(trace.launch_to_device().source(kernel), call);
  EXPECT_EQ(trace.operator_to_launch().source(call), slice_named(trace, "aten::add"));
  EXPECT_EQ(trace.flows().source(slice_named(trace, "b")), slice_named(trace, "a"));
  EXPECT_EQ(trace.flows().size(), 1u);
  const Track& stream = trace.track(trace.slices().track(kernel));
  EXPECT_EQ(stream.type, TrackType::Stream);
  EXPECT_EQ(stream.device, 1);
  EXPECT_EQ(stream.tid, 7);
  EXPECT_EQ(stream.pid, 77);
  EXPECT_EQ(trace.device_work().find(kernel)->device, 1);
  EXPECT_EQ(trace.device_work().find(kernel)->stream, 7);
  EXPECT_TRUE(trace.losses().empty());
}

TEST(PerfettoImport, AnnotationsBecomeArgumentsAndRows) {
  PerfettoFile file = with_threads();
  file.event(
      1, 11, 1, "work",
      [](pbf_writer& e) {
        PerfettoFile::annotate(e, "n", [](pbf_writer& a) { a.add_int64(4, -3); });
        PerfettoFile::annotate(e, "big", [](pbf_writer& a) { a.add_uint64(3, UINT64_MAX); });
        PerfettoFile::annotate(e, "x", [](pbf_writer& a) { a.add_double(5, 0.5); });
        PerfettoFile::annotate(e, "s", [](pbf_writer& a) { a.add_string(6, "text"); });
        PerfettoFile::annotate(e, "b", [](pbf_writer& a) { a.add_bool(2, true); });
        PerfettoFile::annotate(e, "p", [](pbf_writer& a) { a.add_uint64(7, 255); });
        PerfettoFile::annotate(e, "d", [](pbf_writer& a) {
          for (const char* key : {"one", "two"}) {
            a.add_message(
                11, PerfettoFile::message([&](pbf_writer& c) {
                  c.add_string(10, key);
                  c.add_message(12,
                                PerfettoFile::message([](pbf_writer& l) { l.add_int64(4, 1); }));
                  c.add_message(12,
                                PerfettoFile::message([](pbf_writer& l) { l.add_bool(2, false); }));
                }));
          }
        });
      },
      "mine,too");
  file.event(9, 11, 2, {}, [](pbf_writer& e) {
    PerfettoFile::annotate(e, "at end", [](pbf_writer& a) { a.add_int64(4, 7); });
  });
  file.slice(20, 30, 13, "k", "kernel", [](pbf_writer& e) {
    PerfettoFile::annotate(e, "grid", [](pbf_writer& a) { a.add_string(9, "[2, 3,4]"); });
    PerfettoFile::annotate(e, "correlation", [](pbf_writer& a) { a.add_int64(4, 12); });
    PerfettoFile::annotate(e, "mine", [](pbf_writer& a) { a.add_int64(4, 13); });
  });
  const Trace trace = read_perfetto(file);
  const SliceId work = slice_named(trace, "work");
  const auto args = trace.arguments().of(work);
  ASSERT_EQ(args.size(), 8u);
  EXPECT_EQ(args[0].integer(), -3);
  EXPECT_EQ(args[1].type(), ArgType::Json);
  EXPECT_EQ(trace.text(args[1].text()), "18446744073709551615");
  EXPECT_EQ(args[2].real(), 0.5);
  EXPECT_EQ(args[3].type(), ArgType::Text);
  EXPECT_EQ(trace.text(args[3].text()), "text");
  EXPECT_EQ(args[4].type(), ArgType::Json);
  EXPECT_EQ(trace.text(args[4].text()), "true");
  EXPECT_EQ(trace.text(args[5].text()), "0xff");
  EXPECT_EQ(trace.text(args[6].text()), R"({"one":[1,false],"two":[1,false]})");
  EXPECT_EQ(trace.text(args[7].key()), "at end");
  EXPECT_EQ(trace.text(*trace.categories().find(work)), "mine,too");
  EXPECT_EQ(trace.slices().kind(work), SliceKind::Other);
  const SliceId kernel = slice_named(trace, "k");
  EXPECT_EQ(trace.device_work().find(kernel)->grid, (std::array<std::int32_t, 3>{2, 3, 4}));
  EXPECT_EQ(trace.device_work().find(kernel)->correlation, 12);
  ASSERT_EQ(trace.arguments().of(kernel).size(), 1u);
  EXPECT_EQ(trace.arguments().of(kernel)[0].integer(), 13);
}

TEST(PerfettoImport, CountersScaleAddUpAndRideOnEvents) {
  PerfettoFile file = with_threads();
  const auto counter = [](std::string_view name, bool incremental, std::int64_t multiplier) {
    return [=](pbf_writer& t) {
      t.add_uint64(5, 10);
      t.add_string(2, name.data(), name.size());
      t.add_message(8, PerfettoFile::message([&](pbf_writer& c) {
                      c.add_enum(3, 3);
                      c.add_int64(4, multiplier);
                      c.add_bool(5, incremental);
                    }));
    };
  };
  file.track(20, counter("memory", false, 1024)).track(21, counter("sum", true, 1));
  file.event(10, 20, 4, {}, [](pbf_writer& e) { e.add_int64(30, 3); });
  file.event(11, 20, 4, {}, [](pbf_writer& e) { e.add_double(44, 0.5); });
  file.event(12, 21, 4, {}, [](pbf_writer& e) { e.add_int64(30, 5); });
  file.event(13, 11, 1, "slice", [](pbf_writer& e) {
    e.add_uint64(31, 21);
    e.add_int64(12, -2);
  });
  file.event(14, 11, 2).event(15, 20, 4);
  const Trace trace = read_perfetto(file);
  ASSERT_EQ(trace.counters().size(), 4u);
  EXPECT_EQ(trace.counters()[0].value, 3072);
  EXPECT_EQ(trace.counters()[1].value, 512);
  EXPECT_EQ(trace.counters()[2].value, 5);
  EXPECT_EQ(trace.counters()[3].value, 3);
  EXPECT_EQ(trace.counters()[3].time, 3);
  EXPECT_EQ(trace.text(trace.counters()[0].counter), "memory");
  EXPECT_EQ(trace.track(trace.counters()[0].track).type, TrackType::Counter);
  EXPECT_EQ(trace.track(trace.counters()[0].track).pid, 77);
  EXPECT_EQ(losses(trace, "counters_without_value"), 1u);
}

TEST(PerfettoImport, InstantsKeepScopeCategoryAndArguments) {
  PerfettoFile file = with_threads();
  const auto fill = [](pbf_writer& e) {
    PerfettoFile::annotate(e, "k", [](pbf_writer& a) { a.add_int64(4, 1); });
  };
  file.event(5, 11, 3, "here", fill, "cat").event(6, 10, 3, "process").event(7, 0, 3, "all");
  const Trace trace = read_perfetto(file);
  ASSERT_EQ(trace.markers().size(), 3u);
  EXPECT_EQ(trace.markers()[0].scope, 't');
  EXPECT_EQ(trace.markers()[1].scope, 'p');
  EXPECT_EQ(trace.markers()[2].scope, 'g');
  EXPECT_EQ(trace.text(trace.markers()[0].category), "cat");
  EXPECT_EQ(trace.marker_arguments().of(MarkerId(std::uint32_t{0})).size(), 1u);
}

// What Perfetto's own library writes: interned names, defaults, a clock that counts differences.
TEST(PerfettoImport, InternedNamesDefaultsAndIncrementalClocks) {
  PerfettoFile file;
  const auto clock = [](std::uint32_t id, std::uint64_t time, bool incremental,
                        std::uint64_t unit) {
    return PerfettoFile::message([&](pbf_writer& c) {
      c.add_uint32(1, id);
      c.add_uint64(2, time);
      c.add_bool(3, incremental);
      if (unit != 0) c.add_uint64(4, unit);
    });
  };
  file.packet([&](pbf_writer& p) {
    p.add_uint32(10, 3);
    p.add_uint32(13, 1);
    p.add_message(59, PerfettoFile::message([](pbf_writer& d) {
                    d.add_uint32(58, 64);
                    d.add_message(
                        11, PerfettoFile::message([](pbf_writer& t) { t.add_uint64(11, 11); }));
                  }));
    p.add_message(6, PerfettoFile::message([&](pbf_writer& s) {
                    s.add_message(1, clock(64, 5, true, 1000));
                    s.add_message(1, clock(6, 1'000'000, false, 0));
                    s.add_message(1, clock(1, 1'700'000'000'000'000'000, false, 0));
                  }));
  });
  const auto interned = [](std::uint64_t iid, std::string_view text) {
    return PerfettoFile::message([&](pbf_writer& e) {
      e.add_uint64(1, iid);
      e.add_string(2, text.data(), text.size());
    });
  };
  const auto event = [&](std::uint64_t delta, int type, bool names) {
    file.packet([&](pbf_writer& p) {
      p.add_uint64(8, delta);
      p.add_uint32(10, 3);
      p.add_uint32(13, 2);
      if (names) {
        p.add_message(12, PerfettoFile::message([&](pbf_writer& i) {
                        i.add_message(1, interned(1, "cpu_op"));
                        i.add_message(2, interned(1, "aten::mul"));
                        i.add_message(3, interned(1, "why"));
                        i.add_message(29, interned(4, "because"));
                      }));
      }
      p.add_message(11, PerfettoFile::message([&](pbf_writer& e) {
                      e.add_enum(9, type);
                      if (type != 1) return;
                      e.add_uint64(3, 1);
                      e.add_uint64(10, 1);
                      e.add_message(4, PerfettoFile::message([](pbf_writer& a) {
                                      a.add_uint64(1, 1);
                                      a.add_uint64(17, 4);
                                    }));
                    }));
    });
  };
  event(2, 1, true);
  event(3, 2, false);
  event(4, 1, false);
  event(1, 2, false);
  // Another sequence that refers to names without having begun its state.
  file.packet([](pbf_writer& p) {
    p.add_uint64(8, 1);
    p.add_uint32(10, 9);
    p.add_uint32(13, 2);
    p.add_message(11, PerfettoFile::message([](pbf_writer& e) { e.add_uint64(10, 1); }));
  });
  const Trace trace = read_perfetto(file);
  ASSERT_EQ(trace.slice_count(), 2u);
  EXPECT_EQ(trace.name(SliceId(std::uint32_t{0})), "aten::mul");
  EXPECT_EQ(trace.slices().kind(SliceId(std::uint32_t{0})), SliceKind::Operator);
  EXPECT_EQ(trace.slices().duration(SliceId(std::uint32_t{0})), 3000);
  EXPECT_EQ(trace.slices().start(SliceId(std::uint32_t{1})), 7000);
  EXPECT_EQ(trace.meta().origin, 1'002'000);
  EXPECT_TRUE(trace.meta().wall_clock);
  EXPECT_EQ(trace.meta().base_time, 1'700'000'000'000'000'000 - 1'000'000);
  const auto args = trace.arguments().of(SliceId(std::uint32_t{1}));
  ASSERT_EQ(args.size(), 1u);
  EXPECT_EQ(trace.text(args[0].key()), "why");
  EXPECT_EQ(trace.text(args[0].text()), "because");
  EXPECT_EQ(losses(trace, "packets_without_state"), 1u);
  EXPECT_EQ(losses(trace, "undescribed_tracks"), 1u);
}

TEST(PerfettoImport, AllocationsAndSamplesThatSondeWrote) {
  PerfettoFile file = with_threads();
  file.track(30, [](pbf_writer& t) {
    t.add_string(2, "allocated, device 0");
    t.add_message(8, std::string());
  });
  const auto stack = [](pbf_writer& e) {
    e.add_message(55, PerfettoFile::message([](pbf_writer& c) {
                    for (const char* name : {"main", "leaf"}) {
                      c.add_message(1, PerfettoFile::message([&](pbf_writer& f) {
                                      f.add_string(1, name);
                                      f.add_string(2, "a.py");
                                      f.add_uint32(3, 4);
                                    }));
                    }
                  }));
    PerfettoFile::annotate(e, "weight", [](pbf_writer& a) { a.add_double(5, 2.5); });
  };
  file.event(
      10, 11, 3, "[memory]",
      [](pbf_writer& e) {
        PerfettoFile::annotate(e, "Bytes", [](pbf_writer& a) { a.add_int64(4, -64); });
        PerfettoFile::annotate(e, "Device Id", [](pbf_writer& a) { a.add_int64(4, 0); });
        PerfettoFile::annotate(e, "Device Type", [](pbf_writer& a) { a.add_int64(4, 1); });
        PerfettoFile::annotate(e, "Total Allocated", [](pbf_writer& a) { a.add_int64(4, 9); });
        PerfettoFile::annotate(e, "tag", [](pbf_writer& a) { a.add_string(6, "x"); });
      },
      "memory");
  file.event(10, 30, 4, {}, [](pbf_writer& e) { e.add_double(44, 9); });
  file.event(20, 11, 3, "cpu", stack, "sample").event(30, 11, 3, "mark", stack, "other");
  const Trace trace = read_perfetto(file);
  ASSERT_EQ(trace.allocations().size(), 1u);
  EXPECT_EQ(trace.allocations()[0].bytes, -64);
  EXPECT_EQ(trace.allocations()[0].device, 0);
  EXPECT_EQ(trace.allocations()[0].total_allocated, 9);
  EXPECT_EQ(trace.text(trace.allocations()[0].tag), "x");
  EXPECT_TRUE(trace.counters().empty());
  ASSERT_EQ(trace.samples().size(), 1u);
  EXPECT_EQ(trace.samples()[0].weight, 2.5);
  const StackFrame& leaf = trace.stacks()[trace.samples()[0].stack.index()];
  EXPECT_EQ(trace.text(leaf.function), "leaf");
  EXPECT_EQ(trace.text(trace.stacks()[leaf.caller.index()].function), "main");
  EXPECT_EQ(trace.text(trace.sample_types()[0].name), "cpu");
  ASSERT_EQ(trace.markers().size(), 1u);
  const auto args = trace.marker_arguments().of(MarkerId(std::uint32_t{0}));
  EXPECT_EQ(trace.text(args.back().text()), "leaf (a.py:4);main (a.py:4)");
}

TEST(PerfettoImport, FurtherLanesOfATrackComeTogether) {
  PerfettoFile file = with_threads();
  file.named_track(40, 10, "main (overlap 1)").named_track(41, 12, "other (overlap 1)");
  file.slice(1, 10, 11, "a").slice(5, 15, 40, "b").slice(1, 2, 41, "c");
  const Trace trace = read_perfetto(file);
  const auto track = [&](const char* name) {
    return trace.slices().track(slice_named(trace, name));
  };
  EXPECT_EQ(track("a"), track("b"));
  EXPECT_NE(track("a"), track("c"));
  EXPECT_FALSE(trace.slices().parent(slice_named(trace, "b")).valid());
}

}  // namespace
}  // namespace sonde
