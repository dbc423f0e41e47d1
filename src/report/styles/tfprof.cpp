#include "report/styles/tfprof.hpp"

#include <fmt/format.h>

#include <utility>

#include "report/safe_text.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::pair<std::string_view, TfprofOrder> kOrders[] = {
    {"micros", TfprofOrder::Micros},
    {"bytes", TfprofOrder::Bytes},
    {"accelerator_micros", TfprofOrder::AcceleratorMicros},
    {"cpu_micros", TfprofOrder::CpuMicros},
    {"occurrence", TfprofOrder::Occurrence},
    {"name", TfprofOrder::Name},
};

TfprofOrder order_of(const std::string& key) {
  for (const auto& [name, order] : kOrders) {
    if (name == key) return order;
  }
  return TfprofOrder::Micros;
}

constexpr std::string_view kHelp =
    "\nDoc:\n"
    "op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging to the "
    "same type are aggregated together.\n"
    "requested bytes: The memory requested by the operation, accumulatively.\n"
    "total execution time: Sum of accelerator execution time and cpu execution time.\n"
    "cpu execution time: The time from the start to the end of the operation. It's the sum of "
    "actual cpu run time plus the time that it spends waiting if part of computation is launched "
    "asynchronously.\n"
    "accelerator execution time: Time spent executing on the accelerator. This is normally "
    "measured "
    "by the actual hardware library.\n"
    "occurrence: The number of times it occurs\n"
    "\n"
    "Profile:\n"
    "node name | requested bytes | total execution time | accelerator execution time | cpu "
    "execution time | op occurrence (run|defined)\n";

std::string time_text(std::int64_t micros) {
  if (micros < 1000) return fmt::format("{}us", micros);
  const auto value = static_cast<double>(micros);
  return micros < 1'000'000 ? fmt::format("{:.2f}ms", value / 1e3)
                            : fmt::format("{:.2f}sec", value / 1e6);
}

std::string memory_text(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{}B", bytes);
  const auto value = static_cast<double>(bytes);
  return bytes < 1'000'000 ? fmt::format("{:.2f}KB", value / 1e3)
                           : fmt::format("{:.2f}MB", value / 1e6);
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string cell(const std::string& value, double accumulated, double self) {
  return fmt::format("{:>30}", fmt::format("{} ({:.2f}%, {:.2f}%)", value, accumulated, self));
}

std::string time_cell_text(std::int64_t self, std::int64_t accumulated, std::int64_t total) {
  return cell(time_text(self), percent(accumulated, total), percent(self, total));
}

// A type that asked for nothing shows nothing, whatever the types behind it did.
std::string memory_cell_text(std::int64_t self, std::int64_t accumulated, std::int64_t total) {
  if (self == 0) return cell(memory_text(0), 0, 0);
  return cell(memory_text(self), percent(accumulated, total), percent(self, total));
}

}  // namespace

const std::vector<std::string>& tfprof_sort_keys() {
  static const std::vector<std::string> kKeys = [] {
    std::vector<std::string> names;
    for (const auto& [name, order] : kOrders) names.emplace_back(name);
    return names;
  }();
  return kKeys;
}

std::string tfprof_text(const std::vector<TfprofRow>& rows, std::size_t row_limit) {
  std::string out(kHelp);
  const TfprofOp none;
  const TfprofOp& total = rows.empty() ? none : rows.front().accumulated;
  for (std::size_t i = 0; i < rows.size() && i < row_limit; ++i) {
    const TfprofOp& op = rows[i].op;
    const TfprofOp& sum = rows[i].accumulated;
    const std::string name = safe_text(op.type);
    out += name;
    out.append(name.size() < 25 ? 25 - name.size() : 0, ' ');
    out += memory_cell_text(op.requested_bytes, sum.requested_bytes, total.requested_bytes) + ", ";
    out += time_cell_text(op.total_us(), sum.total_us(), total.total_us()) + ", ";
    out += time_cell_text(op.accelerator_us, sum.accelerator_us, total.accelerator_us) + ", ";
    out += time_cell_text(op.cpu_us, sum.cpu_us, total.cpu_us) + ", ";
    out += fmt::format("{:>10}\n", fmt::format("{}|{}", op.run, op.defined));
  }
  return out;
}

std::string tfprof_table(const Trace& trace, const TfprofRequest& request) {
  return tfprof_text(tfprof_rows(tfprof_ops(trace), order_of(request.order_by)), request.row_limit);
}

Table tfprof_numbers(const Trace& trace, const TfprofRequest& request) {
  Table table;
  table.columns = {
      {.key = "type", .header = "Type", .cut = Cut::Middle},
      {.key = "requested_bytes", .header = "Requested", .type = CellType::Bytes},
      {.key = "total_us", .header = "Total us", .type = CellType::Integer},
      {.key = "total_accumulated_percent", .header = "Acc.", .type = CellType::Percent},
      {.key = "total_self_percent", .header = "Self", .type = CellType::Percent},
      {.key = "accelerator_us", .header = "Accel. us", .type = CellType::Integer},
      {.key = "cpu_us", .header = "CPU us", .type = CellType::Integer},
      {.key = "run", .header = "Run", .type = CellType::Integer},
      {.key = "defined", .header = "Defined", .type = CellType::Integer}};
  const std::vector<TfprofRow> rows = tfprof_rows(tfprof_ops(trace), order_of(request.order_by));
  for (std::size_t i = 0; i < rows.size() && i < request.row_limit; ++i) {
    const TfprofOp& op = rows[i].op;
    const std::int64_t total = rows.front().accumulated.total_us();
    table.rows.push_back(
        {op.type, op.requested_bytes, op.total_us(), percent(rows[i].accumulated.total_us(), total),
         percent(op.total_us(), total), op.accelerator_us, op.cpu_us, op.run, op.defined});
  }
  return table;
}

}  // namespace sonde
