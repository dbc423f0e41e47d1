// Lines with what they had the GPU do.

#include <gtest/gtest.h>

#include "import/loader.hpp"
#include "report/registry.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/tables_run.hpp"

namespace sonde::test {
namespace {

constexpr const char* kProgram = "/home/me/train.py";
constexpr const char* kTorch = "/usr/lib/python3/dist-packages/torch/nn/functional.py";

// With samples, or with nothing that is known of the host.
TraceSet training(const ScratchFolder& folder, bool samples) {
  TablesRun run(folder.path());
  const std::uint32_t main = run.code("<module>", kProgram, 1);
  const std::uint32_t forward = run.code("forward", kProgram, 10, "Net.forward");
  const std::uint32_t linear = run.code("linear", kTorch, 100);
  const std::uint32_t at_call = run.frame(0, main, 30);
  const std::uint32_t at_layer = run.frame(at_call, forward, 12);
  const std::uint32_t in_linear = run.frame(at_layer, linear, 114);
  const std::uint32_t at_loss = run.frame(0, main, 31);
  const std::uint32_t at_save = run.frame(0, main, 40);
  if (samples) {
    run.sample(1000, in_linear, 10'000'000, 9'000'000, 0);
    run.sample(2000, at_layer, 10'000'000, 9'000'000, 0);
    run.sample(3000, at_save, 30'000'000, 0, tables::kWaiting);
  }
  SondeFile& file = run.recording;
  file.chunk(7);
  file.placed("aten::linear", 1000, 2000, in_linear, 6);
  file.launch(1200, 1300, 101'300, 1);
  file.placed("aten::sum", 3000, 4000, at_loss);
  file.launch(3100, 102'000, 112'000, 3);
  file.launch(5000, 113'000, 114'000, 5);
  file.chunk(8);
  file.record(file::RecordType::Operator, SondeFile::kFirstTick + 6000,
              SondeFile::kFirstTick + 7000, 6, "AddmmBackward0", {},
              static_cast<std::uint8_t>(file::OperatorScope::Backward));
  file.launch(6100, 115'000, 315'000, 7);
  TraceSet set;
  set.push_back({".", "demo", "demo.sonde", run.load()});
  return set;
}

std::string render(const TraceSet& traces, const std::string& format, const std::string& sort,
                   const std::string& view = "lines", const std::string& file = {}) {
  ReportRequest request;
  request.view = view;
  request.file = file;
  request.format = format;
  request.sort = sort;
  request.render.width = 120;
  const Result<const ReportView*> found = find_view(request);
  if (!found) return found.error().text();
  const Result<std::string> text = (*found)->render(traces, request);
  return text ? *text : text.error().text();
}

TEST(DeviceLinesView, BesideTheTimeOnTheHost) {
  const ScratchFolder folder;
  const TraceSet traces = training(folder, true);
  testing::expect_golden("device_lines.txt", render(traces, "text", ""));
  testing::expect_golden("device_lines_sorted.txt", render(traces, "text", "device"));
  testing::expect_golden("device_lines.json", render(traces, "json", ""));
  testing::expect_golden("device_lines.csv", render(traces, "csv", "device_total"));
}

TEST(DeviceLinesView, AloneWhereNothingIsKnownOfTheHost) {
  const ScratchFolder folder;
  const TraceSet traces = training(folder, false);
  testing::expect_golden("device_lines_alone.txt", render(traces, "text", ""));
  testing::expect_golden("device_lines_alone.json", render(traces, "json", "line"));
}

TEST(DeviceLinesView, InTheSourceOfAFile) {
  const ScratchFolder folder;
  const TraceSet traces = training(folder, true);
  testing::expect_golden("device_source_files.txt", render(traces, "text", "device", "source"));
  testing::expect_golden("device_source.txt", render(traces, "text", "", "source", kProgram));
}

// What torch.profiler tells of a training on a GPU.
TEST(DeviceLinesView, OfATraceOfTorchsProfiler) {
  Result<LoadedSet> set =
      load_traces({std::string(SONDE_TEST_DATA) + "/resnet50_stack.pt.trace.json.gz"});
  ASSERT_TRUE(set) << set.error().text();
  testing::expect_golden("resnet50_stack_lines.txt", render(set->traces, "text", ""));
}

}  // namespace
}  // namespace sonde::test
