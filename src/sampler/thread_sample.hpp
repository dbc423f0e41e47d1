#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sampler/code_cache.hpp"

namespace sonde {

// A variable of a function at work; its value as one short line.
struct LocalVariable {
  std::string name;
  std::string value;
};

// What one thread was doing at a moment.
struct ThreadSample {
  pid_t thread = 0;
  std::string_view name;   // the program's own, else the system's
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  // What the sample stands for: the time since the thread's last one, and how much of it the thread
  // was on a processor.
  std::uint64_t wall_nanos = 0;
  std::uint64_t cpu_nanos = 0;
  bool holds_lock = false;               // the interpreter's
  bool waiting = false;                  // it was not running
  bool uncertain = false;                // read while it ran: callers may be one line off
  std::span<const SampledFrame> frames;  // innermost first; empty: no Python at work
  // Where asked for: of each Python frame, innermost first.
  std::span<const std::vector<LocalVariable>> locals;
};

class SampleSink {
 public:
  virtual ~SampleSink() = default;
  virtual void add(const ThreadSample& sample) = 0;
};

// How the sampling went. Told in every report.
struct SamplingStats {
  std::uint64_t rounds = 0;
  std::uint64_t missed_rounds = 0;  // the sampler came too late for
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;              // a thread that could not be read
  std::uint64_t torn = 0;              // changed while it was read, each time that it was tried
  std::uint64_t uncertain = 0;         // read without a stop while the thread ran
  std::uint64_t late = 0;              // a thread that did not stop in time
  std::uint64_t refused = 0;           // a stop that was not allowed
  std::uint64_t cut = 0;               // deeper than what is followed
  std::uint64_t native_failed = 0;     // stacks without their C frames
  std::uint64_t native_unmatched = 0;  // C and Python frames that do not fit together
};

}  // namespace sonde
