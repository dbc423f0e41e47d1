#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/format.hpp"
#include "report/report.hpp"

namespace sonde {

// What the views share: names of traces, cells and the cutting of long lists.

// "rank 3", or the worker's name where the trace tells no rank.
std::string trace_label(const NamedTrace& named);

// "Operators of rank 0", "Operators of 4 traces (sums over all)".
std::string view_title(const std::string& what, RunTraces traces, const std::string& how);

inline Cell count_cell(std::uint64_t count) { return static_cast<std::int64_t>(count); }
inline Cell time_cell(Nanos nanos) { return nanos; }
inline Cell time_cell(double nanos) { return static_cast<std::int64_t>(std::llround(nanos)); }
inline Cell picos_cell(double picos) { return time_cell(picos / 1000); }
inline Cell text_cell(std::string_view text) { return std::string(text); }

// In percent; nothing where there is no whole.
inline Cell share_cell(double part, double whole) {
  if (!(whole > 0)) return Cell();
  return 100 * part / whole;
}
inline Cell share_cell(Nanos part, Nanos whole) {
  return share_cell(static_cast<double>(part), static_cast<double>(whole));
}

// Keeps the first rows as the request wants it, and says in the notes what was left out.
template <class Row>
void cut_rows(std::vector<Row>& rows, const ReportRequest& request, std::size_t sensible,
              Block& block) {
  const std::size_t limit = request.row_limit(sensible);
  if (rows.size() <= limit) return;
  block.notes.push_back(format_count(static_cast<std::int64_t>(rows.size() - limit)) +
                        " more; --limit 0 shows all");
  rows.resize(limit);
}

// Stable: by `value`, greatest first.
template <class Row, class Value>
void sort_descending(std::vector<Row>& rows, Value value) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return value(a) > value(b); });
}

}  // namespace sonde
