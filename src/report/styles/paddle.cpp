#include "report/styles/paddle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "analysis/paddle_stats.hpp"
#include "report/safe_text.hpp"
#include "report/styles/paddle_layout.hpp"
#include "report/styles/paddle_notes.hpp"

namespace sonde {
namespace {

constexpr std::string_view kNoCpu = "- / - / - / - / -";

enum class SortKey : std::uint8_t {
  CpuTotal,
  CpuAverage,
  CpuMax,
  CpuMin,
  GpuTotal,
  GpuAverage,
  GpuMax,
  GpuMin,
};

double share(double part, double whole) { return whole == 0 ? 0 : part / whole; }

std::string ratio_text(double ratio) { return fmt::format("{:.2f}", ratio * 100); }

class Summary {
 public:
  Summary(const Trace& trace, const PaddleRequest& request)
      : tree_(trace), stats_(paddle_stats(tree_, request.thread_sep)), request_(request) {
    if (!stats_.process_cpu) stats_.process_cpu = request.process_cpu;
    if (!stats_.system_cpu) stats_.system_cpu = request.system_cpu;
    const auto& keys = paddle_sort_keys();
    const auto key = std::find(keys.begin(), keys.end(), request.sort_by);
    if (key != keys.end()) sort_ = static_cast<SortKey>(key - keys.begin());
    unit_ = request.time_unit == "s"    ? 1e9
            : request.time_unit == "us" ? 1e3
            : request.time_unit == "ns" ? 1
                                        : 1e6;
  }

  std::string text() {
    if (wants("device")) {
      device();
      // Paddle has nothing to compare with where no step was recorded.
      if (stats_.total == 0) return out_ + "\n";
    }
    if (wants("overview")) overview();
    if (wants("model")) model();
    if (wants("distribution")) distribution();
    if (wants("operator")) operators();
    if (wants("kernel")) kernels();
    if (wants("memory_manipulation")) memory_manipulation();
    if (wants("userdefined")) user_ranges();
    if (wants("memory")) memory();
    return out_ + "\n";
  }

 private:
  bool wants(const char* view) const {
    return request_.views.empty() ||
           std::find(request_.views.begin(), request_.views.end(), view) != request_.views.end();
  }

  std::string time(double nanos) const { return fmt::format("{:.2f}", nanos / unit_); }
  std::string time(Nanos nanos) const { return time(static_cast<double>(nanos)); }
  std::string minimum(Nanos nanos) const {
    return nanos == std::numeric_limits<Nanos>::max() ? "-" : time(nanos);
  }

  std::string times(const PaddleTimes& t, double whole) const {
    return fmt::format("{} / {} / {} / {} / {}", time(t.total), time(t.average()), time(t.max),
                       minimum(t.min), ratio_text(share(static_cast<double>(t.total), whole)));
  }

  std::string unit_line() const { return "Time unit: " + request_.time_unit; }

  std::string name_of(StringId name) const { return safe_text(tree_.trace().text(name)); }

  void device() {
    PaddleTable table({30, 20});
    table.title("Device Summary");
    table.separator();
    table.row({"Device", "Utilization (%)"});
    table.separator();
    const auto percent = [](const std::optional<double>& value) {
      return value ? ratio_text(*value) : std::string("-");
    };
    table.row({"CPU(Process)", percent(stats_.process_cpu)});
    table.row({"CPU(System)", percent(stats_.system_cpu)});
    for (const PaddleDeviceUse& use : stats_.devices) {
      table.row(
          {fmt::format("GPU{}", use.device), ratio_text(share(static_cast<double>(use.kernel_time),
                                                              static_cast<double>(stats_.total)))});
    }
    table.separator();
    table.notes(kPaddleDeviceNotes);
    out_ += table.take();
  }

  void overview() {
    if (stats_.host.empty()) return;
    PaddleTable table({25, 25, 25, 25});
    table.title("Overview Summary");
    table.line(unit_line());
    table.separator();
    table.row({"Event Type", "Calls", "CPU Time", "Ratio (%)"});
    table.separator();
    const auto add = [&](const PaddleOverviewRow& row, bool indent) {
      table.row(
          {(indent ? "  " : "") + safe_text(row.label), std::to_string(row.calls), time(row.time),
           ratio_text(share(static_cast<double>(row.time), static_cast<double>(stats_.total)))});
    };
    for (const PaddleOverviewRow& row : stats_.host) add(row, &row != &stats_.host.front());
    table.separator();
    table.row({"", "Calls", "GPU Time", "Ratio (%)"});
    table.separator();
    for (const PaddleOverviewRow& row : stats_.device) add(row, true);
    table.separator();
    table.notes(kPaddleOverviewNotes);
    out_ += table.take();
  }

  void model() {
    const PaddlePhases& phases = stats_.phases;
    if (phases.count() <= 1) return;
    const auto total = static_cast<double>(stats_.total);
    const auto step_gpu = static_cast<double>(phases.gpu[0].total);
    Nanos other_cpu = stats_.total;
    Nanos other_gpu = phases.gpu[0].total;
    std::vector<PaddleRow> rows;
    constexpr std::string_view kNames[] = {"ProfileStep", "  Dataloader", "  Forward", "  Backward",
                                           "  Optimization"};
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
      if (phases.cpu[i].calls == 0) continue;
      rows.push_back({"",
                      {std::string(kNames[i]), std::to_string(phases.cpu[i].calls),
                       times(phases.cpu[i], total), times(phases.gpu[i], step_gpu)}});
      if (i == 0) continue;
      other_cpu -= phases.cpu[i].total;
      other_gpu -= phases.gpu[i].total;
    }
    const auto rest = [&](Nanos nanos, double whole) {
      return fmt::format("{} / - / - / - / {}", time(nanos),
                         ratio_text(share(static_cast<double>(nanos), whole)));
    };
    rows.push_back({"", {"  Others", "-", rest(other_cpu, total), rest(other_gpu, step_gpu)}});
    PaddleTable table = planned("Model Summary", 15, true, rows);
    table.separator();
    table.notes(kPaddleModelNotes);
    out_ += table.take();
  }

  void distribution() {
    if (!stats_.distribution.any) return;
    PaddleTable table({25, 25, 25});
    table.title("Distribution Summary");
    table.line(unit_line());
    table.separator();
    table.row({"Name", "Total Time", "Ratio (%)"});
    table.separator();
    const auto total = static_cast<double>(stats_.total);
    const auto add = [&](const char* name, Nanos nanos) {
      table.row({name, time(nanos), ratio_text(share(static_cast<double>(nanos), total))});
    };
    add("ProfileStep", stats_.total);
    add("  Communication", stats_.distribution.communication);
    add("  Computation", stats_.distribution.computation);
    add("  Overlap", stats_.distribution.overlap);
    table.separator();
    table.notes(kPaddleDistributionNotes);
    out_ += table.take();
  }

  PaddleTable planned(std::string_view title, std::size_t name_width, bool cpu,
                      const std::vector<PaddleRow>& rows, bool flops = false) const {
    return planned_paddle_table(title, unit_line(), {name_width, cpu, flops}, rows);
  }

  // Sorted as asked, and not more than asked.
  std::vector<const PaddleItem*> sorted(const std::vector<PaddleItem>& items) const {
    std::vector<const PaddleItem*> out;
    for (const PaddleItem& item : items) out.push_back(&item);
    const auto value = [&](const PaddleItem& item) -> double {
      const bool gpu = sort_ >= SortKey::GpuTotal;
      return sort_value(gpu ? item.general_gpu : item.cpu);
    };
    std::stable_sort(out.begin(), out.end(), [&](const PaddleItem* a, const PaddleItem* b) {
      return upwards() ? value(*a) < value(*b) : value(*a) > value(*b);
    });
    if (out.size() > request_.row_limit) out.resize(request_.row_limit);
    return out;
  }

  bool upwards() const { return sort_ == SortKey::CpuMin || sort_ == SortKey::GpuMin; }

  double sort_value(const PaddleTimes& t) const {
    switch (sort_) {
      case SortKey::CpuAverage:
      case SortKey::GpuAverage:
        return t.average();
      case SortKey::CpuMax:
      case SortKey::GpuMax:
        return static_cast<double>(t.max);
      case SortKey::CpuMin:
      case SortKey::GpuMin:
        return static_cast<double>(t.min);
      default:
        return static_cast<double>(t.total);
    }
  }

  static std::string thread_title(const PaddleThreadItems& list) {
    return "Thread: " + (list.thread.empty() ? "All threads merged" : safe_text(list.thread));
  }

  static constexpr std::size_t kOperatorWidth = 52;

  std::string inner_name(StringId id, std::size_t indent) const {
    const std::string name = name_of(id);
    const bool cut = character_count(name) + indent > kOperatorWidth;
    const std::string shown =
        cut ? std::string(first_characters(name, kOperatorWidth - indent - 3)) + "..." : name;
    return std::string(indent, ' ') + shown;
  }

  void add_device_rows(const std::vector<PaddleDeviceItem>& devices, std::size_t indent,
                       double whole, std::vector<PaddleRow>& rows) const {
    for (const PaddleDeviceItem& device : devices) {
      rows.push_back({"",
                      {inner_name(device.name, indent), std::to_string(device.gpu.calls),
                       std::string(kNoCpu), times(device.gpu, whole), "-"}});
    }
  }

  void operators() {
    if (stats_.operators.empty()) return;
    std::vector<PaddleRow> rows;
    for (const PaddleThreadItems& list : stats_.operators) {
      double cpu = 0;
      double gpu = 0;
      for (const PaddleItem& item : list.items) {
        cpu += static_cast<double>(item.cpu.total);
        gpu += static_cast<double>(item.general_gpu.total);
      }
      rows.push_back({thread_title(list), {}});
      for (const PaddleItem* item : sorted(list.items)) {
        rows.push_back(
            {"",
             {name_of(item->name), std::to_string(item->cpu.calls), times(item->cpu, cpu),
              times(item->general_gpu, gpu), std::to_string(item->flops)}});
        if (!request_.op_detail) continue;
        const auto item_gpu = static_cast<double>(item->general_gpu.total);
        for (const PaddleItem& inner : item->inner) {
          rows.push_back({"",
                          {inner_name(inner.name, 2), std::to_string(inner.cpu.calls),
                           times(inner.cpu, static_cast<double>(item->cpu.total)),
                           times(inner.general_gpu, item_gpu), "-"}});
          add_device_rows(inner.devices, 4, static_cast<double>(inner.general_gpu.total), rows);
        }
        add_device_rows(item->devices, 2, item_gpu, rows);
      }
    }
    PaddleTable table = planned("Operator Summary", kOperatorWidth, true, rows, true);
    table.separator();
    out_ += table.take();
  }

  void kernels() {
    if (stats_.kernels.empty()) return;
    std::vector<const PaddleDeviceItem*> order;
    double total = 0;
    for (const PaddleDeviceItem& kernel : stats_.kernels) {
      order.push_back(&kernel);
      total += static_cast<double>(kernel.gpu.total);
    }
    const bool by_gpu = sort_ > SortKey::GpuTotal;
    std::stable_sort(order.begin(), order.end(),
                     [&](const PaddleDeviceItem* a, const PaddleDeviceItem* b) {
                       if (!by_gpu) return a->gpu.total > b->gpu.total;
                       const double left = sort_value(a->gpu);
                       const double right = sort_value(b->gpu);
                       return upwards() ? left < right : left > right;
                     });
    if (order.size() > request_.row_limit) order.resize(request_.row_limit);
    constexpr std::size_t kWidth = 90;
    std::vector<PaddleRow> rows;
    for (const PaddleDeviceItem* kernel : order) {
      rows.push_back({"",
                      {paddle_kernel_name(name_of(kernel->name), kWidth),
                       std::to_string(kernel->gpu.calls), times(kernel->gpu, total)}});
    }
    PaddleTable table = planned("Kernel Summary", kWidth, false, rows);
    table.separator();
    out_ += table.take();
  }

  // A row of the two tables whose shares are those of the steps.
  PaddleRow range_row(const PaddleItem& item) const {
    return {"",
            {name_of(item.name), std::to_string(item.cpu.calls),
             times(item.cpu, static_cast<double>(stats_.total)),
             times(item.general_gpu, static_cast<double>(stats_.phases.step_general_gpu))}};
  }

  void memory_manipulation() {
    if (stats_.memory_manipulation.empty()) return;
    std::vector<PaddleRow> rows;
    for (const PaddleItem& item : stats_.memory_manipulation) {
      if (rows.size() < request_.row_limit) rows.push_back(range_row(item));
    }
    PaddleTable table =
        planned("Memory Manipulation Summary", longest_paddle_name(rows), true, rows);
    table.separator();
    out_ += table.take();
  }

  void user_ranges() {
    if (stats_.user_ranges.empty()) return;
    std::vector<PaddleRow> rows;
    for (const PaddleThreadItems& list : stats_.user_ranges) {
      rows.push_back({thread_title(list), {}});
      for (const PaddleItem* item : sorted(list.items)) rows.push_back(range_row(*item));
    }
    out_ += planned("UserDefined Summary", longest_paddle_name(rows), true, rows).take();
  }

  void memory() {
    for (const PaddlePlace& place : stats_.places) {
      PaddleTable table({50, 12, 15, 15, 15, 15, 15});
      table.title("Memory Summary - " + safe_text(place.name));
      table.line(fmt::format("Peak Allocated Memory: {}", place.peak_allocated));
      table.line(fmt::format("Peak Reserved Memory: {}", place.peak_reserved));
      table.separator();
      table.row({"Name", "Type", "Allocation Count", "Free Count", "Allocation Size", "Free Size",
                 "Increased Size"});
      table.separator();
      for (const auto* list : {&place.allocated, &place.reserved}) {
        for (const PaddleMemoryRow& row : *list) {
          if (static_cast<std::size_t>(&row - list->data()) >= request_.row_limit) break;
          table.row({safe_text(row.name), row.reserved ? "Reserved" : "Allocated",
                     std::to_string(row.allocations), std::to_string(row.frees),
                     std::to_string(row.allocated_bytes), std::to_string(row.freed_bytes),
                     std::to_string(row.increase())});
        }
      }
      out_ += table.take();
    }
  }

  PaddleTree tree_;
  PaddleStats stats_;
  const PaddleRequest& request_;
  SortKey sort_ = SortKey::CpuTotal;
  double unit_ = 1e6;
  std::string out_;
};

}  // namespace

const std::vector<std::string>& paddle_sort_keys() {
  static const std::vector<std::string> kKeys = {"CPUTotal", "CPUAvg", "CPUMax", "CPUMin",
                                                 "GPUTotal", "GPUAvg", "GPUMax", "GPUMin"};
  return kKeys;
}

const std::vector<std::string>& paddle_time_units() {
  static const std::vector<std::string> kUnits = {"s", "ms", "us", "ns"};
  return kUnits;
}

const std::vector<std::string>& paddle_view_names() {
  static const std::vector<std::string> kViews = {"device",
                                                  "overview",
                                                  "model",
                                                  "distribution",
                                                  "operator",
                                                  "kernel",
                                                  "memory_manipulation",
                                                  "userdefined",
                                                  "memory"};
  return kViews;
}

std::string paddle_summary(const Trace& trace, const PaddleRequest& request) {
  return Summary(trace, request).text();
}

}  // namespace sonde
