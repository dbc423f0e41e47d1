// A small program on the sampler alone (no other library), for machines where nothing else can be
// built: looks into a Python process and prints what it saw.
//
//   sampler_probe dump PID
//   sampler_probe sample PID SECONDS RATE [no-stop]
//
// `sample` prints for each process, thread and function: samples, own and total share of the time.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "sampler/python_sampler.hpp"

namespace {

using namespace sonde;

class Printer : public SampleSink {
 public:
  void add(const ThreadSample& sample) override {
    std::printf("thread %d %s%s%s\n", sample.thread, std::string(sample.name).c_str(),
                sample.waiting ? " idle" : " busy", sample.holds_lock ? " gil" : "");
    for (const SampledFrame& frame : sample.frames) {
      std::printf("  %s (%s:%d)\n", frame.function->name.c_str(), frame.function->file.c_str(),
                  frame.line);
    }
  }
};

class Sums : public ProcessSink {
 public:
  explicit Sums(const PythonProcess& process) : pid_(process.pid()) {}

  void add(const ThreadSample& sample) override {
    const auto nanos = static_cast<double>(sample.wall_nanos);
    threads_[std::string(sample.name)] += static_cast<double>(sample.cpu_nanos);
    if (sample.holds_lock) lock_ += nanos;
    if (sample.waiting) return;
    busy_ += nanos;
    std::set<std::string> seen;
    bool innermost = true;
    for (const SampledFrame& frame : sample.frames) {
      const std::string& name = frame.function->name;
      if (innermost) functions_[name].first += nanos;
      if (innermost) ++lines_[name + ":" + std::to_string(frame.line)];
      innermost = false;
      if (seen.insert(name).second) functions_[name].second += nanos;
    }
  }

  void tell(const PythonProcess& process, const SamplingStats& stats, double rate,
            std::uint64_t own, bool ended) override {
    if (!ended) return;
    std::printf(
        "process %d Python %s, %.1f rounds/s, %llu samples, %llu lost, %llu torn, "
        "%llu late, %llu missed, own CPU %.1f ms\n",
        pid_, process.runtime().layout.version.text().c_str(), rate,
        static_cast<unsigned long long>(stats.samples), static_cast<unsigned long long>(stats.lost),
        static_cast<unsigned long long>(stats.torn), static_cast<unsigned long long>(stats.late),
        static_cast<unsigned long long>(stats.missed_rounds), static_cast<double>(own) / 1e6);
    for (const auto& [name, nanos] : threads_) {
      std::printf("  thread %-20s cpu %.1f ms\n", name.c_str(), nanos / 1e6);
    }
    for (const auto& [name, nanos] : functions_) {
      std::printf("  function %-20s own %5.1f%% total %5.1f%%\n", name.c_str(),
                  100 * nanos.first / busy_, 100 * nanos.second / busy_);
    }
    for (const auto& [name, count] : lines_) {
      std::printf("  line %s %d\n", name.c_str(), count);
    }
  }

 private:
  pid_t pid_;
  double busy_ = 0;
  double lock_ = 0;
  std::map<std::string, double> threads_;
  std::map<std::string, std::pair<double, double>> functions_;
  std::map<std::string, int> lines_;
};

int dump(pid_t pid) {
  ThreadStopper stopper;
  SamplerOptions options;
  auto process = PythonProcess::open(pid, options, stopper);
  if (!process) {
    std::fprintf(stderr, "%s\n", process.error().text().c_str());
    return 1;
  }
  Printer printer;
  return (*process)->sample(printer) ? 0 : 1;
}

int sample(pid_t pid, double seconds, double rate, bool stop) {
  SamplerOptions options;
  options.rate = rate;
  options.stop = stop;
  PythonSampler sampler(
      pid, options, [](const PythonProcess& process) { return std::make_unique<Sums>(process); });
  if (const auto error = sampler.open_root()) {
    std::fprintf(stderr, "%s\n", error->text().c_str());
    return 1;
  }
  const std::atomic<bool> never{false};
  sampler.run(never, monotonic_nanos() + static_cast<std::uint64_t>(seconds * 1e9));
  sampler.finish();
  std::printf(
      "%llu stops, %.1f us each\n", static_cast<unsigned long long>(sampler.stopper().stops()),
      static_cast<double>(sampler.stopper().stopped_nanos()) / 1e3 /
          static_cast<double>(sampler.stopper().stops() + (sampler.stopper().stops() == 0)));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::strcmp(words[1], "dump") == 0) return dump(std::atoi(words[2]));
  if (count >= 5 && std::strcmp(words[1], "sample") == 0) {
    return sample(std::atoi(words[2]), std::atof(words[3]), std::atof(words[4]), count == 5);
  }
  std::fprintf(stderr, "usage: %s dump PID | sample PID SECONDS RATE [no-stop]\n", words[0]);
  return 2;
}
