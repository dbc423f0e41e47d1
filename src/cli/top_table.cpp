#include "cli/top_table.hpp"

#include <algorithm>

namespace sonde {
namespace {

constexpr std::size_t kMaxRows = 100'000;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void TopSums::add(const ThreadSample& sample, const TopLook& look) {
  Thread& thread = threads_[sample.thread];
  thread.seen = true;
  thread.ran = thread.ran || !sample.waiting || sample.cpu_nanos > 0;
  cpu_ += sample.cpu_nanos;
  if (sample.holds_lock) lock_ += sample.wall_nanos;
  if (sample.waiting && !look.idle) return;
  if (rows_.size() > kMaxRows) rows_.clear();
  seen_.clear();
  for (std::size_t i = 0; i < sample.frames.size(); ++i) {
    const SampledFrame& frame = sample.frames[i];
    const Key key{frame.function, look.lines ? frame.line : 0};
    Row& row = rows_[key];
    if (i == 0) {
      row.own += sample.wall_nanos;
      row.all_own += sample.wall_nanos;
    }
    // A recursive function counts once.
    if (std::find(seen_.begin(), seen_.end(), key) != seen_.end()) continue;
    seen_.push_back(key);
    row.total += sample.wall_nanos;
    row.all_total += sample.wall_nanos;
  }
}

void TopSums::end_interval(std::uint64_t nanos) {
  for (auto& [key, row] : rows_) {
    row.own_percent = percent(row.own, nanos);
    row.total_percent = percent(row.total, nanos);
    row.own = 0;
    row.total = 0;
  }
  totals_ = {};
  for (auto& [id, thread] : threads_) {
    totals_.threads += thread.seen ? 1 : 0;
    totals_.busy += thread.seen && thread.ran ? 1 : 0;
  }
  std::erase_if(threads_, [](const auto& item) { return !item.second.seen; });
  for (auto& [id, thread] : threads_) thread = {};
  totals_.lock_percent = percent(lock_, nanos);
  totals_.cpu_percent = percent(cpu_, nanos);
  lock_ = 0;
  cpu_ = 0;
}

void TopSums::clear() {
  rows_.clear();
  threads_.clear();
  lock_ = 0;
  cpu_ = 0;
}

Table TopSums::rows(const TopLook& look, std::size_t most) const {
  std::vector<std::pair<const Key*, const Row*>> order;
  for (const auto& [key, row] : rows_) order.emplace_back(&key, &row);
  const auto rank = [&](const Row& row) {
    switch (look.sort) {
      case TopSort::Own:
        return row.own_percent;
      case TopSort::Total:
        return row.total_percent;
      case TopSort::OwnTime:
        return static_cast<double>(row.all_own);
      case TopSort::TotalTime:
        return static_cast<double>(row.all_total);
    }
    return 0.0;
  };
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    const double left = rank(*a.second);
    const double right = rank(*b.second);
    return left != right ? left > right : a.second->all_total > b.second->all_total;
  });
  if (order.size() > most) order.resize(most);
  Table table;
  table.columns = {{.key = "own_percent", .header = "Own", .type = CellType::Percent},
                   {.key = "total_percent", .header = "Total", .type = CellType::Percent},
                   {.key = "own_ns", .header = "Own time", .type = CellType::Duration},
                   {.key = "total_ns", .header = "Total time", .type = CellType::Duration},
                   {.key = "function", .header = "Function"},
                   {.key = "place", .header = "Place", .cut = Cut::Middle}};
  for (const auto& [key, row] : order) {
    const FunctionInfo& function = *key->function;
    std::string place = function.file;
    const int line = look.lines ? key->line : function.first_line;
    if (line > 0) place += ":" + std::to_string(line);
    table.rows.push_back({row->own_percent, row->total_percent,
                          static_cast<std::int64_t>(row->all_own),
                          static_cast<std::int64_t>(row->all_total),
                          function.qualified_name.empty() ? function.name : function.qualified_name,
                          std::move(place)});
  }
  return table;
}

}  // namespace sonde
