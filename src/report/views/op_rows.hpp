#pragma once

#include <string>
#include <vector>

#include "analysis/framework_ops.hpp"
#include "report/views/rows.hpp"

// What the views of operators of a framework and of compiled programs have in common. Op is
// FrameworkOp or HloOp.

namespace sonde {

inline constexpr double kGib = 1024.0 * 1024 * 1024;

template <class Op>
void add_sums(Op& into, const Op& op) {
  into.occurrences += op.occurrences;
  into.total += op.total;
  into.self += op.self;
  into.flops += op.flops;
  into.bytes += op.bytes;
}

inline double average(Picos time, std::uint64_t occurrences) {
  return occurrences == 0 ? 0 : static_cast<double>(time) / static_cast<double>(occurrences);
}

// By time of their own where the key is none of these.
template <class Op>
void sort_ops(std::vector<Op>& rows, const std::string& key) {
  if (key == "total") {
    sort_descending(rows, [](const Op& r) { return r.total; });
  } else if (key == "occurrences") {
    sort_descending(rows, [](const Op& r) { return r.occurrences; });
  } else if (key == "average") {
    sort_descending(rows, [](const Op& r) { return average(r.total, r.occurrences); });
  } else if (key == "flops") {
    sort_descending(rows, [](const Op& r) { return r.flops; });
  } else if (key != "name") {
    sort_descending(rows, [](const Op& r) { return r.self; });
  }
}

// Units a second; nothing where nothing was counted.
inline Cell rate_cell(double amount, Picos time, double unit) {
  if (!(amount > 0) || time <= 0) return Cell();
  return amount / (static_cast<double>(time) * 1e-12) / unit;
}

}  // namespace sonde
