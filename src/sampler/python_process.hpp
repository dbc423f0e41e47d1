#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sampler/code_cache.hpp"
#include "sampler/native_frames.hpp"
#include "sampler/process_memory.hpp"
#include "sampler/python_objects.hpp"
#include "sampler/runtime_finder.hpp"
#include "sampler/stack_reader.hpp"
#include "sampler/task_clock.hpp"
#include "sampler/task_ids.hpp"
#include "sampler/thread_sample.hpp"
#include "sampler/thread_stopper.hpp"

namespace sonde {

struct SamplerOptions {
  double rate = 100;  // rounds a second
  bool stop = true;   // threads that run are stopped while they are read
  bool children = true;
  bool locals = false;  // the variables of each frame too
  // Makes the walker over C stacks; nothing: Python frames only.
  std::function<std::unique_ptr<NativeUnwinder>(pid_t process)> native;
};

// A Python process that is looked into from outside.
class PythonProcess {
 public:
  // Errors as find_python() has them. ErrorCode::EmptyInput: the interpreter is not ready yet.
  static Result<std::unique_ptr<PythonProcess>> open(pid_t pid, const SamplerOptions& options,
                                                     ThreadStopper& stopper);

  // One sample of every thread. False where the process ended or has another program now.
  bool sample(SampleSink& sink);

  pid_t pid() const { return pid_; }
  const PythonRuntime& runtime() const { return runtime_; }
  const SamplingStats& stats() const { return stats_; }
  SamplingStats& stats() { return stats_; }
  const PythonObjects& objects() const { return objects_; }
  // Stops are allowed, as far as is known.
  bool stops() const { return options_.stop && !refused_; }
  bool has_native() const { return unwinder_ != nullptr; }
  // How long threads were held still, of all processes that share the stopper.
  std::uint64_t stopped_nanos() const { return stopper_.stopped_nanos(); }

 private:
  struct Known {
    TaskTimes times;
    std::uint64_t time = 0;
    bool waiting = false;
    bool has_stack = false;
    std::vector<SampledFrame> frames;
    std::string name;
    std::uint64_t round = 0;
  };

  PythonProcess(pid_t pid, PythonRuntime runtime, const SamplerOptions& options,
                ThreadStopper& stopper);
  void sample_thread(const PythonThread& thread, pid_t task, SampleSink& sink);
  // Both leave the stack in frames_.
  bool read_now(const PythonThread& thread);
  bool read_stopped(const PythonThread& thread, pid_t task, bool& allowed);
  bool read_running(const PythonThread& thread);
  void add_native(pid_t task);
  void read_locals();
  void read_names(const std::vector<PythonThread>& threads);
  const std::string& name_of(const PythonThread& thread, pid_t task, Known& known);

  pid_t pid_;
  SamplerOptions options_;
  ThreadStopper& stopper_;
  LiveMemory memory_;
  PythonRuntime runtime_;
  PythonObjects objects_;
  StackReader reader_;
  CodeCache codes_;
  TaskClock clock_;
  TaskIds ids_;
  std::unique_ptr<NativeUnwinder> unwinder_;
  SamplingStats stats_;
  std::map<pid_t, Known> known_;
  std::map<Address, std::string> names_;
  std::uint64_t names_time_ = 0;
  std::uint64_t round_ = 0;
  std::uint64_t last_round_time_ = 0;
  bool refused_ = false;
  bool holds_lock_ = false;  // of the thread that was read last
  std::vector<PythonThread> threads_;
  std::vector<RawFrame> raw_;
  std::vector<SampledFrame> frames_;
  std::vector<SampledFrame> merged_;
  std::vector<FrameEntry> entries_;
  std::vector<NativeFrame> native_;
  std::vector<std::vector<LocalVariable>> locals_;
};

}  // namespace sonde
