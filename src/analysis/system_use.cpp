#include "analysis/system_use.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "base/saturated.hpp"
#include "trace/system_counters.hpp"

namespace sonde {
namespace {

namespace names = system_counters;

struct Mean {
  double sum = 0;
  double most = 0;
  std::size_t count = 0;

  void add(double value) {
    if (!std::isfinite(value)) return;
    most = count == 0 ? value : std::max(most, value);
    sum += value;
    ++count;
  }
  std::optional<double> mean() const {
    return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
  }
  std::optional<double> peak() const { return count > 0 ? std::optional(most) : std::nullopt; }
};

struct GpuCurves {
  Mean busy;
  Mean memory;
  Mean power;
  Mean clock;
  Mean temperature;
  std::vector<double> busy_over_time;

  void add(std::string_view name, double value) {
    if (name == names::kGpuUse) {
      busy.add(value);
      if (std::isfinite(value)) busy_over_time.push_back(value);
    }
    if (name == names::kGpuMemory) memory.add(value);
    if (name == names::kGpuPower) power.add(value);
    if (name == names::kGpuClock) clock.add(value);
    if (name == names::kGpuTemperature) temperature.add(value);
  }

  GpuUse finish(const std::string& device) {
    GpuUse out;
    out.device = device;
    out.busy = busy.mean();
    out.power = power.mean();
    out.peak_power = power.peak();
    out.clock = clock.mean();
    out.temperature = temperature.peak();
    out.peak_memory = saturated_round(memory.most);
    out.busy_over_time = std::move(busy_over_time);
    return out;
  }
};

class Reader {
 public:
  void add(std::string_view domain, std::string_view name, const CounterValue& value) {
    if (domain == names::kProcesses) add_process(name, value);
    if (domain == names::kMachine) add_machine(name, value);
    if (domain.starts_with(names::kGpu))
      add_gpu(domain.substr(names::kGpu.size()), name, value.value);
  }

  std::optional<SystemUse> finish() {
    if (use_.points.empty() || !seen_) return std::nullopt;
    use_.elapsed = use_.points.back().time - use_.points.front().time;
    if (use_.elapsed > 0) use_.process_cpu = 100 * cpu_time_ / static_cast<double>(use_.elapsed);
    if (total_time_ > 0) use_.machine_cpu = 100 * busy_time_ / total_time_;
    for (auto& [device, gpu] : gpus_) use_.gpus.push_back(gpu.finish(device));
    return std::move(use_);
  }

 private:
  // The counters of one sample have one time.
  SystemPoint& point(Nanos time) {
    if (use_.points.empty() || use_.points.back().time != time) use_.points.push_back({time});
    return use_.points.back();
  }

  void add_process(std::string_view name, const CounterValue& value) {
    const std::int64_t number = saturated_round(value.value);
    if (name == names::kCpuTime) {
      cpu_time_ = value.value;
      seen_ = true;
    } else if (name == names::kCpuPercent) {
      point(value.time).process_cpu = value.value;
    } else if (name == names::kResident) {
      point(value.time).resident = number;
      use_.peak_resident = std::max(use_.peak_resident, number);
    } else if (name == names::kPeakResident) {
      use_.peak_resident = std::max(use_.peak_resident, number);
    } else if (name == names::kProcessCount) {
      use_.peak_processes = std::max(use_.peak_processes, number);
    } else if (name == names::kThreads) {
      point(value.time).threads = number;
      use_.peak_threads = std::max(use_.peak_threads, number);
    } else if (name == names::kContextSwitches) {
      use_.context_switches = number;
    } else if (name == names::kBytesRead) {
      use_.bytes_read = number;
    } else if (name == names::kBytesWritten) {
      use_.bytes_written = number;
    }
  }

  void add_machine(std::string_view name, const CounterValue& value) {
    if (name == names::kCpuPercent) point(value.time).machine_cpu = value.value;
    if (name == names::kBusyTime) busy_time_ = value.value;
    if (name == names::kTotalTime) total_time_ = value.value;
  }

  void add_gpu(std::string_view device, std::string_view name, double value) {
    gpus_[std::string(device)].add(name, value);
  }

  SystemUse use_;
  std::map<std::string, GpuCurves> gpus_;
  double cpu_time_ = 0;
  double busy_time_ = 0;
  double total_time_ = 0;
  bool seen_ = false;
};

}  // namespace

bool is_system_trace(const Trace& trace) {
  return trace.meta().format == "sonde" && trace.slice_count() == 0 &&
         trace.strings().find(names::kCpuTime).valid() &&
         trace.strings().find(names::kMachine).valid();
}

std::optional<SystemUse> system_use(const Trace& trace) {
  if (!is_system_trace(trace)) return std::nullopt;
  Reader reader;
  for (const CounterValue& value : trace.counters()) {
    reader.add(trace.text(trace.track(value.track).name), trace.text(value.counter), value);
  }
  return reader.finish();
}

std::vector<SystemPoint> thin_out(const std::vector<SystemPoint>& points, std::size_t count) {
  if (points.size() <= count || count == 0) return points;
  const Nanos first = points.front().time;
  const double part =
      std::max(1.0, static_cast<double>(points.back().time - first)) / static_cast<double>(count);
  std::vector<SystemPoint> out;
  std::size_t in_part = 0;
  std::size_t last_part = SIZE_MAX;
  for (const SystemPoint& point : points) {
    const auto index = std::min(
        count - 1, static_cast<std::size_t>(static_cast<double>(point.time - first) / part));
    if (index != last_part) {
      out.push_back(point);
      last_part = index;
      in_part = 1;
      continue;
    }
    SystemPoint& sum = out.back();
    const auto before = static_cast<double>(in_part++);
    const auto now = static_cast<double>(in_part);
    sum.process_cpu = (sum.process_cpu * before + point.process_cpu) / now;
    sum.machine_cpu = (sum.machine_cpu * before + point.machine_cpu) / now;
    sum.resident = std::max(sum.resident, point.resident);
    sum.threads = std::max(sum.threads, point.threads);
  }
  return out;
}

}  // namespace sonde
