// Cutting a small piece out of a large file takes far less memory than reading the file.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "import/loader.hpp"
#include "tests/support/files.hpp"

namespace sonde {
namespace {

// A training of `steps` steps of a millisecond, a thousand operators in each, as PyTorch writes it.
// Names and shapes repeat as they do in a training; each event has numbers of its own.
void write_training(const std::string& path, int steps) {
  std::FILE* out = std::fopen(path.c_str(), "w");
  ASSERT_NE(out, nullptr);
  std::fputs("{\"schemaVersion\": 1, \"record_shapes\": 1, \"traceEvents\": [\n", out);
  long id = 0;
  for (int step = 0; step < steps; ++step) {
    const long begin = step * 1000L;
    std::fprintf(out,
                 "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", "
                 "\"pid\": 1, \"tid\": 1, \"ts\": %ld.000, \"dur\": 999.000, \"args\": {\"External "
                 "id\": %ld}},\n",
                 step, begin, ++id);
    for (int i = 0; i < 300; ++i) {
      const long at = begin + i * 3;
      ++id;
      std::fprintf(out,
                   "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::operator_%d\", \"pid\": "
                   "1, \"tid\": 1, \"ts\": %ld.000, \"dur\": 2.500, \"args\": {\"External id\": "
                   "%ld, \"Record function id\": 0, \"Sequence number\": %ld, \"Ev Idx\": %ld, "
                   "\"Input Dims\": [[64, %d], [%d, 128]], \"Input type\": [\"float\", "
                   "\"float\"]}},\n",
                   i % 40, at, id, id, id, i % 20, i % 20);
      std::fprintf(out,
                   "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
                   "\"pid\": 1, \"tid\": 1, \"ts\": %ld.500, \"dur\": 1.000, \"args\": {\"External "
                   "id\": %ld, \"cbid\": 211, \"correlation\": %ld}},\n",
                   at, id, id + 100'000'000);
      std::fprintf(
          out,
          "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void gemm_kernel_%d(float*)\", "
          "\"pid\": 0, \"tid\": 7, \"ts\": %ld.000, \"dur\": 2.000, \"args\": {\"External "
          "id\": %ld, \"correlation\": %ld, \"device\": 0, \"stream\": 7, \"registers per "
          "thread\": 32, \"grid\": [64, 1, 1], \"block\": [128, 1, 1]}},\n",
          i % 30, at + 20, id, id + 100'000'000);
    }
  }
  std::fputs(
      "{\"ph\": \"i\", \"s\": \"g\", \"name\": \"end\", \"pid\": 1, \"tid\": 1, \"ts\": 1}]}", out);
  ASSERT_EQ(std::fclose(out), 0);
}

// The most memory that the program had at once, in bytes.
long peak_of(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(126);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child) return -1;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << arguments[1];
  return usage.ru_maxrss * 1024;
}

TEST(CutMemory, APieceTakesFarLessThanTheWhole) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own memory would be measured";
#endif
  const test::ScratchFolder scratch;
  const std::string folder = scratch.path().string();
  const std::string json = folder + "/large.pt.trace.json";
  constexpr int kSteps = 550;
  write_training(json, kSteps);
  ASSERT_GT(std::filesystem::file_size(json), 100u << 20);
  const std::string perfetto = folder + "/large.pftrace";
  ASSERT_GT(peak_of({SONDE_BINARY, "export", json, "-o", perfetto}), 0);
  for (const std::string& large : {json, perfetto}) {
    const long whole = peak_of({SONDE_BINARY, "info", large});
    // One per cent, by time and by step.
    const std::string by_time = folder + "/time.json";
    const long time = peak_of(
        {SONDE_BINARY, "cut", large, "--from", "200ms", "--to-time", "205500us", "-o", by_time});
    const std::string by_step = folder + "/step.json";
    const long step = peak_of({SONDE_BINARY, "cut", large, "--step", "300-304", "-o", by_step});
    const std::string what = large + ": whole " + std::to_string(whole >> 20) + " MiB, by time " +
                             std::to_string(time >> 20) + " MiB, by step " +
                             std::to_string(step >> 20) + " MiB";
    std::printf("%s\n", what.c_str());
    EXPECT_LT(time, whole * 4 / 10) << what;
    EXPECT_LT(step, whole * 4 / 10) << what;
    const Result<Trace> steps = load_trace(by_step);
    ASSERT_TRUE(steps.ok());
    EXPECT_EQ(steps->slice_count(), 5u * (1 + 3 * 300)) << what;
    EXPECT_EQ(steps->launch_to_device().size(), 5u * 300) << what;
  }
}

}  // namespace
}  // namespace sonde
