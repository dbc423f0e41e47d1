#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sampler/python_process.hpp"
#include "system/process_tree.hpp"

namespace sonde {

// Where the samples of one process go.
class ProcessSink : public SampleSink {
 public:
  // From time to time, and with `ended` once: the process ended, or the sampling.
  virtual void tell(const PythonProcess& process, const SamplingStats& all, double rate,
                    std::uint64_t own_cpu_nanos, bool ended) = 0;
};

// Samples a program and its children, as many of them as are Python, for as long as they live. All
// calls come from one thread.
class PythonSampler {
 public:
  // Called once for each Python process that is found; nothing: it is not sampled.
  using MakeSink = std::function<std::unique_ptr<ProcessSink>(const PythonProcess&)>;
  // Called once for each process with a Python that cannot be read, with the reason.
  using Refused = std::function<void(const Error&)>;

  PythonSampler(pid_t root, SamplerOptions options, MakeSink make_sink, Refused refused = {});
  ~PythonSampler();
  PythonSampler(const PythonSampler&) = delete;
  PythonSampler& operator=(const PythonSampler&) = delete;

  // Opens the root itself, and waits up to a second for its interpreter to be ready. For processes
  // that must be Python.
  std::optional<Error> open_root();

  // One round: new processes, a sample of all threads of all.
  void round();
  // When the next round is due; rounds that are due already are counted as missed.
  std::uint64_t next_time();
  // Rounds at their times until `stop`, `end` (monotonic, 0: none) or the end of all processes;
  // calls `after_round` behind each.
  void run(const std::atomic<bool>& stop, std::uint64_t end,
           const std::function<void()>& after_round = {});
  // Threads that stopped late are let go as soon as they do, until `time` at most. To be called
  // before a pause.
  void settle(std::uint64_t time);
  // The last words to all sinks.
  void finish();

  // Something is left that is Python or could become so.
  bool alive() const { return root_alive_ || !open_.empty(); }
  std::size_t processes() const { return open_.size(); }
  std::size_t seen() const { return seen_; }
  const SamplerOptions& options() const { return options_; }
  const ThreadStopper& stopper() const { return stopper_; }
  std::uint64_t start_time() const { return start_; }
  double actual_rate() const;
  std::uint64_t missed_rounds() const { return missed_; }

 private:
  struct Open {
    std::unique_ptr<PythonProcess> process;
    std::unique_ptr<ProcessSink> sink;
    std::uint64_t start = 0;
    std::uint64_t first_missed = 0;
  };
  // A process that is no Python yet.
  struct Candidate {
    std::uint64_t next_look = 0;
    std::uint64_t pause = 0;
    std::uint64_t first_seen = 0;
    bool refused = false;
    std::string program;  // what it ran when it was looked at
  };

  void look_for_processes(std::uint64_t now);
  void look_at(pid_t pid, Candidate& candidate, std::uint64_t now);
  void adopt(std::unique_ptr<PythonProcess> process);
  void tell(Open& open, bool ended);
  double rate_of(const Open& open) const;

  pid_t root_;
  SamplerOptions options_;
  MakeSink make_sink_;
  Refused refused_;
  ThreadStopper stopper_;
  ProcessTree tree_;
  std::map<pid_t, Open> open_;
  std::map<pid_t, Candidate> candidates_;
  bool root_alive_ = true;
  std::size_t seen_ = 0;
  std::uint64_t period_;
  std::uint64_t start_;
  std::uint64_t next_;
  std::uint64_t next_look_ = 0;
  std::uint64_t next_tell_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace sonde
