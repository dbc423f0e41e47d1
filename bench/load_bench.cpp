// From a packed trace on disk to a finished Trace, next to the two floors of the same run:
// inflating alone, and a plain simdjson on-demand pass that touches every field. Each measurement
// runs in a process of its own, so that its peak memory is its own.

#include <fmt/format.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <vector>

#include "import/input/byte_source.hpp"
#include "import/loader.hpp"
#include "support/enlarge.hpp"

namespace sonde::bench {
namespace {

struct Measured {
  bool ok = false;
  double seconds = 0;
  std::uint64_t json_bytes = 0;
  std::uint64_t events = 0;
  std::uint64_t slices = 0;
  std::uint64_t trace_bytes = 0;
  long start_kb = 0;
  long peak_kb = 0;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

long peak_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// The best of `rounds` runs of `work`, each in a child process.
Measured in_child(int rounds, const std::function<void(Measured&)>& work) {
  Measured best;
  for (int round = 0; round < rounds; ++round) {
    int ends[2];
    if (pipe(ends) != 0) return best;
    const pid_t child = fork();
    if (child == 0) {
      Measured mine;
      mine.start_kb = peak_kb();
      work(mine);
      mine.peak_kb = peak_kb();
      const ssize_t sent = write(ends[1], &mine, sizeof(mine));
      _exit(sent == sizeof(mine) ? 0 : 1);
    }
    close(ends[1]);
    Measured got;
    const ssize_t size = read(ends[0], &got, sizeof(got));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    if (size == sizeof(got) && got.ok && (!best.ok || got.seconds < best.seconds)) best = got;
  }
  return best;
}

void measure_sonde(const std::string& path, Measured& m) {
  const double start = now();
  Result<Trace> trace = load_trace(path);
  m.seconds = now() - start;
  if (!trace) return;
  m.ok = true;
  m.json_bytes = trace->meta().input_bytes;
  m.events = trace->meta().file_events;
  m.slices = trace->slice_count();
  m.trace_bytes = trace->bytes();
}

void measure_inflate(const std::string& path, Measured& m) {
  const double start = now();
  Result<OpenedInput> input = open_input(path);
  if (!input) return;
  std::vector<char> block(512 * 1024);
  for (;;) {
    Result<std::size_t> got = input->source->read(block);
    if (!got) return;
    m.json_bytes += *got;
    if (*got < block.size()) break;
  }
  m.seconds = now() - start;
  m.ok = true;
}

namespace ondemand = simdjson::ondemand;

// Visits every key and value; the sum keeps the compiler from skipping any.
std::uint64_t touch(ondemand::value value) {
  std::uint64_t sum = 0;
  switch (value.type()) {
    case ondemand::json_type::object:
      for (auto field : value.get_object()) {
        sum += field.unescaped_key().value().size();
        sum += touch(field.value());
      }
      break;
    case ondemand::json_type::array:
      for (auto element : value.get_array()) sum += touch(element.value());
      break;
    case ondemand::json_type::string:
      sum += value.get_string().value().size();
      break;
    case ondemand::json_type::number:
      sum += static_cast<std::uint64_t>(value.get_double().value());
      break;
    case ondemand::json_type::boolean:
      sum += value.get_bool().value() ? 1 : 0;
      break;
    case ondemand::json_type::null:
      ++sum;
      break;
  }
  return sum;
}

// The whole text has to be in memory for this one; inflating it is not counted.
void measure_simdjson(const std::string& path, Measured& m) {
  Result<OpenedInput> input = open_input(path);
  if (!input) return;
  std::vector<char> text;
  for (std::size_t size = 0;;) {
    text.resize(size + (std::size_t{16} << 20));
    Result<std::size_t> got = input->source->read({text.data() + size, text.size() - size});
    if (!got) return;
    size += *got;
    if (size < text.size()) {
      text.resize(size + simdjson::SIMDJSON_PADDING);
      m.json_bytes = size;
      break;
    }
  }
  const double start = now();
  try {
    ondemand::parser parser;
    auto document = parser.iterate(text.data(), m.json_bytes, text.size()).value();
    const std::uint64_t sum = touch(document.get_value().value());
    m.seconds = now() - start;
    m.ok = sum != 0;
  } catch (const simdjson::simdjson_error& error) {
    fmt::print(stderr, "simdjson: {}\n", error.what());
  }
}

double rate(const Measured& m) {
  return m.ok ? static_cast<double>(m.json_bytes) / m.seconds / 1e9 : 0;
}

void report(const std::string& title, const std::string& path, int rounds) {
  const Measured inflate = in_child(rounds, [&](Measured& m) { measure_inflate(path, m); });
  const Measured simd = in_child(rounds, [&](Measured& m) { measure_simdjson(path, m); });
  const Measured sonde = in_child(rounds, [&](Measured& m) { measure_sonde(path, m); });
  if (!sonde.ok) {
    fmt::print("{}: could not be read\n", title);
    return;
  }
  const double peak_mb = static_cast<double>(sonde.peak_kb - sonde.start_kb) / 1024;
  const double trace_mb = static_cast<double>(sonde.trace_bytes) / (1 << 20);
  fmt::print("{}: {:.2f} GB of JSON, {} events, {} slices; best of {}\n", title,
             static_cast<double>(sonde.json_bytes) / 1e9, sonde.events, sonde.slices, rounds);
  fmt::print(
      "  sonde, packed file to finished trace   {:7.3f} s  {:6.2f} GB/s  {:6.2f} M events/s\n",
      sonde.seconds, rate(sonde), static_cast<double>(sonde.events) / sonde.seconds / 1e6);
  fmt::print(
      "  inflating alone, one core              {:7.3f} s  {:6.2f} GB/s   sonde runs at {:.2f} of "
      "it\n",
      inflate.seconds, rate(inflate), rate(sonde) / rate(inflate));
  if (simd.ok) {
    fmt::print(
        "  simdjson on-demand, text in memory     {:7.3f} s  {:6.2f} GB/s   sonde runs at {:.2f} "
        "of it\n",
        simd.seconds, rate(simd), rate(sonde) / rate(simd));
  } else {
    fmt::print("  simdjson on-demand                     failed\n");
  }
  fmt::print("  memory: peak {:.0f} MB, of it the trace {:.0f} MB, beyond it {:.0f} MB\n", peak_mb,
             trace_mb, std::max(0.0, peak_mb - trace_mb));
  fmt::print("  a slice: hot columns {} bytes, everything {:.1f} bytes\n\n",
             SliceColumns::bytes_per_slice(),
             static_cast<double>(sonde.trace_bytes) / static_cast<double>(sonde.slices));
}

int run() {
  namespace fs = std::filesystem;
  const fs::path shared = fs::path(SONDE_SHARED_DATA) / "torch/loop_large.pt.trace.json.gz";
  const fs::path own = fs::path(SONDE_TEST_DATA) / "resnet50_workers0.pt.trace.json.gz";
  const fs::path folder = fs::temp_directory_path() / fmt::format("sonde-bench-{}", getuid());
  fs::create_directories(folder);

  const bool has_shared = fs::exists(shared);
  const fs::path base = has_shared ? shared : own;
  const auto made = [&](const std::string& name, std::uint64_t bytes) {
    const fs::path path = folder / name;
    if (!fs::exists(path)) {
      fmt::print(stderr, "making {} from {} …\n", path.string(), base.filename().string());
      Result<std::uint64_t> written =
          enlarge_trace(base.string(), (path.string() + ".part"), bytes);
      if (!written) {
        fmt::print(stderr, "{}\n", written.error().text());
        std::exit(1);
      }
      fs::rename(path.string() + ".part", path);
    }
    return path.string();
  };
  const std::string stem = has_shared ? "loop_large" : "resnet50_workers0";
  if (has_shared)
    report("loop_large", shared.string(), 5);
  else
    report("resnet50_workers0, repeated", made(stem + "_128m.json.gz", 128'000'000), 5);
  report(stem + " repeated to 1 GB", made(stem + "_1g.json.gz", 1'000'000'000), 3);
  return 0;
}

}  // namespace
}  // namespace sonde::bench

int main() { return sonde::bench::run(); }
