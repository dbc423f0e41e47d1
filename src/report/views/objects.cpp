#include "report/views/objects.hpp"

#include "analysis/object_growth.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 20;
constexpr const char* kNoObjects =
    "No snapshots of objects in this trace. 'sonde run --memory objects -- python3 ...' takes "
    "them.";

Block snapshots_block(const std::vector<ObjectSnapshot>& snapshots, const ReportRequest& request) {
  Block out{"snapshots", "Snapshots", {}, kNoObjects, {}};
  Table table;
  table.columns = {{.key = "number", .header = "No.", .type = CellType::Integer},
                   {.key = "label", .header = "Label", .cut = Cut::Middle},
                   {.key = "time_ns", .header = "Time", .type = CellType::Duration},
                   {.key = "objects", .header = "Objects", .type = CellType::Integer},
                   {.key = "bytes", .header = "Size", .type = CellType::Bytes}};
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    table.rows.push_back({static_cast<std::int64_t>(i + 1), snapshots[i].label,
                          snapshots[i].snapshot->time, snapshots[i].objects, snapshots[i].bytes});
  }
  cut_rows(table.rows, request, kSensibleRows, out);
  out.content = std::move(table);
  return out;
}

Block types_block(const ObjectSnapshot& snapshot, const ReportRequest& request) {
  Block out{"types", "Objects at '" + snapshot.label + "'", {}, "No objects.", {}};
  std::vector<ObjectCount> rows = object_counts(snapshot);
  std::erase_if(rows, [&](const ObjectCount& row) { return !row_matches(request, {row.type}); });
  if (request.sort == "count") {
    sort_descending(rows, [](const ObjectCount& row) { return row.count; });
  } else if (request.sort != "type") {
    sort_descending(rows, [](const ObjectCount& row) { return row.bytes; });
  }
  cut_rows(rows, request, kSensibleRows, out);
  Table table;
  table.columns = {{.key = "type", .header = "Type", .cut = Cut::Middle},
                   {.key = "count", .header = "Count", .type = CellType::Integer},
                   {.key = "bytes", .header = "Size", .type = CellType::Bytes},
                   {.key = "percent", .header = "Share", .type = CellType::Percent, .drop = 1}};
  for (const ObjectCount& row : rows) {
    table.rows.push_back(
        {text_cell(row.type), row.count, row.bytes, share_cell(row.bytes, snapshot.bytes)});
  }
  out.content = std::move(table);
  return out;
}

void sort_changes(std::vector<ObjectGrowth>& rows, const std::string& key) {
  if (key == "type") return;  // their own order
  if (key == "count") {
    sort_descending(rows, [](const ObjectGrowth& row) { return row.change.more(); });
  } else {
    sort_descending(rows, [](const ObjectGrowth& row) { return row.change.more_bytes(); });
  }
}

Table changes_table(const std::vector<ObjectGrowth>& rows, bool with_rises) {
  Table table;
  table.columns = {
      {.key = "type", .header = "Type", .cut = Cut::Middle},
      {.key = "count_before", .header = "Before", .type = CellType::Integer, .drop = 2},
      {.key = "count", .header = "After", .type = CellType::Integer},
      {.key = "more", .header = "More", .type = CellType::Integer},
      {.key = "more_bytes", .header = "More bytes", .type = CellType::Bytes}};
  if (with_rises) table.columns.push_back({.key = "rises", .header = "Rose", .drop = 1});
  for (const ObjectGrowth& row : rows) {
    const ObjectChange& change = row.change;
    std::vector<Cell> cells = {text_cell(change.type), change.count_before, change.count,
                               change.more(), change.more_bytes()};
    if (with_rises)
      cells.emplace_back(std::to_string(row.rises) + " of " + std::to_string(row.steps));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Block changes_block(std::vector<ObjectGrowth> rows, const ReportRequest& request,
                    const std::string& id, const std::string& title, bool with_rises) {
  Block out{id, title, {}, "No type has more or fewer objects than before.", {}};
  std::erase_if(rows,
                [&](const ObjectGrowth& row) { return !row_matches(request, {row.change.type}); });
  sort_changes(rows, request.sort);
  cut_rows(rows, request, kSensibleRows, out);
  out.content = changes_table(rows, with_rises);
  return out;
}

Block difference_block(const ObjectSnapshot& before, const ObjectSnapshot& after,
                       const ReportRequest& request) {
  std::vector<ObjectGrowth> rows;
  for (const ObjectChange& change : object_changes(before, after)) {
    if (change.more() != 0 || change.more_bytes() != 0) rows.push_back({change, 0, 0});
  }
  return changes_block(std::move(rows), request, "difference",
                       "From '" + before.label + "' to '" + after.label + "'", false);
}

}  // namespace

const std::vector<std::string>& objects_sort_keys() {
  static const std::vector<std::string> kKeys = {"bytes", "count", "type"};
  return kKeys;
}

Result<bool> check_objects(RunTraces traces, const ReportRequest& request) {
  const std::vector<ObjectSnapshot> snapshots = object_snapshots(traces);
  for (const std::string& name : {request.snapshot, request.against}) {
    if (name.empty() || find_snapshot(snapshots, name)) continue;
    std::string known;
    for (const ObjectSnapshot& snapshot : snapshots) {
      known += (known.empty() ? "" : ", ") + snapshot.label;
    }
    return Error{ErrorCode::UsageError,
                 "there is no snapshot '" + name + "'",
                 {},
                 {},
                 known.empty() ? "none was taken" : "there are " + known};
  }
  return true;
}

Document objects_view(RunTraces traces, const ReportRequest& request) {
  Document out;
  out.view = "objects";
  out.title = view_title("Objects", traces, "by process");
  out.csv_block = "snapshots";
  const std::vector<ObjectSnapshot> snapshots = object_snapshots(traces);
  out.blocks.push_back(snapshots_block(snapshots, request));
  if (snapshots.empty()) return out;
  const std::size_t last = snapshots.size() - 1;
  const std::size_t shown =
      request.snapshot.empty() ? last : find_snapshot(snapshots, request.snapshot).value_or(last);
  if (!request.against.empty()) {
    const std::size_t before = find_snapshot(snapshots, request.against).value_or(0);
    out.blocks.push_back(difference_block(snapshots[before], snapshots[shown], request));
    out.csv_block = "difference";
    return out;
  }
  out.blocks.push_back(types_block(snapshots[shown], request));
  out.csv_block = "types";
  if (request.snapshot.empty()) {
    std::vector<ObjectGrowth> growth = object_growth(snapshots);
    if (!growth.empty()) {
      out.blocks.push_back(changes_block(std::move(growth), request, "growth",
                                         "Growth from the first snapshot to the last", true));
    }
  }
  return out;
}

}  // namespace sonde
