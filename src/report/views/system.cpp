#include "report/views/system.hpp"

#include <optional>

#include "analysis/system_use.hpp"
#include "report/sparkline.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kPointsForPeople = 12;
constexpr std::size_t kSparkWidth = 40;

// At most `count` values, each the mean of an equal part.
std::vector<double> means(const std::vector<double>& values, std::size_t count) {
  if (values.size() <= count) return values;
  std::vector<double> out(count, 0);
  std::vector<double> weights(count, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t part = i * count / values.size();
    out[part] += values[i];
    ++weights[part];
  }
  for (std::size_t i = 0; i < count; ++i) out[i] /= weights[i];
  return out;
}

Block utilization_block(const SystemUse& use, const GpuTimesById& gpus) {
  Table table;
  table.columns = {
      {.key = "device", .header = "Device"},
      {.key = "utilization_percent", .header = "Utilisation", .type = CellType::Percent}};
  const bool measured = use.elapsed > 0;
  table.rows.push_back({text_cell("CPU (processes)"), measured ? Cell(use.process_cpu) : Cell()});
  table.rows.push_back(
      {text_cell("CPU (system)"), use.machine_cpu ? Cell(*use.machine_cpu) : Cell()});
  for (const auto& [device, times] : gpus) {
    const Nanos whole = times.steps > 0 ? times.steps : use.elapsed;
    table.rows.push_back({"GPU " + std::to_string(device), share_cell(times.kernels, whole)});
  }
  Block out{"utilization", "Device summary", std::move(table), "", {}};
  out.notes.emplace_back(
      "CPU (processes): CPU time of the program and its children / elapsed time; 100% is one core. "
      "CPU (system): busy time of all cores / their whole time." +
      std::string(gpus.empty() ? ""
                               : " GPU: time with a kernel on it / time of the steps, or elapsed "
                                 "time where there are no steps."));
  return out;
}

Block totals_block(const SystemUse& use) {
  Facts facts;
  facts.push_back({"elapsed_ns", "Elapsed", use.elapsed, CellType::Duration, ""});
  facts.push_back({"peak_resident_bytes", "Peak memory", use.peak_resident, CellType::Bytes, ""});
  facts.push_back({"peak_processes", "Processes", use.peak_processes, CellType::Integer,
                   "up to " + format_count(use.peak_processes)});
  facts.push_back({"peak_threads", "Threads", use.peak_threads, CellType::Integer,
                   "up to " + format_count(use.peak_threads)});
  facts.push_back(
      {"context_switches", "Context switches", use.context_switches, CellType::Integer, ""});
  facts.push_back({"bytes_read", "Read", use.bytes_read, CellType::Bytes, ""});
  facts.push_back({"bytes_written", "Written", use.bytes_written, CellType::Bytes, ""});
  return {"processes", "Program, seen from outside", std::move(facts), "", {}};
}

Block curve_block(const SystemUse& use, const ReportRequest& request) {
  Table table;
  table.columns = {
      {.key = "time_ns", .header = "Time", .type = CellType::Duration},
      {.key = "process_cpu_percent", .header = "CPU", .type = CellType::Percent},
      {.key = "system_cpu_percent", .header = "System", .type = CellType::Percent, .drop = 2},
      {.key = "threads", .header = "Threads", .type = CellType::Integer, .drop = 1},
      {.key = "resident_bytes", .header = "Memory", .type = CellType::Bytes},
      {.key = "peak_percent", .header = "of peak", .type = CellType::Percent, .bar = true}};
  const std::vector<SystemPoint> points = thin_out(use.points, request.row_limit(kPointsForPeople));
  for (const SystemPoint& point : points) {
    // The first sample may come before the program has its memory, the last one when it is gone.
    if (point.resident == 0) continue;
    table.rows.push_back({point.time, point.process_cpu, point.machine_cpu, point.threads,
                          point.resident, share_cell(point.resident, use.peak_resident)});
  }
  Block out{
      "over_time", "Over time", std::move(table), "The program ended before it was seen.", {}};
  return out;
}

Block gpus_block(const SystemUse& use, const ReportRequest& request) {
  const auto cell = [](const std::optional<double>& value) {
    return value ? Cell(*value) : Cell();
  };
  Table table;
  table.columns = {
      {.key = "gpu", .header = "GPU", .cut = Cut::Middle},
      {.key = "busy_percent", .header = "Busy", .type = CellType::Percent},
      {.key = "peak_memory_bytes", .header = "Peak memory", .type = CellType::Bytes},
      {.key = "power_watts", .header = "Power (W)", .type = CellType::Real},
      {.key = "peak_power_watts", .header = "at most", .type = CellType::Real, .drop = 3},
      {.key = "clock_mhz", .header = "Clock (MHz)", .type = CellType::Real, .drop = 2},
      {.key = "temperature_celsius", .header = "Hottest (C)", .type = CellType::Real, .drop = 4}};
  if (!request.for_programs()) {
    table.columns.push_back({.key = "curve", .header = "Busy over time", .drop = 1});
  }
  for (const GpuUse& gpu : use.gpus) {
    std::vector<Cell> row = {gpu.device,           cell(gpu.busy),       gpu.peak_memory,
                             cell(gpu.power),      cell(gpu.peak_power), cell(gpu.clock),
                             cell(gpu.temperature)};
    if (!request.for_programs()) {
      row.emplace_back(sparkline(means(gpu.busy_over_time, kSparkWidth), request.render.unicode));
    }
    table.rows.push_back(std::move(row));
  }
  Block out{"gpus", "GPUs, as the driver tells", std::move(table), "", {}};
  out.notes.emplace_back(
      "Busy: the share of the time in which any kernel ran, of whatever program; all numbers are "
      "means of the "
      "whole run unless they say otherwise.");
  return out;
}

}  // namespace

std::vector<Block> system_blocks(RunTraces traces, const GpuTimesById& gpus,
                                 const ReportRequest& request) {
  for (const NamedTrace& named : traces) {
    if (const std::optional<SystemUse> use = system_use(named.trace)) {
      std::vector<Block> out = {utilization_block(*use, gpus), totals_block(*use),
                                curve_block(*use, request)};
      if (!use->gpus.empty()) out.push_back(gpus_block(*use, request));
      return out;
    }
  }
  return {};
}

}  // namespace sonde
