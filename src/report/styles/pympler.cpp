#include "report/styles/pympler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/object_counts.hpp"
#include "report/safe_text.hpp"
#include "report/styles/python_text.hpp"

namespace sonde {
namespace {

// Negative sizes are never divided; that is pympler's way.
std::string size_text(std::int64_t bytes) {
  constexpr std::array<const char*, 6> kScales = {"B", "KB", "MB", "GB", "TB", "EB"};
  if (bytes <= 1024) return fmt::format("{:4}     B", bytes);
  auto number = static_cast<double>(bytes);
  std::size_t degree = 0;
  while (number > 1024 && degree + 1 < kScales.size()) {
    number /= 1024;
    ++degree;
  }
  return fmt::format("{:7.2f} {}", number, kScales[degree]);
}

void sort_rows(std::vector<ObjectCount>& rows, const PymplerRequest& request) {
  const auto less = [&](const ObjectCount& a, const ObjectCount& b) {
    if (request.sort == "type") return a.type < b.type;
    return request.sort == "size" ? a.bytes < b.bytes : a.count < b.count;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const ObjectCount& a, const ObjectCount& b) {
    return request.ascending ? less(a, b) : less(b, a);
  });
}

std::string table(std::vector<ObjectCount> rows, const PymplerRequest& request) {
  sort_rows(rows, request);
  if (rows.size() > request.row_limit) rows.resize(request.row_limit);
  using Cells = std::array<std::string, 3>;
  std::vector<Cells> cells = {{"types", "# objects", "total size"}};
  for (const ObjectCount& row : rows) {
    cells.push_back({safe_text(row.type), fmt::format("{}", row.count), size_text(row.bytes)});
  }
  std::array<std::size_t, 3> widths{};
  for (const Cells& row : cells) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], python_length(row[i]) + 2);
    }
  }
  std::string out;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      out += (i == 0 ? "" : " | ") + right_justified(cells[r][i], widths[i]);
    }
    out += "\n";
    if (r > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      out += (i == 0 ? "" : " | ") + std::string(widths[i], '=');
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::vector<std::string> pympler_sort_keys() { return {"size", "type", "objects"}; }

Result<std::string> pympler_text(const NamedTrace& named, const PymplerRequest& request) {
  const std::vector<ProcessMemory::Snapshot>& snapshots = named.trace.process_memory().snapshots;
  if (snapshots.empty()) {
    return nothing_to_show(named.path, "snapshots of objects", "--memory objects");
  }
  if (request.difference && snapshots.size() < 2) {
    Error error = nothing_to_show(
        named.path, "second snapshot of objects to compare the first with", "--memory objects");
    error.hint = "--view summary shows the only one";
    return error;
  }
  const std::size_t first = request.difference ? 1 : 0;
  const bool several = snapshots.size() > first + 1;
  const auto label = [&](std::size_t i) {
    const std::string text = safe_text(named.trace.text(snapshots[i].label));
    return text.empty() ? fmt::format("snapshot {}", i + 1) : text;
  };
  std::string out;
  for (std::size_t i = first; i < snapshots.size(); ++i) {
    std::vector<ObjectCount> rows = object_counts(named.trace, i);
    if (request.difference) {
      rows = object_difference(object_counts(named.trace, i - 1), rows);
      std::erase_if(rows, [](const ObjectCount& row) { return row.count == 0 && row.bytes == 0; });
    }
    if (several) {
      out += out.empty() ? "" : "\n";
      out += (request.difference ? label(i - 1) + " -> " : "") + label(i) + "\n";
    }
    out += table(std::move(rows), request);
  }
  return out;
}

}  // namespace sonde
