#include "cli/run_sampler.hpp"

#include <string.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/usage.hpp"
#include "sampler/native/dwarf_unwinder.hpp"
#include "sampler/sample_file.hpp"

namespace sonde {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostNotes = 8;
constexpr std::string_view kSamples = "-samples.sonde";
constexpr std::string_view kRecording = ".sonde";

// A process that has a recording of its own gets its samples into the same trace: they lie beside
// the recording then. Both count the same ticks.
void join_samples(const std::string& folder) {
  std::vector<std::string> recordings;
  std::vector<std::string> samples;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.ends_with(kSamples)) {
      samples.push_back(name);
    } else if (name.ends_with(kRecording)) {
      recordings.push_back(name);
    }
  }
  for (const std::string& name : samples) {
    // NAME-PID-samples.sonde and NAME-PID-TIME.sonde.
    const std::string process = name.substr(0, name.size() - kSamples.size() + 1);
    std::vector<std::string> own;
    for (const std::string& recording : recordings) {
      if (recording.starts_with(process)) own.push_back(recording);
    }
    if (own.size() != 1) continue;
    const fs::path stem = fs::path(folder) / name.substr(0, name.size() - kRecording.size());
    const fs::path target =
        fs::path(folder) / (own[0].substr(0, own[0].size() - kRecording.size()) + ".samples");
    fs::rename(stem.string() + ".tables", target, error);
    if (!error) fs::remove(stem.string() + std::string(kRecording), error);
  }
}

}  // namespace

SamplerOptions sampler_options(double rate, bool stop, bool native) {
  SamplerOptions out;
  out.rate = rate;
  out.stop = stop;
  if (native) out.native = make_dwarf_unwinder;
  return out;
}

void RunSamplerOptions::define(Options& options) {
  Option& often = options.integer(rate, "--rate", "HZ", "samples of Python programs a second");
  often.default_text = "100";
  often.lowest = 1;
  often.highest = 1000;
  options.flag(native, "--native", "C and C++ frames in the samples of Python programs too");
  options.flag(no_stop, "--no-stop",
               "never stop a thread while it is read: samples are less exact, and marked so");
}

std::optional<Error> RunSamplerOptions::check() const {
  if (native && no_stop) return usage_error("--native needs threads to stop: not with --no-stop");
  if (native && !wanted) return usage_error("--native belongs to --python sample");
  return {};
}

RunSampler::RunSampler(pid_t root, const std::string& folder, std::uint64_t max_bytes,
                       const RunSamplerOptions& options) {
  if (!options.wanted) return;
  folder_ = folder;
  // Signals are the main thread's, which blocked them all before.
  thread_ = std::thread([=, this] { work(root, folder, max_bytes, options); });
}

void RunSampler::work(pid_t root, const std::string& folder, std::uint64_t max_bytes,
                      const RunSamplerOptions& options) {
  const SamplerOptions sampling =
      sampler_options(static_cast<double>(options.rate), !options.no_stop, options.native);
  const auto note = [&](std::string text) {
    if (notes_.size() < kMostNotes) notes_.push_back(std::move(text));
  };
  PythonSampler sampler(
      root, sampling,
      [&](const PythonProcess& process) -> std::unique_ptr<ProcessSink> {
        auto file = std::make_unique<SampleFile>(process, sampling,
                                                 SampleFileOptions{folder, max_bytes, true});
        if (file->error() == 0) return file;
        note("the samples of process " + std::to_string(process.pid()) +
             " cannot be written: " + ::strerror(file->error()));
        return nullptr;
      },
      [&](const Error& error) { note(error.text()); });
  // Short programs: the last sample may lie up to a period before the end, not more.
  sampler.run(stop_, 0);
  sampler.finish();
}

void RunSampler::finish() {
  stop_ = true;
  if (!thread_.joinable()) return;
  thread_.join();
  join_samples(folder_);
}

}  // namespace sonde
