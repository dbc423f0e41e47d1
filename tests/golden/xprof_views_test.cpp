// The views with XProf's answers, against what XProf 2.24 computed from the same profiles.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>

#include "analysis/framework_ops.hpp"
#include "analysis/input_pipeline.hpp"
#include "analysis/kernel_variants.hpp"
#include "analysis/memory_profile.hpp"
#include "analysis/step_parts.hpp"
#include "import/loader.hpp"
#include "report/registry.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/render.hpp"
#include "tests/support/small_trace.hpp"

namespace sonde {
namespace {

using test::render;

using simdjson::dom::element;

std::string data(const std::string& name) {
  return std::string(SONDE_TEST_DATA) + "/tensorflow/" + name;
}

TraceSet load(const std::string& name) {
  Result<LoadedSet> loaded = load_traces({data(name + ".xplane.pb")});
  EXPECT_TRUE(loaded.ok());
  return loaded ? std::move(loaded->traces) : TraceSet();
}

// A table of XProf: values by row and the id of the column.
class XprofTable {
 public:
  XprofTable(const std::string& file, std::string_view column) {
    json_ = simdjson::padded_string(testing::read_file(data(file)));
    element root = parser_.parse(json_);
    simdjson::dom::array tables;
    std::vector<element> list;
    if (root.get(tables) == simdjson::SUCCESS) {
      for (const element table : tables) list.push_back(table);
    } else {
      list.push_back(root);
    }
    for (const element table : list) {
      simdjson::dom::array columns;
      if (table["cols"].get(columns) != simdjson::SUCCESS) continue;
      std::vector<std::string> ids;
      for (const element c : columns) ids.emplace_back(std::string_view(c["id"]));
      if (std::find(ids.begin(), ids.end(), column) == ids.end()) continue;
      // The last one: where there are two, it is the one without the idle time.
      ids_ = ids;
      rows_.clear();
      for (const element row : table["rows"].get_array()) {
        std::vector<element> cells;
        for (const element cell : row["c"].get_array()) cells.push_back(cell["v"]);
        rows_.push_back(cells);
      }
    }
  }
  std::size_t size() const { return rows_.size(); }
  double number(std::size_t row, std::string_view id) const { return double(rows_[row][at(id)]); }
  std::string text(std::size_t row, std::string_view id) const {
    return std::string(std::string_view(rows_[row][at(id)]));
  }

 private:
  std::size_t at(std::string_view id) const {
    return static_cast<std::size_t>(std::find(ids_.begin(), ids_.end(), id) - ids_.begin());
  }
  simdjson::dom::parser parser_;
  simdjson::padded_string json_;
  std::vector<std::string> ids_;
  std::vector<std::vector<element>> rows_;
};

std::int64_t nanos(double millis) { return std::llround(millis * 1e6); }

void expect_framework_ops(const std::string& name) {
  const TraceSet set = load(name);
  const FrameworkOps ops = framework_ops(set[0].trace);
  const XprofTable table(name + ".xprof.framework_op_stats.json", "total_self_time");
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string operation = table.text(i, "operation");
    const bool device = table.text(i, "host_or_device") == "Device";
    const auto op = std::find_if(ops.ops.begin(), ops.ops.end(), [&](const FrameworkOp& o) {
      return o.name == operation && o.on_device == device;
    });
    ASSERT_NE(op, ops.ops.end()) << operation;
    EXPECT_EQ(op->type, table.text(i, "type")) << operation;
    EXPECT_EQ(double(op->occurrences), table.number(i, "occurrences")) << operation;
    EXPECT_NEAR(double(op->total) / 1e6, table.number(i, "total_time"), 1e-6) << operation;
    EXPECT_NEAR(double(op->self) / 1e6, table.number(i, "total_self_time"), 1e-6) << operation;
    if (!device) {
      EXPECT_NEAR(double(op->self) / double(ops.host_self),
                  table.number(i, "host_total_self_time_percent"), 1e-9)
          << operation;
    }
  }
}

TEST(XprofViews, FrameworkOpsOfTensorFlow) {
  expect_framework_ops("tf_cpu");
  const TraceSet set = load("tf_cpu");
  const XprofTable table("tf_cpu.xprof.framework_op_stats.json", "total_self_time");
  EXPECT_EQ(framework_ops(set[0].trace).ops.size(), table.size());
}

TEST(XprofViews, FrameworkOpsOfJaxOnAGpu) { expect_framework_ops("jax_gpu"); }

constexpr std::pair<StepPart, const char*> kParts[] = {
    {StepPart::DeviceCompute, "deviceComputeTimeMs"},
    {StepPart::DeviceToDevice, "deviceToDeviceTimeMs"},
    {StepPart::DeviceCollectives, "deviceCollectivesTimeMs"},
    {StepPart::HostCompute, "hostComputeTimeMs"},
    {StepPart::KernelLaunch, "kernelLaunchTimeMs"},
    {StepPart::Input, "infeedTimeMs"},
    {StepPart::Output, "outfeedTimeMs"},
    {StepPart::Compile, "compileTimeMs"},
    {StepPart::Other, "otherTimeMs"}};

void expect_steps(const std::string& name) {
  const TraceSet set = load(name);
  const StepParts steps = step_parts(set[0].trace);
  const XprofTable table(name + ".xprof.input_pipeline_analyzer.json", "stepnum");
  ASSERT_EQ(steps.steps.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(steps.steps[i].span.length(), nanos(table.number(i, "stepTimeMs"))) << i;
    Nanos sum = 0;
    for (const auto& [part, id] : kParts) {
      const Nanos time = steps.steps[i].parts[static_cast<std::size_t>(part)];
      sum += time;
      EXPECT_EQ(time, nanos(table.number(i, id))) << id << " of step " << i;
    }
    EXPECT_EQ(sum, steps.steps[i].span.length());
  }
}

TEST(XprofViews, StepsOfTensorFlow) { expect_steps("tf_cpu"); }
TEST(XprofViews, StepsOfJaxOnAGpu) { expect_steps("jax_gpu"); }
TEST(XprofViews, StepsOfJaxOnACpu) { expect_steps("jax_cpu"); }

TEST(XprofViews, InputOpsOfTensorFlow) {
  const TraceSet set = load("tf_cpu");
  const std::vector<InputOp> ops = input_ops(framework_ops(set[0].trace));
  const XprofTable table("tf_cpu.xprof.input_pipeline_analyzer.json", "opName");
  ASSERT_EQ(ops.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(ops[i].name, table.text(i, "opName"));
    EXPECT_EQ(double(ops[i].count), table.number(i, "count"));
    EXPECT_NEAR(double(ops[i].total) / 1e9, table.number(i, "timeInMs"), 1e-9);
    EXPECT_NEAR(double(ops[i].self) / 1e9, table.number(i, "selfTimeInMs"), 1e-9);
    EXPECT_EQ(input_category_name(ops[i].category), table.text(i, "category"));
  }
}

TEST(XprofViews, KernelStatsOfJaxOnAGpu) {
  const TraceSet set = load("jax_gpu");
  const std::vector<KernelVariant> kernels = kernel_variants(set[0].trace);
  const XprofTable table("jax_gpu.xprof.kernel_stats.json", "kernel_name");
  ASSERT_EQ(kernels.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(kernels[i].name, table.text(i, "kernel_name"));
    EXPECT_EQ(kernels[i].registers, table.number(i, "registers_per_thread"));
    EXPECT_EQ(kernels[i].shared_memory, table.number(i, "shmem_bytes"));
    EXPECT_NEAR(double(kernels[i].occupancy), table.number(i, "occupancy_pct"), 1e-3);
    EXPECT_EQ(kernels[i].op, table.text(i, "op_name"));
    EXPECT_EQ(double(kernels[i].occurrences), table.number(i, "occurrences"));
    EXPECT_NEAR(double(kernels[i].total_ps) / 1e6, table.number(i, "total_duration_us"), 1e-3);
    EXPECT_NEAR(double(kernels[i].min_ps) / 1e6, table.number(i, "min_duration_us"), 1e-3);
    EXPECT_NEAR(double(kernels[i].max_ps) / 1e6, table.number(i, "max_duration_us"), 1e-3);
  }
}

TEST(XprofViews, MemoryProfileOfJaxOnAGpu) {
  const TraceSet set = load("jax_gpu");
  const std::vector<AllocatorProfile> profiles = memory_profile(set[0].trace);
  ASSERT_EQ(profiles.size(), 1u);
  simdjson::dom::parser parser;
  const simdjson::padded_string json(testing::read_file(data("jax_gpu.xprof.memory_profile.json")));
  const element answer = parser.parse(json);
  const element summary = answer["memoryProfilePerAllocator"]["GPU_0_bfc"]["profileSummary"];
  const auto number = [](element value) {
    return std::stoll(std::string(std::string_view(value)));
  };
  EXPECT_EQ(profiles[0].name, "GPU_0_bfc");
  EXPECT_EQ(profiles[0].peak.in_use(), number(summary["peakStats"]["peakBytesInUse"]));
  EXPECT_EQ(profiles[0].peak.heap, number(summary["peakStats"]["heapAllocatedBytes"]));
  EXPECT_EQ(profiles[0].capacity, number(summary["memoryCapacity"]));
  EXPECT_EQ(profiles[0].lifetime_peak, number(summary["peakBytesUsageLifetime"]));
  // XProf counts what the step of the peak allocated, and calls the rest "unused preallocated";
  // Sonde also knows what earlier steps left.
  std::int64_t live = 0;
  for (const LiveAllocation& allocation : profiles[0].live)
    live += allocation.allocated * static_cast<std::int64_t>(allocation.count);
  EXPECT_EQ(live + profiles[0].unexplained, profiles[0].peak.heap);
  EXPECT_EQ(live, 5767168 + 2 * 2097152);
}

class EachXprofView : public ::testing::TestWithParam<std::string> {};

TEST_P(EachXprofView, OfRealProfiles) {
  for (const std::string name : {"tf_cpu", "jax_cpu", "jax_gpu"}) {
    testing::expect_golden("xprof_" + name + "_" + GetParam() + ".txt",
                           render(load(name), GetParam(), "text"));
  }
}

TEST_P(EachXprofView, OfATorchTraceAndOfNothing) {
  TraceSet set;
  set.push_back(testing::named(testing::small_trace(), "small"));
  testing::expect_golden("xprof_small_" + GetParam() + ".txt", render(set, GetParam(), "text"));
  TraceSet empty;
  empty.push_back(testing::named(TraceBuilder().finish(), "empty"));
  testing::expect_golden("xprof_empty_" + GetParam() + ".txt", render(empty, GetParam(), "text"));
  testing::expect_golden("xprof_small_" + GetParam() + ".json", render(set, GetParam(), "json"));
}

TEST_P(EachXprofView, OfTwoHosts) {
  TraceSet set = load("jax_gpu");
  TraceSet second = load("jax_gpu");
  set[0].worker = "host-a";
  second[0].worker = "host-b";
  set.push_back(std::move(second[0]));
  testing::expect_golden("xprof_two_hosts_" + GetParam() + ".txt", render(set, GetParam(), "text"));
}

INSTANTIATE_TEST_SUITE_P(XprofViews, EachXprofView,
                         ::testing::Values("overview", "input-pipeline", "framework-ops", "hlo-ops",
                                           "kernel-stats", "memory-profile"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace sonde
