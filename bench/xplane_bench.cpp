// From an XPlane profile of a gigabyte on disk to a finished Trace: time and peak memory. With a
// path as argument only the file is made, for other tools to measure.

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "import/loader.hpp"
#include "support/enlarge_xplane.hpp"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  using sonde::Result;
  std::string in = std::string(SONDE_SHARED_DATA) + "/xplane/tpu_inference_2.xplane.pb";
  if (!fs::exists(in)) in = std::string(SONDE_TEST_DATA) + "/tensorflow/jax_gpu.xplane.pb";
  const char* wanted = std::getenv("SONDE_BENCH_BYTES");
  const std::uint64_t bytes = wanted ? std::strtoull(wanted, nullptr, 10) : 1'000'000'000;
  const std::string out =
      argc > 1 ? argv[1] : (fs::temp_directory_path() / "sonde-bench.xplane.pb").string();
  const Result<std::uint64_t> written = sonde::bench::enlarge_xplane(in, out, bytes);
  if (!written) {
    fmt::print(stderr, "xplane_bench: {}\n", written.error().text());
    return 1;
  }
  if (argc > 1) return 0;
  const auto start = std::chrono::steady_clock::now();
  const Result<sonde::Trace> trace = sonde::load_trace(out);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  fs::remove(out);
  if (!trace) {
    fmt::print(stderr, "xplane_bench: {}\n", trace.error().text());
    return 1;
  }
  fmt::print("XPlane {:.2f} GB, {} events: {:.2f} s, {:.2f} GB/s, {:.2f} M events/s\n",
             double(*written) / 1e9, trace->meta().file_events, seconds,
             double(*written) / 1e9 / seconds, double(trace->meta().file_events) / 1e6 / seconds);
  fmt::print("trace {:.2f} GB; peak memory of the process {:.2f} GB\n",
             double(trace->bytes()) / 1e9, double(after.ru_maxrss) * 1024 / 1e9);
  return 0;
}
