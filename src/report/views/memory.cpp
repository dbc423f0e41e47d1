#include "report/views/memory.hpp"

#include "analysis/device_memory.hpp"
#include "analysis/memory_curve.hpp"
#include "report/sparkline.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSparkWidth = 40;
constexpr std::size_t kPointsForPeople = 16;
constexpr std::size_t kSensibleProcesses = 20;
constexpr const char* kNoMemory =
    "Nothing is known of the memory over time. 'sonde run' records it for every program.";

std::string spark_of(const MemoryCurve& curve, const ReportRequest& request) {
  std::vector<double> values;
  for (const MemoryCurve::Point& point : thin_out(curve.points, kSparkWidth)) {
    values.push_back(static_cast<double>(point.bytes));
  }
  return sparkline(values, request.render.unicode);
}

Block processes_block(const std::vector<MemoryCurve>& curves, const ReportRequest& request) {
  Block out{"processes", "Memory of processes", {}, kNoMemory, {}};
  Table table;
  table.columns = {{.key = "process", .header = "Process", .cut = Cut::Middle},
                   {.key = "peak_bytes", .header = "Peak", .type = CellType::Bytes},
                   {.key = "peak_time_ns", .header = "At", .type = CellType::Duration, .drop = 2},
                   {.key = "last_bytes", .header = "Last", .type = CellType::Bytes, .drop = 3}};
  if (!request.for_programs()) {
    table.columns.push_back({.key = "curve", .header = "Over time", .drop = 1});
  }
  for (const MemoryCurve& curve : curves) {
    std::vector<Cell> row = {curve.label, curve.peak, curve.peak_time,
                             curve.points.empty() ? Cell() : Cell(curve.points.back().bytes)};
    if (!request.for_programs()) row.emplace_back(spark_of(curve, request));
    table.rows.push_back(std::move(row));
  }
  if (request.sort == "name") {
    std::stable_sort(table.rows.begin(), table.rows.end());
  } else if (request.sort == "last") {
    sort_descending(table.rows, [](const std::vector<Cell>& row) { return row[3]; });
  }
  cut_rows(table.rows, request, kSensibleProcesses, out);
  out.content = std::move(table);
  return out;
}

// People see the largest curve, programs all of them.
Block curve_block(const std::vector<MemoryCurve>& curves, const ReportRequest& request) {
  Block out{"curve", "Over time", {}, kNoMemory, {}};
  Table table;
  if (request.for_programs()) table.columns.push_back({.key = "process"});
  table.columns.push_back({.key = "time_ns", .header = "Time", .type = CellType::Duration});
  table.columns.push_back({.key = "bytes", .header = "Memory", .type = CellType::Bytes});
  table.columns.push_back(
      {.key = "peak_percent", .header = "of peak", .type = CellType::Percent, .bar = true});
  const std::size_t shown =
      request.for_programs() ? curves.size() : std::min<std::size_t>(1, curves.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const MemoryCurve& curve = curves[i];
    for (const MemoryCurve::Point& point :
         thin_out(curve.points, request.row_limit(kPointsForPeople))) {
      std::vector<Cell> row;
      if (request.for_programs()) row.emplace_back(curve.label);
      row.emplace_back(point.time);
      row.emplace_back(point.bytes);
      row.push_back(share_cell(point.bytes, curve.peak));
      table.rows.push_back(std::move(row));
    }
  }
  if (shown > 0 && !request.for_programs()) out.title = "Over time: " + curves[0].label;
  out.content = std::move(table);
  return out;
}

Block allocations_block(const ProcessAllocations& all) {
  Table table;
  table.columns = {{.key = "memory", .header = "Allocations"},
                   {.key = "allocations", .header = "Count", .type = CellType::Integer},
                   {.key = "allocated_bytes", .header = "Allocated", .type = CellType::Bytes},
                   {.key = "peak_bytes", .header = "At the peak", .type = CellType::Bytes},
                   {.key = "live_bytes", .header = "At the end", .type = CellType::Bytes}};
  const auto add = [&](const char* name, const AllocationTotals& totals) {
    if (totals.allocations == 0 && totals.allocated == 0) return;
    table.rows.push_back(
        {std::string(name), totals.allocations, totals.allocated, totals.at_peak, totals.live});
  };
  add("Python objects", all.python);
  add("native (malloc)", all.native);
  Block out{"allocations", "Recorded allocations", std::move(table), "", {}};
  out.notes.emplace_back("By place: sonde report --view memory-lines");
  return out;
}

const char* text_of(DeviceMemory::Count count) {
  switch (count) {
    case DeviceMemory::Count::Allocated:
      return "allocated";
    case DeviceMemory::Count::Reserved:
      return "reserved";
    case DeviceMemory::Count::InUse:
      return "in use";
  }
  return "";
}

Block devices_block(const std::vector<DeviceMemory>& devices, const ReportRequest& request,
                    bool several) {
  Block out{"devices", "Memory of devices", {}, "", {}};
  Table table;
  if (several) table.columns.push_back({.key = "trace", .header = "Trace", .cut = Cut::Middle});
  table.columns.insert(
      table.columns.end(),
      {{.key = "device", .header = "Device", .cut = Cut::Middle},
       {.key = "count", .header = "Memory"},
       {.key = "peak_bytes", .header = "Peak", .type = CellType::Bytes},
       {.key = "peak_time_ns", .header = "At", .type = CellType::Duration, .drop = 2},
       {.key = "last_bytes", .header = "Last", .type = CellType::Bytes, .drop = 3},
       {.key = "allocations", .header = "Allocations", .type = CellType::Integer, .drop = 4}});
  if (!request.for_programs()) {
    table.columns.push_back({.key = "curve", .header = "Over time", .drop = 1});
  }
  std::int64_t failed = 0;
  bool in_use = false;
  for (const DeviceMemory& memory : devices) {
    std::vector<Cell> row;
    if (several) row.emplace_back(trace_label(*memory.named));
    const MemoryCurve& curve = memory.curve;
    const bool counted = memory.count == DeviceMemory::Count::Allocated;
    row.insert(row.end(),
               {curve.label, text_cell(text_of(memory.count)), curve.peak, curve.peak_time,
                curve.points.empty() ? Cell() : Cell(curve.points.back().bytes),
                counted ? Cell(memory.allocations) : Cell()});
    if (!request.for_programs()) row.emplace_back(spark_of(curve, request));
    table.rows.push_back(std::move(row));
    failed += memory.failed;
    in_use = in_use || memory.count == DeviceMemory::Count::InUse;
  }
  out.content = std::move(table);
  if (in_use) out.notes.emplace_back("In use: by all programs on the device, as the driver tells.");
  if (failed > 0) {
    out.notes.push_back(format_plural(failed, "allocation", "allocations") + " found no memory.");
  }
  return out;
}

std::vector<DeviceMemory> requested_devices(RunTraces traces, const ReportRequest& request) {
  std::vector<DeviceMemory> devices = device_memory(traces);
  std::erase_if(devices, [&](const DeviceMemory& memory) {
    return !row_matches(request, {std::string_view(memory.curve.label)});
  });
  return devices;
}

std::vector<MemoryCurve> requested_curves(RunTraces traces, const ReportRequest& request) {
  std::vector<MemoryCurve> curves = memory_curves(traces);
  std::erase_if(curves, [&](const MemoryCurve& curve) {
    return !row_matches(request, {std::string_view(curve.label)});
  });
  return curves;
}

}  // namespace

Document memory_view(RunTraces traces, const ReportRequest& request) {
  Document out;
  out.view = "memory";
  out.title = view_title("Memory", traces, "all processes");
  out.csv_block = "curve";
  const std::vector<MemoryCurve> curves = requested_curves(traces, request);
  const std::vector<DeviceMemory> devices = requested_devices(traces, request);
  if (!curves.empty() || devices.empty() || request.for_programs()) {
    out.blocks.push_back(processes_block(curves, request));
  }
  if (!curves.empty()) out.blocks.push_back(curve_block(curves, request));
  if (!devices.empty()) {
    out.blocks.push_back(devices_block(devices, request, traces.size() > 1));
  }
  const ProcessAllocations all = process_allocations(traces);
  if (all.known) out.blocks.push_back(allocations_block(all));
  return out;
}

std::vector<Block> memory_facts(RunTraces traces, const ReportRequest& request) {
  Facts facts;
  const std::vector<MemoryCurve> curves = memory_curves(traces);
  if (!curves.empty()) {
    const MemoryCurve& curve = curves.front();
    facts.push_back({"peak_resident_bytes", "Peak memory", curve.peak, CellType::Bytes,
                     format_bytes(static_cast<double>(curve.peak)) + " of " + curve.label +
                         ", at " + format_duration(static_cast<double>(curve.peak_time))});
    if (curve.points.size() > 2 && !request.for_programs()) {
      facts.push_back({"curve", "Over time", spark_of(curve, request), CellType::Text, ""});
    }
  }
  const ProcessAllocations all = process_allocations(traces);
  const auto add = [&](const char* key, const char* label, const AllocationTotals& totals) {
    if (totals.allocated == 0) return;
    facts.push_back({key, label, totals.allocated, CellType::Bytes,
                     format_bytes(static_cast<double>(totals.allocated)) + " in " +
                         format_plural(totals.allocations, "allocation", "allocations") + ", " +
                         format_bytes(static_cast<double>(totals.at_peak)) + " live at the peak"});
  };
  add("python_allocated_bytes", "Python objects", all.python);
  add("native_allocated_bytes", "Native memory", all.native);
  std::vector<Block> out;
  if (!facts.empty()) out.push_back({"memory", "Memory", std::move(facts), "", {}});
  return out;
}

}  // namespace sonde
