#include "cli/run_sampler.hpp"

#include <string.h>

#include <algorithm>

#include "cli/usage.hpp"
#include "sampler/native/dwarf_unwinder.hpp"
#include "sampler/sample_file.hpp"

namespace sonde {
namespace {

constexpr std::size_t kMostNotes = 8;

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
  if (thread_.joinable()) thread_.join();
}

}  // namespace sonde
