#include "report/views/devices.hpp"

#include "analysis/devices.hpp"
#include "analysis/steps.hpp"
#include "analysis/system_use.hpp"
#include "analysis/trace_facts.hpp"
#include "report/views/rows.hpp"
#include "report/views/system.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 20;

struct DeviceRowOf {
  const NamedTrace* named;
  DeviceStats stats;
  Nanos window = 0;  // from the first step to the last
  bool timed = true;
};

struct ThreadRowOf {
  const NamedTrace* named;
  ThreadStats stats;
  bool timed = true;
};

// A time of a trace that has times; nothing of others, which tell an order only.
Cell time_of(Nanos time, bool timed) { return timed ? Cell(time) : Cell(); }
Cell share_of(Nanos time, Nanos whole, bool timed) {
  return timed ? share_cell(time, whole) : Cell();
}

void sort_rows(std::vector<DeviceRowOf>& rows, const std::string& key) {
  if (key == "busy") sort_descending(rows, [](const DeviceRowOf& r) { return r.stats.busy; });
  if (key == "kernel") {
    sort_descending(rows, [](const DeviceRowOf& r) { return r.stats.kernel_time; });
  }
  if (key == "memcpy") {
    sort_descending(rows, [](const DeviceRowOf& r) { return r.stats.copy_time; });
  }
}

std::string thread_title(const Trace& trace, const Track& track) {
  const std::string_view name = trace.text(track.name);
  if (!name.empty()) return std::string(name);
  return "thread " + std::to_string(track.tid);
}

Block device_block(std::vector<DeviceRowOf> rows, const ReportRequest& request, bool several) {
  sort_rows(rows, request.sort);
  Block out;
  out.id = "devices";
  out.title = "Devices";
  out.when_empty = "No GPU work in this trace.";
  cut_rows(rows, request, kSensibleRows, out);
  Table table;
  if (several) table.columns.push_back({.key = "trace", .header = "Trace"});
  table.columns.insert(
      table.columns.end(),
      {{.key = "device", .header = "Id", .type = CellType::Integer},
       {.key = "name", .header = "Name"},
       {.key = "memory_bytes", .header = "Memory", .type = CellType::Bytes, .drop = 3},
       {.key = "multiprocessors", .header = "SMs", .type = CellType::Integer, .drop = 3},
       {.key = "streams", .header = "Streams", .type = CellType::Integer, .drop = 4},
       {.key = "kernels", .header = "Kernels", .type = CellType::Integer, .drop = 2},
       {.key = "kernel_time_ns", .header = "Kernel", .type = CellType::Duration},
       {.key = "memcpy_time_ns", .header = "Memcpy", .type = CellType::Duration},
       {.key = "memset_time_ns", .header = "Memset", .type = CellType::Duration, .drop = 1},
       {.key = "busy_ns", .header = "Busy", .type = CellType::Duration, .drop = 2},
       {.key = "busy_percent", .header = "of span", .type = CellType::Percent},
       {.key = "step_utilization_percent", .header = "in steps", .type = CellType::Percent}});
  for (const DeviceRowOf& row : rows) {
    const DeviceStats& stats = row.stats;
    std::vector<Cell> cells;
    if (several) cells.emplace_back(trace_label(*row.named));
    const bool known = stats.properties.has_value();
    cells.insert(
        cells.end(),
        {static_cast<std::int64_t>(stats.id), known ? Cell(stats.properties->name) : Cell(),
         known && stats.properties->memory_bytes > 0 ? Cell(stats.properties->memory_bytes)
                                                     : Cell(),
         known && stats.properties->multiprocessors > 0 ? Cell(stats.properties->multiprocessors)
                                                        : Cell(),
         count_cell(stats.streams.size()), count_cell(stats.kernels),
         time_of(stats.kernel_time, row.timed), time_of(stats.copy_time, row.timed),
         time_of(stats.memset_time, row.timed), time_of(stats.busy, row.timed),
         share_of(stats.busy, row.named->trace.span_end(), row.timed),
         share_of(stats.step_kernel_busy, row.window, row.timed)});
    table.rows.push_back(std::move(cells));
  }
  if (!table.rows.empty()) {
    out.notes.emplace_back(
        "Busy: any work ran. 'of span' is the share of the whole recording, 'in "
        "steps' the share of the steps in which a kernel ran.");
  }
  out.content = std::move(table);
  return out;
}

Block stream_block(const std::vector<DeviceRowOf>& devices, const ReportRequest& request,
                   bool several) {
  Block out;
  out.id = "streams";
  out.title = "Streams";
  out.when_empty = "No streams.";
  Table table;
  if (several) table.columns.push_back({.key = "trace", .header = "Trace"});
  table.columns.insert(table.columns.end(),
                       {{.key = "device", .header = "Device", .type = CellType::Integer},
                        {.key = "stream", .header = "Stream", .type = CellType::Integer},
                        {.key = "slices", .header = "Work items", .type = CellType::Integer},
                        {.key = "busy_ns", .header = "Busy", .type = CellType::Duration},
                        {.key = "busy_percent", .header = "of span", .type = CellType::Percent}});
  for (const DeviceRowOf& row : devices) {
    for (const StreamStats& stream : row.stats.streams) {
      std::vector<Cell> cells;
      if (several) cells.emplace_back(trace_label(*row.named));
      cells.insert(cells.end(), {static_cast<std::int64_t>(row.stats.id), stream.stream,
                                 count_cell(stream.slices), time_of(stream.busy, row.timed),
                                 share_of(stream.busy, row.named->trace.span_end(), row.timed)});
      table.rows.push_back(std::move(cells));
    }
  }
  cut_rows(table.rows, request, kSensibleRows, out);
  out.content = std::move(table);
  return out;
}

Block thread_block(const std::vector<ThreadRowOf>& threads, const ReportRequest& request,
                   bool several) {
  Block out;
  out.id = "host_threads";
  out.title = "Host threads";
  out.when_empty = "No operators and no runtime calls on any thread.";
  Table table;
  if (several) table.columns.push_back({.key = "trace", .header = "Trace"});
  table.columns.insert(
      table.columns.end(),
      {{.key = "thread", .header = "Thread"},
       {.key = "operators", .header = "Operators", .type = CellType::Integer, .drop = 3},
       {.key = "operator_time_ns", .header = "Operator time", .type = CellType::Duration},
       {.key = "operator_percent", .header = "of span", .type = CellType::Percent, .drop = 4},
       {.key = "runtime_calls", .header = "Runtime calls", .type = CellType::Integer, .drop = 2},
       {.key = "runtime_time_ns",
        .header = "Runtime time",
        .type = CellType::Duration,
        .drop = 1}});
  for (const ThreadRowOf& row : threads) {
    std::vector<Cell> cells;
    if (several) cells.emplace_back(trace_label(*row.named));
    cells.insert(cells.end(),
                 {thread_title(row.named->trace, row.named->trace.track(row.stats.track)),
                  count_cell(row.stats.operators), time_of(row.stats.operator_time, row.timed),
                  share_of(row.stats.operator_time, row.named->trace.span_end(), row.timed),
                  count_cell(row.stats.runtime_calls), time_of(row.stats.runtime_time, row.timed)});
    table.rows.push_back(std::move(cells));
  }
  cut_rows(table.rows, request, kSensibleRows, out);
  out.content = std::move(table);
  return out;
}

}  // namespace

const std::vector<std::string>& devices_sort_keys() {
  static const std::vector<std::string> kKeys = {"device", "busy", "kernel", "memcpy"};
  return kKeys;
}

Document devices_view(RunTraces traces, const ReportRequest& request) {
  std::vector<DeviceRowOf> devices;
  std::vector<ThreadRowOf> threads;
  GpuTimesById gpus;
  std::size_t programs = 0;
  bool any_untimed = false;
  for (const NamedTrace& named : traces) {
    if (is_system_trace(named.trace)) continue;
    ++programs;
    const OpTree tree(named.trace);
    const Interval window = break_down_steps(named.trace, tree).window();
    DeviceUse use = device_use(named.trace, window);
    const bool timed = has_times(named.trace);
    any_untimed = any_untimed || !timed;
    if (timed) add_gpu_times(named.trace, use, gpus);
    for (DeviceStats& stats : use.devices) {
      // Kernels of which only counters are known took time, but nobody knows how much.
      const bool known = timed && (stats.busy > 0 || stats.kernels == 0);
      any_untimed = any_untimed || !known;
      devices.push_back({&named, std::move(stats), window.length(), known});
    }
    for (const ThreadStats& stats : use.threads) threads.push_back({&named, stats, timed});
  }
  const bool several = programs > 1;
  Document out;
  out.view = "devices";
  out.title = view_title("Devices", traces, "");
  out.csv_block = "devices";
  out.blocks = system_blocks(traces, gpus, request);
  // A program that records nothing itself has only been seen from outside.
  if (programs == 0) {
    out.csv_block = "utilization";
    return out;
  }
  out.blocks.push_back(device_block(devices, request, several));
  if (!devices.empty()) out.blocks.push_back(stream_block(devices, request, several));
  out.blocks.push_back(thread_block(threads, request, several));
  if (any_untimed) {
    out.blocks.back().notes.emplace_back(
        "Where the file has no times, it tells what ran and in which order, not how long it took: "
        "those columns are empty.");
  }
  return out;
}

}  // namespace sonde
