#include "report/views/memory_profile.hpp"

#include "analysis/memory_profile.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 15;
constexpr std::size_t kSensiblePoints = 12;
constexpr std::size_t kMostPoints = 1000;

Cell bytes_cell(std::int64_t bytes) { return bytes == kNoNumber ? Cell() : Cell(bytes); }

Block summary_block(const std::vector<AllocatorProfile>& profiles, const std::string& ending,
                    const std::string& title) {
  Block out;
  out.id = "allocators" + ending;
  out.title = title;
  out.when_empty =
      "No allocations in this trace: the profiler did not record memory, or nothing was allocated.";
  Table table;
  table.columns = {
      {.key = "allocator", .header = "Allocator", .cut = Cut::Middle},
      {.key = "allocations", .header = "Allocs", .type = CellType::Integer},
      {.key = "frees", .header = "Frees", .type = CellType::Integer},
      {.key = "capacity_bytes", .header = "Capacity", .type = CellType::Bytes},
      {.key = "lifetime_peak_bytes", .header = "Peak ever", .type = CellType::Bytes, .drop = 1},
      {.key = "peak_bytes", .header = "Peak", .type = CellType::Bytes},
      {.key = "peak_time_ns", .header = "At", .type = CellType::Duration},
      {.key = "peak_heap_bytes", .header = "Heap", .type = CellType::Bytes},
      {.key = "peak_stack_bytes", .header = "Stack", .type = CellType::Bytes},
      {.key = "peak_free_bytes", .header = "Free", .type = CellType::Bytes, .drop = 2},
      {.key = "peak_fragmentation_percent",
       .header = "Frag.",
       .type = CellType::Percent,
       .drop = 3}};
  for (const AllocatorProfile& p : profiles) {
    table.rows.push_back(
        {p.name, count_cell(p.allocations), count_cell(p.frees), bytes_cell(p.capacity),
         bytes_cell(p.lifetime_peak), bytes_cell(p.peak.in_use()), time_cell(p.peak.time),
         bytes_cell(p.peak.heap), bytes_cell(p.peak.stack), bytes_cell(p.peak.free),
         p.peak.fragmentation < 0 ? Cell() : Cell(100 * p.peak.fragmentation)});
  }
  out.content = std::move(table);
  return out;
}

Block live_block(const AllocatorProfile& profile, const ReportRequest& request,
                 const std::string& ending) {
  Block out;
  out.id = "at_peak " + profile.name + ending;
  out.title = "At the peak of " + profile.name;
  out.when_empty = "Nothing that was allocated during the recording is alive at the peak.";
  Table table;
  table.columns = {
      {.key = "op", .header = "Operator", .cut = Cut::Middle, .least = 20},
      {.key = "count", .header = "Count", .type = CellType::Integer},
      {.key = "allocated_bytes", .header = "Allocated", .type = CellType::Bytes},
      {.key = "requested_bytes", .header = "Requested", .type = CellType::Bytes, .drop = 1},
      {.key = "region", .header = "Region", .drop = 2},
      {.key = "data_type", .header = "Type", .drop = 2},
      {.key = "shape", .header = "Shape", .cut = Cut::Middle, .drop = 1}};
  std::vector<std::vector<Cell>> rows;
  if (profile.peak.stack > 0) {
    rows.push_back({std::string("stack"), std::int64_t{1}, profile.peak.stack, profile.peak.stack,
                    std::string("stack"), std::string(), std::string()});
  }
  if (profile.unexplained > 0) {
    rows.push_back({std::string("unused preallocated device memory, or from before the recording"),
                    std::int64_t{1}, profile.unexplained, profile.unexplained,
                    std::string("persist/dynamic"), std::string(), std::string()});
  }
  for (const LiveAllocation& live : profile.live) {
    rows.push_back({text_cell(live.op), count_cell(live.count), live.allocated, live.requested,
                    text_cell(live.region), text_cell(live.data_type), text_cell(live.shape)});
  }
  cut_rows(rows, request, kSensibleRows, out);
  table.rows = std::move(rows);
  out.content = std::move(table);
  return out;
}

Block curve_block(const AllocatorProfile& profile, const ReportRequest& request,
                  const std::string& ending) {
  Block out;
  out.id = "curve " + profile.name + ending;
  out.title = "Memory of " + profile.name + " over time";
  Table table;
  table.columns = {{.key = "time_ns", .header = "At", .type = CellType::Duration},
                   {.key = "change_bytes", .header = "Change", .type = CellType::Integer},
                   {.key = "in_use_bytes", .header = "In use", .type = CellType::Bytes},
                   {.key = "heap_bytes", .header = "Heap", .type = CellType::Bytes},
                   {.key = "stack_bytes", .header = "Stack", .type = CellType::Bytes},
                   {.key = "free_bytes", .header = "Free", .type = CellType::Bytes},
                   {.key = "fragmentation_percent", .header = "Frag.", .type = CellType::Percent}};
  const std::size_t limit = std::min(request.row_limit(kSensiblePoints), kMostPoints);
  for (const MemoryPoint& point : sample_points(profile.points, limit)) {
    table.rows.push_back({time_cell(point.time), point.bytes, point.in_use(), point.heap,
                          point.stack, bytes_cell(point.free),
                          point.fragmentation < 0 ? Cell() : Cell(100 * point.fragmentation)});
  }
  if (table.rows.size() < profile.points.size()) {
    out.notes.push_back("Of each stretch of the " +
                        format_count(static_cast<std::int64_t>(profile.points.size())) +
                        " allocations and frees the one with the most memory in use.");
  }
  out.content = std::move(table);
  return out;
}

}  // namespace

Document memory_profile_view(RunTraces traces, const ReportRequest& request) {
  Document out;
  out.view = "memory-profile";
  out.title = view_title("Memory profile", traces, "each by itself");
  for (const NamedTrace& named : traces) {
    const std::string ending = traces.size() > 1 ? " " + trace_label(named) : "";
    const std::vector<AllocatorProfile> profiles = memory_profile(named.trace);
    out.blocks.push_back(summary_block(
        profiles, ending, ending.empty() ? "Allocators" : "Allocators of " + trace_label(named)));
    for (const AllocatorProfile& profile : profiles) {
      out.blocks.push_back(live_block(profile, request, ending));
      out.blocks.push_back(curve_block(profile, request, ending));
    }
  }
  return out;
}

}  // namespace sonde
