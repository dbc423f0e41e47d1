#include "system/system_agent.hpp"

#include <time.h>

#include <algorithm>

#include "trace/system_counters.hpp"

namespace sonde {
namespace {

namespace names = system_counters;

std::int64_t monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t nanos(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

SystemAgent::SystemAgent(const std::string& path, std::string_view program, pid_t root, bool gpus)
    : writer_(path, program),
      tree_(root),
      processes_(writer_.add_domain(names::kProcesses)),
      machine_(writer_.add_domain(names::kMachine)),
      cpu_time_(writer_.add_name(names::kCpuTime)),
      cpu_percent_(writer_.add_name(names::kCpuPercent)),
      resident_(writer_.add_name(names::kResident)),
      peak_resident_(writer_.add_name(names::kPeakResident)),
      process_count_(writer_.add_name(names::kProcessCount)),
      threads_(writer_.add_name(names::kThreads)),
      switches_(writer_.add_name(names::kContextSwitches)),
      read_(writer_.add_name(names::kBytesRead)),
      written_(writer_.add_name(names::kBytesWritten)),
      busy_time_(writer_.add_name(names::kBusyTime)),
      total_time_(writer_.add_name(names::kTotalTime)),
      memory_used_(writer_.add_name(names::kMemoryUsed)),
      curves_(writer_, resident_),
      first_machine_(read_machine_times()),
      last_machine_(first_machine_) {
  if (gpus) gpus_.emplace(writer_);
}

void SystemAgent::sample() {
  const TreeTotals totals = tree_.sample();
  const std::int64_t now = monotonic_now();
  curves_.add(tree_, now);
  write(totals, now);
}

void SystemAgent::finish(const rusage& usage) {
  TreeTotals totals = last_;
  totals.processes = 0;
  totals.threads = 0;
  totals.resident_bytes = 0;
  totals.cpu_nanos = std::max(totals.cpu_nanos, nanos(usage.ru_utime) + nanos(usage.ru_stime));
  totals.context_switches =
      std::max<std::int64_t>(totals.context_switches, usage.ru_nvcsw + usage.ru_nivcsw);
  const std::int64_t now = monotonic_now();
  // The most that a single process had, which a sample may have missed; in KiB.
  peak_ = std::max<std::int64_t>(peak_, usage.ru_maxrss * 1024);
  writer_.add_counter(now, peak_resident_, processes_, peak_);
  curves_.finish(now);
  write(totals, now);
  writer_.close();
}

void SystemAgent::finish() {
  sample();
  writer_.add_counter(monotonic_now(), peak_resident_, processes_, peak_);
  writer_.close();
}

void SystemAgent::write(const TreeTotals& totals, std::int64_t now) {
  const MachineTimes machine = read_machine_times();
  const std::int64_t passed = last_time_ == 0 ? 0 : now - last_time_;
  writer_.add_counter(now, cpu_time_, processes_, totals.cpu_nanos);
  writer_.add_counter(now, cpu_percent_, processes_,
                      percent(totals.cpu_nanos - last_.cpu_nanos, passed));
  writer_.add_counter(now, resident_, processes_, totals.resident_bytes);
  writer_.add_counter(now, process_count_, processes_, totals.processes);
  writer_.add_counter(now, threads_, processes_, totals.threads);
  writer_.add_counter(now, switches_, processes_, totals.context_switches);
  writer_.add_counter(now, read_, processes_, totals.bytes_read);
  writer_.add_counter(now, written_, processes_, totals.bytes_written);
  writer_.add_counter(now, busy_time_, machine_, machine.busy_nanos - first_machine_.busy_nanos);
  writer_.add_counter(now, total_time_, machine_, machine.total_nanos - first_machine_.total_nanos);
  writer_.add_counter(now, cpu_percent_, machine_,
                      percent(machine.busy_nanos - last_machine_.busy_nanos,
                              machine.total_nanos - last_machine_.total_nanos));
  writer_.add_counter(now, memory_used_, machine_, read_memory_used());
  if (gpus_) gpus_->sample(writer_, now);
  writer_.flush();
  last_ = totals;
  peak_ = std::max(peak_, totals.resident_bytes);
  last_machine_ = machine;
  last_time_ = now;
}

}  // namespace sonde
