#include "sampler/python_process.hpp"

#include <algorithm>
#include <cerrno>

#include "sampler/thread_names.hpp"

namespace sonde {
namespace {

constexpr int kTries = 3;
constexpr std::uint64_t kNamesEvery = 1'000'000'000;
constexpr std::uint64_t kNewNamesEvery = 100'000'000;
constexpr std::uint64_t kForgetAfter = 64;  // rounds

}  // namespace

PythonProcess::PythonProcess(pid_t pid, PythonRuntime runtime, const SamplerOptions& options,
                             ThreadStopper& stopper)
    : pid_(pid),
      options_(options),
      stopper_(stopper),
      memory_(pid),
      runtime_(std::move(runtime)),
      objects_(memory_, runtime_.layout),
      reader_(memory_, runtime_),
      codes_(objects_),
      clock_(pid),
      ids_(pid, memory_) {
  if (options_.native && options_.stop) unwinder_ = options_.native(pid);
}

Result<std::unique_ptr<PythonProcess>> PythonProcess::open(pid_t pid, const SamplerOptions& options,
                                                           ThreadStopper& stopper) {
  const LiveMemory memory(pid);
  Result<PythonRuntime> runtime = find_python(pid, memory);
  if (!runtime) return runtime.error();
  if (!looks_right(memory, *runtime)) {
    return Error{ErrorCode::EmptyInput,
                 "process " + std::to_string(pid) + ": its Python " +
                     runtime->layout.version.text() + " (" + runtime->path +
                     ") is not at work, or is laid out unlike a release build",
                 {},
                 {},
                 "wait until it has started; debug builds and builds with Py_TRACE_REFS cannot "
                 "be read"};
  }
  return std::unique_ptr<PythonProcess>(
      new PythonProcess(pid, std::move(*runtime), options, stopper));
}

bool PythonProcess::sample(SampleSink& sink) {
  stopper_.release_late();
  const std::uint64_t now = monotonic_nanos();
  if (!reader_.read_threads(threads_)) return false;
  ++round_;
  ++stats_.rounds;
  bool is_new = false;
  for (const PythonThread& thread : threads_) is_new |= !names_.contains(thread.handle);
  if (now - names_time_ >= (is_new ? kNewNamesEvery : kNamesEvery)) {
    read_names(threads_);
    names_time_ = now;
  }
  for (const PythonThread& thread : threads_) {
    pid_t task = ids_.find(thread, threads_);
    if (task == 0 && threads_.size() == 1) task = pid_;
    if (task == 0) {
      ++stats_.lost;
      continue;
    }
    sample_thread(thread, task, sink);
  }
  last_round_time_ = now;
  if (round_ % kForgetAfter == 0) {
    std::erase_if(known_, [&](const auto& item) {
      const bool old = item.second.round + kForgetAfter < round_;
      if (old) clock_.forget(item.first);
      return old;
    });
  }
  return true;
}

void PythonProcess::sample_thread(const PythonThread& thread, pid_t task, SampleSink& sink) {
  TaskTimes times;
  if (!clock_.read(task, times)) return;  // it ended meanwhile
  Known& known = known_[task];
  const bool is_new = known.round == 0;
  const std::uint64_t now = monotonic_nanos();
  bool uncertain = false;
  bool got = false;
  if (!is_new && known.has_stack && known.waiting && times == known.times) {
    // It was on no processor since it was read last: it stands where it stood.
    got = true;
    frames_ = known.frames;
    holds_lock_ = reader_.lock_holder(thread.interpreter) == thread.state;
  } else {
    const char state = clock_.state(task);
    if (state == 'X' || state == 'Z') return;
    known.waiting = state != 'R';
    bool may_stop = stops();
    if (known.waiting && !unwinder_) {
      for (int i = 0; i < kTries && !got; ++i) {
        got = read_now(thread);
        TaskTimes after;
        if (!clock_.read(task, after)) return;
        if (after == times) break;
        // It woke up while it was read.
        got = false;
        times = after;
      }
    }
    if (!got && may_stop) got = read_stopped(thread, task, may_stop);
    if (!got && !may_stop) {
      got = read_running(thread);
      uncertain = got;
    }
    // CPU time is counted up to here: a stop takes the thread off its processor, which brings its
    // times up to date.
    if (!clock_.read(task, times)) return;
  }
  ThreadSample sample;
  sample.thread = task;
  sample.time = now;
  sample.waiting = known.waiting;
  if (!is_new) {
    sample.wall_nanos = now - std::min(now, known.time);
    sample.cpu_nanos = times.cpu_nanos - std::min(times.cpu_nanos, known.times.cpu_nanos);
  } else if (last_round_time_ != 0) {
    sample.wall_nanos = now - std::min(now, last_round_time_);
    sample.cpu_nanos = std::min(times.cpu_nanos, sample.wall_nanos);
  }
  known.times = times;
  known.time = now;
  known.round = round_;
  known.has_stack = got;
  if (!got) {
    ++stats_.lost;
    return;
  }
  if (uncertain) ++stats_.uncertain;
  known.frames = frames_;
  sample.name = name_of(thread, task, known);
  sample.holds_lock = holds_lock_;
  sample.uncertain = uncertain;
  sample.frames = known.frames;
  sample.locals = locals_;
  ++stats_.samples;
  sink.add(sample);
}

bool PythonProcess::read_now(const PythonThread& thread) {
  locals_.clear();
  const StackReader::Outcome outcome = reader_.read_stack(thread.state, raw_);
  if (outcome == StackReader::Outcome::Broken) return false;
  holds_lock_ = reader_.lock_holder(thread.interpreter) == thread.state;
  // The frames are copied: where all their functions are known the thread need not wait for the
  // look whether they still are what they were.
  if (!unwinder_ && !options_.locals && codes_.knows(raw_)) stopper_.release();
  if (!codes_.resolve(raw_, frames_, entries_)) return false;
  if (outcome == StackReader::Outcome::Cut) ++stats_.cut;
  // A frame that was left out would put the variables of all behind it in the wrong place.
  if (options_.locals && raw_.size() == frames_.size()) read_locals();
  return true;
}

bool PythonProcess::read_stopped(const PythonThread& thread, pid_t task, bool& allowed) {
  switch (stopper_.stop(pid_, task)) {
    case ThreadStopper::Outcome::Stopped: {
      const bool got = read_now(thread);
      if (got && unwinder_) add_native(task);
      stopper_.release();
      return got;
    }
    case ThreadStopper::Outcome::Gone:
      return false;
    case ThreadStopper::Outcome::Late:
      // It is not on a processor, or in the kernel: before it runs Python again it will stop. Until
      // then its frames stay as they are.
      ++stats_.late;
      return read_now(thread);
    case ThreadStopper::Outcome::Refused:
      ++stats_.refused;
      refused_ = errno == EPERM && stats_.refused > 3 && stopper_.stops() == 0;
      allowed = false;
      return false;
  }
  return false;
}

bool PythonProcess::read_running(const PythonThread& thread) {
  for (int i = 0; i < kTries; ++i) {
    const Address before = reader_.top_frame(thread.state);
    if (read_now(thread) && before == reader_.top_frame(thread.state)) return true;
  }
  ++stats_.torn;
  return false;
}

void PythonProcess::add_native(pid_t task) {
  if (!unwinder_->unwind(task, native_)) {
    ++stats_.native_failed;
    if (native_.empty()) return;
  }
  if (!merge_stacks(native_, frames_, entries_, codes_, merged_)) ++stats_.native_unmatched;
  frames_.swap(merged_);
}

void PythonProcess::read_names(const std::vector<PythonThread>& threads) {
  Address interpreter = 0;
  for (const PythonThread& thread : threads) {
    if (thread.interpreter == interpreter) continue;
    interpreter = thread.interpreter;
    for (auto& [handle, name] : read_thread_names(objects_, interpreter)) {
      names_[handle] = std::move(name);
    }
  }
}

const std::string& PythonProcess::name_of(const PythonThread& thread, pid_t task, Known& known) {
  const auto at = names_.find(thread.handle);
  if (at != names_.end()) {
    known.name = at->second;
  } else if (known.name.empty()) {
    known.name = clock_.name(task);
  }
  return known.name;
}

void PythonProcess::read_locals() {
  locals_.clear();
  const PythonLayout& layout = runtime_.layout;
  constexpr std::size_t kMaxLocals = 256;
  for (const RawFrame& frame : raw_) {
    std::vector<LocalVariable>& list = locals_.emplace_back();
    std::int32_t count = 0;
    Address names = 0;
    if (!memory_.get(frame.code + layout.code.local_count, count) || count <= 0 ||
        !memory_.get(frame.code + layout.code.local_names, names)) {
      continue;
    }
    const std::size_t most = std::min<std::size_t>(static_cast<std::size_t>(count), kMaxLocals);
    for (std::size_t i = 0; i < most; ++i) {
      Address name = 0;
      Address value = 0;
      if (!memory_.get(names + layout.object.tuple_items + i * 8, name) ||
          !memory_.get(frame.address + layout.frame.locals + i * 8, value)) {
        break;
      }
      value &= ~layout.frame.tags;
      std::optional<std::string> text = objects_.text(name, 128);
      if (text && value != 0) list.push_back({std::move(*text), objects_.brief(value)});
    }
  }
}

}  // namespace sonde
