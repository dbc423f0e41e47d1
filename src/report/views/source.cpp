#include "report/views/source.hpp"

#include <algorithm>
#include <utility>

#include "analysis/source_costs.hpp"
#include "report/views/profile_cells.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleFiles = 20;
constexpr std::size_t kSensibleNames = 8;
constexpr const char* kNoLines =
    "Nothing is known of lines of source. 'sonde run --python line -- python3 ...' records them.";

SourceCosts costs_of(RunTraces traces, const ReportRequest& request) {
  return source_costs(traces, {ProfileNeed::Lines, wanted_source(request)}, request.weight);
}

// The columns of costs, for files and for lines.
void add_columns(const SourceCosts& costs, bool shares, Table& table) {
  if (costs.has_cost) {
    table.columns.push_back({.key = costs.hits_are_samples ? "samples" : "hits",
                             .header = costs.hits_are_samples ? "Samples" : "Hits",
                             .type = CellType::Integer,
                             .drop = 2});
    table.columns.push_back({.key = cost_key("self", costs.cost),
                             .header = cost_header(costs.cost),
                             .type = cost_type(costs.cost)});
    if (shares) {
      table.columns.push_back(
          {.key = "percent", .header = "Share", .type = CellType::Percent, .drop = 1});
    }
  }
  if (costs.has_memory) {
    table.columns.push_back(
        {.key = "allocated_bytes", .header = "Allocated", .type = CellType::Bytes, .drop = 3});
    table.columns.push_back({.key = "peak_bytes", .header = "At peak", .type = CellType::Bytes});
  }
  if (costs.has_device) {
    table.columns.push_back({.key = "device_self_ns", .header = "GPU", .type = CellType::Duration});
  }
}

// Nothing where a line has nothing: the eye finds the numbers.
template <class Row>
void add_cells(const SourceCosts& costs, const Row& row, bool shares, std::vector<Cell>& cells) {
  if (costs.has_cost) {
    cells.push_back(row.hits != 0 ? Cell(row.hits) : Cell());
    cells.push_back(row.cost > 0 || row.hits > 0 ? cost_cell(row.cost, costs.cost) : Cell());
    if (shares) cells.push_back(row.cost > 0 ? share_cell(row.cost, costs.whole) : Cell());
  }
  if (costs.has_memory) {
    cells.push_back(row.allocated != 0 ? Cell(row.allocated) : Cell());
    cells.push_back(row.peak != 0 ? Cell(row.peak) : Cell());
  }
  if (costs.has_device) cells.push_back(row.device != 0 ? time_cell(row.device) : Cell());
}

Block files_block(const SourceCosts& costs, const ReportRequest& request) {
  Block out{"files", "Files", {}, kNoLines, {}};
  std::vector<const SourceFile*> files;
  for (const SourceFile& file : costs.files) {
    if (row_matches(request, {file.file})) files.push_back(&file);
  }
  if (request.sort == "hits") {
    sort_descending(files, [](const SourceFile* file) { return file->hits; });
  } else if (request.sort == "peak") {
    sort_descending(files, [](const SourceFile* file) { return file->peak; });
  } else if (request.sort == "allocated") {
    sort_descending(files, [](const SourceFile* file) { return file->allocated; });
  } else if (request.sort == "device") {
    sort_descending(files, [](const SourceFile* file) { return file->device; });
  } else if (request.sort == "line") {
    std::stable_sort(files.begin(), files.end(),
                     [](const SourceFile* a, const SourceFile* b) { return a->file < b->file; });
  }
  cut_rows(files, request, kSensibleFiles, out);
  Table table;
  table.columns.push_back({.key = "file", .header = "File", .cut = Cut::Middle, .least = 24});
  // Lines that include what they called lie in one another: their sum has no whole.
  const bool shares = !costs.with_calls;
  add_columns(costs, shares, table);
  for (const SourceFile* file : files) {
    std::vector<Cell> cells = {text_cell(file->file)};
    add_cells(costs, *file, shares, cells);
    table.rows.push_back(std::move(cells));
  }
  if (!table.rows.empty()) {
    if (costs.has_cost && costs.with_calls) {
      out.notes.emplace_back(
          "The time of a line includes what it called, so that a call counts in each file on its "
          "way.");
    }
    out.notes.emplace_back("--view source --file FILE shows one of them, line by line");
  }
  out.content = std::move(table);
  return out;
}

Block lines_block(const SourceCosts& costs, const SourceFile& file, const ReportRequest& request) {
  Block out{"source", "", {}, kNoLines, {}};
  const std::vector<std::string> source = read_source(file.file);
  const bool sorted = !request.sort.empty() && request.sort != "line";
  Table table;
  table.columns.push_back({.key = "line", .header = "Line", .type = CellType::Integer});
  add_columns(costs, true, table);
  if (costs.has_increments) {
    table.columns.push_back(
        {.key = "increment_bytes", .header = "Increment", .type = CellType::Bytes});
  }
  if (costs.has_device) {
    table.columns.push_back(
        {.key = "device_total_ns", .header = "GPU total", .type = CellType::Duration, .drop = 1});
  }
  table.columns.push_back({.key = "source", .header = "Source", .least = 32});
  const auto add = [&](const SourceLine& line) {
    std::vector<Cell> cells = {std::int64_t{line.line}};
    add_cells(costs, line, true, cells);
    if (costs.has_increments) cells.push_back(line.increment != 0 ? Cell(line.increment) : Cell());
    if (costs.has_device) {
      cells.push_back(line.device_total != 0 ? time_cell(line.device_total) : Cell());
    }
    const auto index = static_cast<std::size_t>(line.line) - 1;
    cells.push_back(index < source.size() ? Cell(source[index]) : Cell(std::string()));
    table.rows.push_back(std::move(cells));
  };
  // The whole file where it can be read, unless the dearest lines are asked for.
  if (!source.empty() && !sorted && !request.for_programs()) {
    auto next = file.lines.begin();
    for (std::size_t i = 0; i < source.size(); ++i) {
      const auto number = static_cast<std::int32_t>(i + 1);
      while (next != file.lines.end() && next->line < number) ++next;
      SourceLine nothing;
      nothing.line = number;
      add(next != file.lines.end() && next->line == number ? *next : nothing);
    }
  } else {
    std::vector<SourceLine> lines = file.lines;
    if (request.sort == "hits") {
      sort_descending(lines, [](const SourceLine& line) { return line.hits; });
    } else if (request.sort == "peak") {
      sort_descending(lines, [](const SourceLine& line) { return line.peak; });
    } else if (request.sort == "allocated") {
      sort_descending(lines, [](const SourceLine& line) { return line.allocated; });
    } else if (request.sort == "device") {
      sort_descending(
          lines, [](const SourceLine& line) { return std::pair(line.device, line.device_total); });
    } else if (request.sort == "self") {
      sort_descending(lines, [](const SourceLine& line) { return line.cost; });
    }
    for (const SourceLine& line : lines) add(line);
  }
  cut_rows(table.rows, request, SIZE_MAX, out);
  out.content = std::move(table);
  if (source.empty()) {
    out.notes.emplace_back(
        "The source itself is not on this machine under that name, or is no file of source: lines "
        "with costs are shown without their text.");
  }
  if (costs.has_cost && costs.with_calls) {
    out.notes.emplace_back(
        "The time of a line includes what it called; shares are of the dearest line.");
  }
  if (costs.has_cost && costs.hits_are_samples) {
    out.notes.emplace_back("Estimated from samples.");
  }
  if (costs.has_device) {
    out.notes.emplace_back(
        "GPU: kernels, copies and sets, for the innermost line of the program itself; GPU total: "
        "with what the line called. A backward pass counts for the line that ran forward.");
  }
  return out;
}

}  // namespace

const std::vector<std::string>& source_sort_keys() {
  static const std::vector<std::string> kKeys = {"line",      "self", "hits",
                                                 "allocated", "peak", "device"};
  return kKeys;
}

Result<bool> check_source(RunTraces traces, const ReportRequest& request) {
  if (Result<bool> good = check_lines(traces, request); !good) return good;
  if (request.file.empty()) return true;
  const SourceCosts costs = costs_of(traces, request);
  if (costs.find(request.file) != nullptr) return true;
  std::string known;
  for (std::size_t i = 0; i < std::min(costs.files.size(), kSensibleNames); ++i) {
    known += (i > 0 ? ", " : "") + std::string(costs.files[i].file);
  }
  const bool several =
      std::count_if(costs.files.begin(), costs.files.end(),
                    [&](const SourceFile& file) { return file.file.ends_with(request.file); }) > 1;
  return Error{ErrorCode::UsageError,
               several ? "several files end in '" + request.file + "'; name more of the path"
                       : "nothing is known of the lines of '" + request.file + "'",
               {},
               {},
               known.empty() ? "no lines were recorded" : "there are " + known};
}

Document source_view(RunTraces traces, const ReportRequest& request) {
  Document out;
  out.view = "source";
  const SourceCosts costs = costs_of(traces, request);
  const SourceFile* const file = request.file.empty() ? nullptr : costs.find(request.file);
  if (file == nullptr) {
    out.title = view_title("Source", traces, "sums over all");
    out.csv_block = "files";
    out.blocks.push_back(files_block(costs, request));
    return out;
  }
  out.title = view_title("Source of " + std::string(file->file), traces, "sums over all");
  out.csv_block = "source";
  out.blocks.push_back(lines_block(costs, *file, request));
  return out;
}

}  // namespace sonde
