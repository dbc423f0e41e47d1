#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "sampler/python_sampler.hpp"

namespace sonde {

// What `sonde run` is told about sampling Python programs.
struct RunSamplerOptions {
  bool wanted = true;  // whether Python programs are sampled at all
  std::int64_t rate = 100;
  bool native = false;
  bool no_stop = false;

  void define(Options& options);
  // What makes no sense in the options.
  std::optional<Error> check() const;
};

// Samples the Python processes below a program that `sonde run` started, from a thread of its own.
// A program without Python costs nothing but a look at it from time to time.
class RunSampler {
 public:
  RunSampler(pid_t root, const std::string& folder, std::uint64_t max_bytes,
             const RunSamplerOptions& options);
  ~RunSampler() { finish(); }
  RunSampler(const RunSampler&) = delete;
  RunSampler& operator=(const RunSampler&) = delete;

  // Ends the sampling; the files are whole afterwards.
  void finish();
  // What could not be sampled, and why: one line each. After finish().
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void work(pid_t root, const std::string& folder, std::uint64_t max_bytes,
            const RunSamplerOptions& options);

  std::string folder_;
  std::atomic<bool> stop_{false};
  std::vector<std::string> notes_;
  std::thread thread_;
};

// The options of the sampler with C frames where asked for.
SamplerOptions sampler_options(double rate, bool stop, bool native);

}  // namespace sonde
