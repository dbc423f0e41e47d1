#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// What the program and the machine did, as the system agent saw it from outside.
struct SystemPoint {
  Nanos time = 0;
  double process_cpu = 0;  // percent since the point before; 100 is one core
  double machine_cpu = 0;  // percent of all cores
  std::int64_t resident = 0;
  std::int64_t threads = 0;
};

// A GPU, as the driver told of it; nothing where it did not.
struct GpuUse {
  std::string device;           // "0: NVIDIA H200"
  std::optional<double> busy;   // percent of the time, mean
  std::optional<double> power;  // watts, mean
  std::optional<double> peak_power;
  std::optional<double> clock;        // MHz, mean
  std::optional<double> temperature;  // degrees Celsius, the most
  std::int64_t peak_memory = 0;
  std::vector<double> busy_over_time;
};

struct SystemUse {
  Nanos elapsed = 0;
  double process_cpu = 0;             // percent over the whole run; 100 is one core
  std::optional<double> machine_cpu;  // percent of all cores; nothing where no time passed
  std::int64_t peak_resident = 0;
  std::int64_t peak_threads = 0;
  std::int64_t peak_processes = 0;
  std::int64_t context_switches = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::vector<SystemPoint> points;  // ascending
  std::vector<GpuUse> gpus;
};

// Whether the system agent wrote it: such a trace stands beside those of the processes.
bool is_system_trace(const Trace& trace);
// Nothing for any other trace.
std::optional<SystemUse> system_use(const Trace& trace);

// At most `count` points, each standing for an equal part of the run: mean CPU, most memory and
// threads.
std::vector<SystemPoint> thin_out(const std::vector<SystemPoint>& points, std::size_t count);

}  // namespace sonde
