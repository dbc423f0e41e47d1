#include "sampler/python_sampler.hpp"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace sonde {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kLookEvery = 50 * kMillisecond;
constexpr std::uint64_t kEarlyLookEvery = 5 * kMillisecond;
constexpr std::uint64_t kEarly = 500 * kMillisecond;
constexpr std::uint64_t kFirstPause = 5 * kMillisecond;
constexpr std::uint64_t kLongestPause = 2000 * kMillisecond;
constexpr std::uint64_t kTellEvery = 5000 * kMillisecond;
constexpr std::uint64_t kGiveUpAfter = 5000 * kMillisecond;

std::string program_of(pid_t pid) {
  std::array<char, 1024> out;
  const std::string path = "/proc/" + std::to_string(pid) + "/exe";
  const ssize_t size = ::readlink(path.c_str(), out.data(), out.size());
  return {out.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::uint64_t own_cpu_nanos() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void sleep_until(std::uint64_t time) {
  const timespec until{static_cast<time_t>(time / 1'000'000'000),
                       static_cast<long>(time % 1'000'000'000)};
  // A signal ends the pause: the caller looks whether it is to stop.
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

}  // namespace

PythonSampler::PythonSampler(pid_t root, SamplerOptions options, MakeSink make_sink,
                             Refused refused)
    : root_(root),
      options_(std::move(options)),
      make_sink_(std::move(make_sink)),
      refused_(std::move(refused)),
      tree_(root),
      period_(static_cast<std::uint64_t>(1e9 / std::clamp(options_.rate, 0.01, 10'000.0))),
      start_(monotonic_nanos()),
      next_(start_) {
  // Waiting for a stop in steps of microseconds needs a timer that is as fine.
  ::prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
  // Where it is allowed: on a busy machine a thread must not stay stopped for as long as the
  // sampler waits for its turn. Of this thread alone.
  ::setpriority(PRIO_PROCESS, 0, -10);
}

PythonSampler::~PythonSampler() { finish(); }

std::optional<Error> PythonSampler::open_root() {
  constexpr int kTries = 100;
  for (int i = 0;; ++i) {
    Result<std::unique_ptr<PythonProcess>> process = PythonProcess::open(root_, options_, stopper_);
    if (process) {
      adopt(std::move(*process));
      return {};
    }
    if (process.error().code != ErrorCode::EmptyInput || i >= kTries) return process.error();
    sleep_until(monotonic_nanos() + 10 * kMillisecond);
  }
}

void PythonSampler::adopt(std::unique_ptr<PythonProcess> process) {
  const pid_t pid = process->pid();
  std::unique_ptr<ProcessSink> sink = make_sink_(*process);
  ++seen_;
  if (sink) {
    open_[pid] = {std::move(process), std::move(sink), monotonic_nanos(), missed_};
  }
}

void PythonSampler::look_at(pid_t pid, Candidate& candidate, std::uint64_t now) {
  const std::string program = program_of(pid);
  if (program != candidate.program) candidate = {0, 0, now, false, program};
  if (now < candidate.next_look) return;
  candidate.pause = std::clamp(candidate.pause * 2, kFirstPause, kLongestPause);
  candidate.next_look = now + candidate.pause;
  Result<std::unique_ptr<PythonProcess>> process = PythonProcess::open(pid, options_, stopper_);
  if (process) {
    adopt(std::move(*process));
    return;
  }
  const ErrorCode code = process.error().code;
  const bool hopeless =
      code == ErrorCode::Unsupported || code == ErrorCode::NoPermission ||
      (code == ErrorCode::EmptyInput && now - candidate.first_seen > kGiveUpAfter);
  if (hopeless && !candidate.refused) {
    candidate.refused = true;
    if (refused_) refused_(process.error());
  }
  if (hopeless) candidate.next_look = UINT64_MAX;
}

void PythonSampler::look_for_processes(std::uint64_t now) {
  if (now < next_look_) return;
  next_look_ = now + (now - start_ < kEarly ? kEarlyLookEvery : kLookEvery);
  std::vector<pid_t> there;
  if (options_.children) {
    there = tree_.processes();
  } else if (::access(("/proc/" + std::to_string(root_)).c_str(), F_OK) == 0) {
    there = {root_};
  }
  root_alive_ = !there.empty();
  for (const pid_t pid : there) {
    if (!open_.contains(pid)) look_at(pid, candidates_[pid], now);
  }
  std::erase_if(candidates_, [&](const auto& item) {
    return std::find(there.begin(), there.end(), item.first) == there.end();
  });
}

void PythonSampler::round() {
  const std::uint64_t now = monotonic_nanos();
  look_for_processes(now);
  if (!open_.empty()) ++rounds_;
  for (auto at = open_.begin(); at != open_.end();) {
    Open& open = at->second;
    if (open.process->sample(*open.sink)) {
      ++at;
      continue;
    }
    tell(open, true);
    at = open_.erase(at);
    next_look_ = 0;  // it may run another program now
  }
  if (now >= next_tell_) {
    if (next_tell_ != 0) {
      for (auto& [pid, open] : open_) tell(open, false);
    }
    next_tell_ = now + kTellEvery;
  }
}

std::uint64_t PythonSampler::next_time() {
  const std::uint64_t now = monotonic_nanos();
  if (open_.empty()) {
    next_ = std::max(now, next_look_);
    return next_;
  }
  next_ += period_;
  if (next_ <= now) {
    // What is late is not made up for: samples would stand close together.
    const std::uint64_t late = (now - next_) / period_ + 1;
    missed_ += late;
    next_ += late * period_;
  }
  return next_;
}

void PythonSampler::run(const std::atomic<bool>& stop, std::uint64_t end,
                        const std::function<void()>& after_round) {
  while (!stop.load() && alive()) {
    round();
    if (after_round) after_round();
    const std::uint64_t next = next_time();
    if (end != 0 && next >= end) {
      while (!stop.load() && monotonic_nanos() < end) sleep_until(end);
      break;
    }
    settle(next);
    sleep_until(next);
  }
}

void PythonSampler::settle(std::uint64_t time) {
  while (!stopper_.release_late() && monotonic_nanos() + kMillisecond < time) {
    sleep_until(monotonic_nanos() + kMillisecond);
  }
}

double PythonSampler::rate_of(const Open& open) const {
  const double seconds = static_cast<double>(monotonic_nanos() - open.start) / 1e9;
  return seconds > 0 ? static_cast<double>(open.process->stats().rounds) / seconds : 0;
}

double PythonSampler::actual_rate() const {
  const double seconds = static_cast<double>(monotonic_nanos() - start_) / 1e9;
  return seconds > 0 ? static_cast<double>(rounds_) / seconds : 0;
}

void PythonSampler::tell(Open& open, bool ended) {
  SamplingStats stats = open.process->stats();
  stats.missed_rounds = missed_ - open.first_missed;
  open.sink->tell(*open.process, stats, rate_of(open), own_cpu_nanos(), ended);
}

void PythonSampler::finish() {
  for (auto& [pid, open] : open_) tell(open, true);
  open_.clear();
}

}  // namespace sonde
