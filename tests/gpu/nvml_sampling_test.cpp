// The curves of GPUs, from a library that is made up.

#include "tests/gpu/recorded_programs.hpp"

#include "system/gpu_sampler.hpp"
#include "system/run_file_writer.hpp"

namespace sonde::testing {
namespace {

TEST(GpuSampler, WritesWhatTheLibraryTells) {
  const RunFolder folder;
  const std::string path = folder.path() + "/system.sonde";
  {
    RunFileWriter writer(path, "demo");
    GpuSampler sampler(writer, SONDE_FAKE_FOLDER "/libnvidia-ml.so.1");
    EXPECT_EQ(sampler.gpus(), 2u);
    sampler.sample(writer, 1'000'000'000);
    sampler.sample(writer, 1'100'000'000);
    writer.close();
  }
  const Result<Trace> trace = load_trace(path, {});
  ASSERT_TRUE(trace);
  std::map<std::string, std::vector<double>> values;
  for (const CounterValue& value : trace->counters()) {
    values[std::string(trace->text(trace->track(value.track).name)) + " " +
           std::string(trace->text(value.counter))]
        .push_back(value.value);
  }
  EXPECT_EQ(values["gpu 0: Fake H200 busy (%)"], (std::vector<double>{87, 87}));
  EXPECT_EQ(values["gpu 0: Fake H200 memory used"], (std::vector<double>{600, 600}));
  EXPECT_EQ(values["gpu 0: Fake H200 power (W)"], (std::vector<double>{512.5, 512.5}));
  EXPECT_EQ(values["gpu 0: Fake H200 clock (MHz)"], (std::vector<double>{1980, 1980}));
  EXPECT_EQ(values["gpu 0: Fake H200 memory clock (MHz)"], (std::vector<double>{3201, 3201}));
  EXPECT_EQ(values["gpu 1: Fake H200 memory used"], (std::vector<double>{600, 600}));
  EXPECT_EQ(values.count("gpu 1: Fake H200 power (W)"), 0u);
}

TEST(GpuSampler, IsSilentWithoutALibrary) {
  const RunFolder folder;
  RunFileWriter writer(folder.path() + "/system.sonde", "demo");
  GpuSampler sampler(writer, "/nowhere/libnvidia-ml.so.1");
  EXPECT_EQ(sampler.gpus(), 0u);
  sampler.sample(writer, 1);
  writer.close();
}

}  // namespace
}  // namespace sonde::testing
