#include "analysis/torch_averages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "report/styles/torch.hpp"
#include "trace/builder.hpp"

namespace sonde {
namespace {

// A recording as PyTorch writes it, in nanoseconds. Thread 1 is the main thread of process 1.
class Recording {
 public:
  Recording() {
    add("PyTorch Profiler (0)", 0, 1'000'001, 900, SliceKind::Span);
    builder_.meta().device_family = "CUDA";
  }

  TraceBuilder& builder() { return builder_; }

  SliceId op(const std::string& name, Nanos start, Nanos end, std::int64_t id, OperatorRow row = {},
             std::int64_t thread = 1) {
    row.external_id = id;
    const SliceId slice = add(name, start, end, thread, SliceKind::Operator);
    builder_.add_operator(slice, row);
    return slice;
  }
  void range(const std::string& name, Nanos start, Nanos end, std::int64_t id) {
    OperatorRow row;
    row.external_id = id;
    row.is_annotation = true;
    builder_.add_operator(add(name, start, end, 1, SliceKind::UserRange), row);
  }
  SliceId call(Nanos start, Nanos end, std::int64_t correlation, std::int64_t op,
               std::int64_t thread = 1) {
    const SliceId slice = add("cudaLaunchKernel", start, end, thread, SliceKind::Runtime);
    builder_.add_launch(slice, {correlation, op, kNoNumber});
    return slice;
  }
  void overhead(Nanos start, Nanos end) {
    builder_.add_launch(add("Buffer Flush", start, end, 901, SliceKind::Overhead), {});
  }
  SliceId kernel(const std::string& name, Nanos start, Nanos end, std::int64_t correlation,
                 std::int64_t op, SliceKind kind = SliceKind::Kernel) {
    DeviceRow row;
    row.correlation = correlation;
    row.external_id = op;
    const SliceId slice = add(name, start, end, 907, kind);
    builder_.add_device_work(slice, row);
    return slice;
  }
  void python(const std::string& name, Nanos start, Nanos end) {
    builder_.add_python(add(name, start, end, 1, SliceKind::PythonFunction), {});
  }
  void allocation(Nanos time, std::int64_t bytes, bool out_of_memory = false) {
    Allocation record;
    record.time = time;
    record.bytes = bytes;
    record.track = track(1);
    record.out_of_memory = out_of_memory;
    builder_.add_allocation(record);
  }
  void backward_link(SliceId forward, SliceId backward) { links_.emplace_back(forward, backward); }

  void launch_link(SliceId op, SliceId call, SliceId kernel) {
    launches_.push_back({op, call, kernel});
  }

  Trace finish() {
    builder_.nest(1);
    for (const auto& [op, call, kernel] : launches_) {
      builder_.add_operator_link(op, call);
      builder_.add_launch_link(call, kernel);
    }
    for (const auto& [from, to] : links_) builder_.add_backward_link(from, to);
    return builder_.finish();
  }

 private:
  TrackId track(std::int64_t thread) {
    const auto known = tracks_.find(thread);
    if (known != tracks_.end()) return known->second;
    Track track;
    track.pid = 1;
    track.tid = thread;
    return tracks_[thread] = builder_.add_track(track);
  }
  SliceId add(const std::string& name, Nanos start, Nanos end, std::int64_t thread,
              SliceKind kind) {
    return builder_.add_slice(start, end - start, track(thread), builder_.intern(name), kind);
  }

  TraceBuilder builder_;
  std::map<std::int64_t, TrackId> tracks_;
  std::vector<std::pair<SliceId, SliceId>> links_;
  std::vector<std::array<SliceId, 3>> launches_;
};

const TorchAverage* find(const TorchAverages& averages, const std::string& name,
                         bool device = false) {
  for (const TorchAverage& group : averages.groups) {
    if (group.name == name && group.device == device) return &group;
  }
  ADD_FAILURE() << "no group " << name;
  static const TorchAverage kNothing;
  return &kNothing;
}

TEST(TorchAverages, KernelCountsForItsOperatorAndForItself) {
  Recording r;
  r.op("aten::linear", 1000, 9000, 1);
  r.op("aten::mm", 2000, 8000, 2);
  r.call(3000, 4000, 50, 2);
  r.kernel("gemm", 5000, 9500, 50, 2);
  const TorchAverages averages = torch_averages(r.finish());
  EXPECT_EQ(find(averages, "aten::linear")->sum.device, 4.5);
  EXPECT_EQ(find(averages, "aten::linear")->sum.self_device, 0);
  EXPECT_EQ(find(averages, "aten::mm")->sum.self_device, 4.5);
  EXPECT_EQ(find(averages, "aten::mm")->sum.self_cpu, 5);
  EXPECT_EQ(find(averages, "gemm", true)->sum.self_device, 4.5);
  EXPECT_EQ(find(averages, "gemm", true)->sum.cpu, 0);
}

TEST(TorchAverages, StepsShareOneRowAndInternalNamesAreDropped) {
  Recording r;
  r.range("ProfilerStep#1", 0, 100, 1);
  r.range("ProfilerStep#2", 100, 200, 2);
  for (const char* name : {"aten::is_leaf", "aten::output_nr", "aten::_version",
                           "profiler::_record_function_enter_new"}) {
    r.op(name, 10, 20, 3);
  }
  const TorchAverages averages = torch_averages(r.finish());
  ASSERT_EQ(averages.groups.size(), 1u);
  EXPECT_EQ(averages.groups[0].name, "ProfilerStep*");
  EXPECT_EQ(averages.groups[0].calls, 2u);
}

TEST(TorchAverages, RangeOnTheDeviceIsARowOfItsOwnWithoutTheTicksThatTheFileAdds) {
  Recording r;
  r.range("forward", 1000, 9000, 1);
  r.kernel("gemm", 5001, 6001, 50, 1);
  r.kernel("forward", 5000, 6002, kNoNumber, 1, SliceKind::DeviceRange);
  const Trace trace = r.finish();
  const TorchAverages averages = torch_averages(trace);
  EXPECT_EQ(find(averages, "forward", true)->sum.self_device, 1);
  EXPECT_EQ(find(averages, "forward", false)->sum.device, 1);
  // The kernel stands first, though both cover the same time.
  EXPECT_EQ(averages.groups[1].name, "gemm");
}

TEST(TorchAverages, RangeOfAFileWithWholeMicrosecondsIsOneMicrosecondWiderAtBothEnds) {
  TraceBuilder builder;
  const TrackId track = builder.add_track({});
  builder.add_slice(5000, 4000, track, builder.intern("forward"), SliceKind::DeviceRange);
  builder.nest(1);
  EXPECT_EQ(find(torch_averages(builder.finish()), "forward", true)->sum.self_device, 2);
}

TEST(TorchAverages, WrongOperatorIdsOfOldFilesAreNotLookedUp) {
  Recording r;
  // The call's ids say operator 1; it lies in operator 2.
  r.op("aten::relu", 0, 1000, 1);
  const SliceId mm = r.op("aten::mm", 1000, 9001, 2);
  const SliceId call = r.call(2000, 3000, 1, 1);
  r.launch_link(mm, call, r.kernel("gemm", 4000, 5000, 1, 1));
  const TorchAverages averages = torch_averages(r.finish());
  EXPECT_EQ(find(averages, "aten::relu")->sum.device, 0);
  EXPECT_EQ(find(averages, "aten::mm")->sum.device, 1);
}

TEST(TorchAverages, CallWithoutOperatorCountsOnTheMainThread) {
  Recording r;
  r.op("aten::mm", 1000, 9000, 1);
  r.op("aten::relu", 1000, 9000, 2, {}, 7);
  r.call(2000, 3001, 50, kNoNumber, 7);
  const TorchAverages averages = torch_averages(r.finish());
  EXPECT_NEAR(find(averages, "aten::mm")->sum.self_cpu, 6.999, 1e-9);
  EXPECT_EQ(find(averages, "aten::relu")->sum.self_cpu, 8);
}

TEST(TorchAverages, OperatorStandsBeforeACallThatCoversTheSameTime) {
  Recording r;
  r.call(1000, 2001, 50, 1);
  r.op("aten::mm", 1000, 2001, 1);
  const TorchAverages averages = torch_averages(r.finish());
  ASSERT_EQ(averages.groups.size(), 2u);
  EXPECT_EQ(averages.groups[0].name, "aten::mm");
  EXPECT_EQ(averages.groups[0].sum.self_cpu, 0);
}

TEST(TorchAverages, OverheadInsideOfAnOperatorIsCreditedWithItsKernelsToo) {
  Recording r;
  r.op("aten::mm", 1000, 9000, 1);
  r.call(2000, 3001, 50, 1);
  r.overhead(4000, 5000);
  r.kernel("gemm", 6000, 7000, 50, 1);
  const TorchAverages averages = torch_averages(r.finish());
  EXPECT_EQ(find(averages, "Buffer Flush")->sum.self_device, 1);
  EXPECT_EQ(find(averages, "aten::mm")->sum.device, 2);
}

TEST(TorchAverages, CollectiveIsAsynchronousAndDoesNotNest) {
  Recording r;
  r.op("aten::mm", 1000, 9001, 1);
  r.range("nccl:all_reduce", 2000, 3000, 2);
  const TorchAverages averages = torch_averages(r.finish());
  EXPECT_TRUE(find(averages, "nccl:all_reduce")->async);
  EXPECT_EQ(find(averages, "nccl:all_reduce")->sum.self_cpu, 0);
  EXPECT_EQ(find(averages, "aten::mm")->sum.self_cpu, find(averages, "aten::mm")->sum.cpu);
}

TEST(TorchAverages, AllocationOutsideOfAllEventsIsARow) {
  Recording r;
  r.op("aten::empty", 1000, 9001, 1);
  r.allocation(1000, 64);
  r.allocation(9001, -16);
  r.allocation(9002, -48);
  r.allocation(5000, 1 << 20, true);
  const TorchAverages averages = torch_averages(r.finish());
  EXPECT_EQ(find(averages, "aten::empty")->sum.cpu_bytes, 48);
  EXPECT_EQ(find(averages, "[memory]")->sum.self_cpu_bytes, -48);
  EXPECT_EQ(find(averages, "[OutOfMemory]")->sum.cpu_bytes, 1 << 20);
}

TEST(TorchAverages, ShapesPartTheRowsOfAnOperator) {
  Recording r;
  const auto with_shapes = [&](const char* shapes) {
    OperatorRow row;
    OperatorInputs inputs;
    inputs.shapes = r.builder().intern(shapes);
    inputs.types = r.builder().intern(R"(["float", "float"])");
    row.inputs = r.builder().intern_inputs(inputs);
    return row;
  };
  r.op("aten::mm", 0, 10, 1, with_shapes("[[2,3],[3,4]]"));
  r.op("aten::mm", 20, 30, 2, with_shapes("[[5, 3], [3, 4]]"));
  r.op("aten::mm", 40, 51, 3, with_shapes("[[2, 3], [3, 4]]"));
  const Trace trace = r.finish();
  const TorchAverages by_name = torch_averages(trace);
  ASSERT_EQ(by_name.groups.size(), 1u);
  EXPECT_EQ(by_name.groups[0].flops, 2u * (2 * 2 * 3 * 4 + 5 * 3 * 4));
  const TorchAverages by_shape = torch_averages(trace, {true, 0});
  ASSERT_EQ(by_shape.groups.size(), 2u);
  EXPECT_EQ(by_shape.groups[0].shapes, "[[2, 3], [3, 4]]");
  EXPECT_EQ(by_shape.groups[0].calls, 2u);
}

TEST(TorchAverages, BackwardOperatorHasTheStackOfItsForwardOperator) {
  Recording r;
  OperatorRow forward;
  forward.sequence = 5;
  OperatorRow backward;
  backward.sequence = 5;
  backward.forward_thread = 1;
  r.python("train.py(3): main", 0, 5001);
  r.python("model.py(7): forward", 1000, 2001);
  const SliceId from = r.op("aten::mm", 1100, 1200, 1, forward);
  r.python("torch/autograd/__init__.py(9): backward", 2500, 4001);
  const SliceId to = r.op("MmBackward0", 3000, 3101, 2, backward, 7);
  r.op("aten::add", 3000, 3101, 3);
  r.backward_link(from, to);
  const TorchAverages averages = torch_averages(r.finish(), {false, 5});
  const std::vector<std::string> expected = {"model.py(7): forward", "train.py(3): main"};
  EXPECT_EQ(find(averages, "aten::mm")->stack, expected);
  EXPECT_EQ(find(averages, "MmBackward0")->stack, expected);
  // The frame of the autograd machinery is left out.
  EXPECT_EQ(find(averages, "aten::add")->stack, (std::vector<std::string>{"train.py(3): main"}));
}

TEST(TorchAverages, CallStackOfOldFilesIsUsedWhereThereAreNoPythonFunctions) {
  Recording r;
  OperatorRow row;
  row.stack = r.builder().intern("a.py(1): f;b.py(2): g;c.py(3): h");
  r.op("aten::mm", 0, 11, 1, row);
  const TorchAverages averages = torch_averages(r.finish(), {false, 2});
  EXPECT_EQ(averages.groups[0].stack, (std::vector<std::string>{"a.py(1): f", "b.py(2): g"}));
}

NamedTrace named(Trace trace) { return {".", "w", "w.json", std::move(trace)}; }

TEST(TorchTable, EmptyTraceGivesAnEmptyText) {
  const Result<std::string> text = torch_table(named(TraceBuilder().finish()), {});
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "");
}

TEST(TorchTable, UnknownSortKeyIsAnErrorOfUsageThatNamesTheRightOnes) {
  TorchTableRequest request;
  request.sort_by = "self_cpu_tim_total";
  const Result<std::string> text = torch_table(named(TraceBuilder().finish()), request);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::UsageError);
  for (const std::string& key : torch_sort_keys()) {
    EXPECT_NE(text.error().text().find(key), std::string::npos) << key;
  }
}

TEST(TorchTable, EverySortKeyAndEverySpellingOfTheDeviceIsKnown) {
  Recording r;
  r.op("aten::mm", 0, 11, 1);
  const NamedTrace trace = named(r.finish());
  std::vector<std::string> keys = torch_sort_keys();
  keys.insert(keys.end(), {"self_xpu_time_total", "device_time", "privateuse1_memory_usage"});
  for (const std::string& key : keys) {
    TorchTableRequest request;
    request.sort_by = key;
    EXPECT_TRUE(torch_table(trace, request)) << key;
    EXPECT_TRUE(torch_averages_table(trace, request)) << key;
  }
}

TEST(TorchTable, TopLevelRowsAndHeaderStandUnderARule) {
  Recording r;
  r.op("outer", 0, 100, 1);
  r.op("inner", 10, 21, 2);
  TorchTableRequest request;
  request.top_level_events_only = true;
  request.header = "My model";
  const Result<std::string> text = torch_table(named(r.finish()), request);
  ASSERT_TRUE(text);
  const std::string rule(9 + 6 * 14, '=');
  EXPECT_TRUE(text->starts_with(rule + "\nMy model\n" + rule +
                                "\nThis report only display top-level ops statistics\n---"));
  EXPECT_NE(text->find("outer"), std::string::npos);
  EXPECT_EQ(text->find("inner"), std::string::npos);
}

TEST(TorchTable, NamesCannotBreakTheTerminal) {
  Recording r;
  r.op("evil\x1b[2J\nname", 0, 11, 1);
  const Result<std::string> text = torch_table(named(r.finish()), {});
  ASSERT_TRUE(text);
  EXPECT_EQ(text->find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(text->begin(), text->end(), '\n'), 6);
}

TEST(TorchTable, NumbersForProgramsAreNanosecondsAndBytes) {
  Recording r;
  r.builder().meta().profile_memory = true;
  r.op("aten::empty", 1000, 9001, 1);
  r.allocation(1000, 64);
  const Result<Table> table = torch_averages_table(named(r.finish()), {});
  ASSERT_TRUE(table);
  EXPECT_EQ(render_csv(*table),
            "name,side,calls,self_cpu_ns,self_cpu_percent,cpu_total_ns,cpu_bytes,self_cpu_bytes\n"
            "aten::empty,host,1,8001,100,8001,64,64\n");
}

}  // namespace
}  // namespace sonde
