#include "report/views/memory_lines.hpp"

#include <tuple>

#include "analysis/memory_lines.hpp"
#include "report/views/profile_cells.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 30;
constexpr const char* kNoLines =
    "No allocations by line in this trace. 'sonde run --memory lines -- python3 ...' records them.";

void sort_lines(std::vector<MemoryLine>& lines, const std::string& key) {
  if (key == "line") {
    std::stable_sort(lines.begin(), lines.end(), [](const MemoryLine& a, const MemoryLine& b) {
      return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
  } else if (key == "allocated") {
    sort_descending(lines, [](const MemoryLine& line) { return line.allocated; });
  } else if (key == "net") {
    sort_descending(lines, [](const MemoryLine& line) { return line.net; });
  } else if (key == "count") {
    sort_descending(lines, [](const MemoryLine& line) { return line.allocations; });
  } else {
    sort_descending(lines,
                    [](const MemoryLine& line) { return std::pair(line.peak, line.allocated); });
  }
}

Block sites_block(std::vector<MemoryLine> lines, const ReportRequest& request,
                  std::size_t sensible) {
  Block out{"lines", "Allocations by line", {}, kNoLines, {}};
  std::int64_t whole = 0;
  for (const MemoryLine& line : lines) {
    if (__builtin_add_overflow(whole, line.peak, &whole)) whole = INT64_MAX;
  }
  std::erase_if(lines, [&](const MemoryLine& line) {
    return !row_matches(request, {line.file, line.function});
  });
  sort_lines(lines, request.sort);
  cut_rows(lines, request, sensible, out);
  Table table;
  table.columns = {{.key = "file", .header = "File", .cut = Cut::Middle, .least = 16},
                   {.key = "line", .header = "Line", .type = CellType::Integer},
                   {.key = "peak_bytes", .header = "At peak", .type = CellType::Bytes},
                   {.key = "peak_percent", .header = "Share", .type = CellType::Percent, .drop = 3},
                   {.key = "net_bytes", .header = "Net", .type = CellType::Bytes},
                   {.key = "allocated_bytes", .header = "Allocated", .type = CellType::Bytes},
                   {.key = "native_bytes",
                    .header = "Native",
                    .type = CellType::Bytes,
                    .drop = 2,
                    .hide_zero = true},
                   {.key = "allocations", .header = "Count", .type = CellType::Integer, .drop = 4},
                   {.key = "function", .header = "Function", .cut = Cut::Middle, .drop = 1}};
  const bool programs = for_programs(request);
  for (const MemoryLine& line : lines) {
    table.rows.push_back({programs ? text_cell(line.file) : Cell(place_text(line.file, 0)),
                          line.line > 0 ? Cell(std::int64_t{line.line}) : Cell(), line.peak,
                          share_cell(line.peak, whole), line.net, line.allocated, line.native,
                          line.allocations, text_cell(line.function)});
  }
  out.content = std::move(table);
  return out;
}

Block executed_block(std::vector<ExecutedLine> lines, const ReportRequest& request,
                     std::size_t sensible) {
  Block out{"executed", "The process's memory after each line", {}, "", {}};
  std::erase_if(lines, [&](const ExecutedLine& line) {
    return !row_matches(request, {line.file, line.function});
  });
  if (request.sort == "count") {
    sort_descending(lines, [](const ExecutedLine& line) { return line.hits; });
  } else if (request.sort == "peak") {
    sort_descending(lines, [](const ExecutedLine& line) { return line.peak; });
  } else if (request.sort == "net" || request.sort == "allocated") {
    sort_descending(lines, [](const ExecutedLine& line) { return line.increment; });
  }
  cut_rows(lines, request, sensible, out);
  Table table;
  table.columns = {{.key = "file", .header = "File", .cut = Cut::Middle, .least = 16},
                   {.key = "line", .header = "Line", .type = CellType::Integer},
                   {.key = "hits", .header = "Hits", .type = CellType::Integer, .drop = 3},
                   {.key = "bytes", .header = "Memory", .type = CellType::Bytes},
                   {.key = "increment_bytes", .header = "Increment", .type = CellType::Bytes},
                   {.key = "peak_bytes", .header = "Peak", .type = CellType::Bytes, .drop = 2},
                   {.key = "function", .header = "Function", .cut = Cut::Middle, .drop = 1}};
  const bool programs = for_programs(request);
  for (const ExecutedLine& line : lines) {
    table.rows.push_back({programs ? text_cell(line.file) : Cell(place_text(line.file, 0)),
                          std::int64_t{line.line}, line.hits, line.bytes, line.increment, line.peak,
                          text_cell(line.function)});
  }
  out.content = std::move(table);
  return out;
}

}  // namespace

const std::vector<std::string>& memory_lines_sort_keys() {
  static const std::vector<std::string> kKeys = {"peak", "net", "allocated", "count", "line"};
  return kKeys;
}

std::vector<Block> memory_lines_blocks(RunTraces traces, const ReportRequest& request,
                                       std::size_t sensible) {
  std::vector<Block> out;
  std::vector<MemoryLine> sites = memory_lines(plain_traces(traces));
  std::vector<ExecutedLine> executed = executed_lines(plain_traces(traces));
  if (!sites.empty() || executed.empty()) {
    out.push_back(sites_block(std::move(sites), request, sensible));
  }
  if (!executed.empty()) out.push_back(executed_block(std::move(executed), request, sensible));
  return out;
}

Document memory_lines_view(RunTraces traces, const ReportRequest& request) {
  Document out;
  out.view = "memory-lines";
  out.title = view_title("Memory by line", traces, "sums over all");
  out.blocks = memory_lines_blocks(traces, request, kSensibleRows);
  out.csv_block = out.blocks.front().id;
  return out;
}

}  // namespace sonde
