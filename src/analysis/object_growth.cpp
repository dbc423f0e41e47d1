#include "analysis/object_growth.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace sonde {
namespace {

// Types may stand several times in a hostile file.
std::map<std::string_view, ObjectCount> counts_of(const ObjectSnapshot& snapshot) {
  std::map<std::string_view, ObjectCount> out;
  for (const ProcessMemory::ObjectType& type : snapshot.snapshot->types) {
    const std::string_view name = snapshot.trace->text(type.name);
    ObjectCount& row = out.try_emplace(name, ObjectCount{name, 0, 0}).first->second;
    row.count += type.count;
    row.bytes += type.bytes;
  }
  return out;
}

std::string process_of(const NamedTrace& named) {
  for (const auto& [key, value] : named.trace.meta().properties) {
    if (key == "pid") return "process " + value;
  }
  return named.worker;
}

}  // namespace

std::vector<ObjectSnapshot> object_snapshots(std::span<const NamedTrace> traces) {
  const auto several = std::count_if(traces.begin(), traces.end(), [](const NamedTrace& named) {
    return !named.trace.process_memory().snapshots.empty();
  });
  std::vector<ObjectSnapshot> out;
  for (const NamedTrace& named : traces) {
    for (const ProcessMemory::Snapshot& snapshot : named.trace.process_memory().snapshots) {
      ObjectSnapshot row;
      row.trace = &named.trace;
      row.snapshot = &snapshot;
      row.label = std::string(named.trace.text(snapshot.label));
      if (several > 1) row.label = process_of(named) + ": " + row.label;
      for (const ProcessMemory::ObjectType& type : snapshot.types) {
        row.objects += type.count;
        row.bytes += type.bytes;
      }
      out.push_back(std::move(row));
    }
  }
  return out;
}

std::optional<std::size_t> find_snapshot(const std::vector<ObjectSnapshot>& snapshots,
                                         const std::string& name) {
  for (std::size_t i = snapshots.size(); i-- > 0;) {
    const std::string_view own = snapshots[i].trace->text(snapshots[i].snapshot->label);
    if (snapshots[i].label == name || own == name) return i;
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (number < 1 || number > snapshots.size()) return std::nullopt;
  return number - 1;
}

std::vector<ObjectCount> object_counts(const ObjectSnapshot& snapshot) {
  std::vector<ObjectCount> out;
  for (const auto& [type, row] : counts_of(snapshot)) out.push_back(row);
  return out;
}

std::vector<ObjectChange> object_changes(const ObjectSnapshot& before,
                                         const ObjectSnapshot& after) {
  std::map<std::string_view, ObjectChange> rows;
  for (const auto& [type, row] : counts_of(before)) {
    rows[type] = {type, 0, 0, row.count, row.bytes};
  }
  for (const auto& [type, row] : counts_of(after)) {
    ObjectChange& change = rows[type];
    change.type = type;
    change.count = row.count;
    change.bytes = row.bytes;
  }
  std::vector<ObjectChange> out;
  for (const auto& [type, change] : rows) out.push_back(change);
  return out;
}

std::vector<ObjectGrowth> object_growth(const std::vector<ObjectSnapshot>& snapshots) {
  std::vector<ObjectGrowth> out;
  for (std::size_t first = 0; first < snapshots.size();) {
    std::size_t end = first + 1;
    while (end < snapshots.size() && snapshots[end].trace == snapshots[first].trace) ++end;
    if (end - first >= 2) {
      std::map<std::string_view, std::size_t> rises;
      std::map<std::string_view, ObjectCount> before = counts_of(snapshots[first]);
      for (std::size_t i = first + 1; i < end; ++i) {
        std::map<std::string_view, ObjectCount> now = counts_of(snapshots[i]);
        for (const auto& [type, row] : now) {
          const auto known = before.find(type);
          if (row.count > (known == before.end() ? 0 : known->second.count)) ++rises[type];
        }
        before = std::move(now);
      }
      for (const ObjectChange& change : object_changes(snapshots[first], snapshots[end - 1])) {
        if (change.more() > 0 || change.more_bytes() > 0) {
          out.push_back({change, rises[change.type], end - first - 1});
        }
      }
    }
    first = end;
  }
  return out;
}

}  // namespace sonde
