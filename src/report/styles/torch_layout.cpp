#include "report/styles/torch_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde {
namespace {

constexpr std::size_t kNumberWidth = 12;
constexpr std::size_t kMargin = 4;
constexpr std::string_view kGap = "  ";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t capped(std::size_t width, std::optional<std::size_t> cap) {
  return cap ? std::min(width, *cap) : width;
}

}  // namespace

std::string torch_time(double micros) {
  if (micros >= 1e6) return fmt::format("{:.3f}s", micros / 1e6);
  if (micros >= 1e3) return fmt::format("{:.3f}ms", micros / 1e3);
  return fmt::format("{:.3f}us", micros);
}

std::string torch_share(double part, double total) {
  if (total == 0) return "NaN";
  return fmt::format("{:.2f}%", part * 100.0 / total);
}

std::string torch_memory(std::int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  for (const auto& [unit, name] :
       {std::pair{double{1u << 30}, "GB"}, {double{1u << 20}, "MB"}, {double{1u << 10}, "KB"}}) {
    if (std::fabs(number) >= unit) return fmt::format("{:.2f} {}", number / unit, name);
  }
  return fmt::format("{} B", bytes);
}

TorchFlopsUnit torch_flops_unit(std::uint64_t smallest) {
  constexpr std::array<std::string_view, 6> kNames = {"FLOPs",  "KFLOPs", "MFLOPs",
                                                      "GFLOPs", "TFLOPs", "PFLOPs"};
  const double thousands = std::log10(static_cast<double>(smallest)) / 3;
  const double index = std::floor(std::clamp(thousands, 0.0, 5.0));
  return {kNames[static_cast<std::size_t>(index)], std::pow(10.0, index * -3.0)};
}

std::string torch_flops_cell(std::uint64_t flops, const TorchFlopsUnit& unit) {
  if (flops == 0) return "--";
  return fmt::format("{:8.3f}", static_cast<double>(flops) * unit.scale);
}

std::size_t torch_length(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues));
}

std::string_view torch_head(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (continues(text[at])) continue;
    if (count == 0) break;
    --count;
  }
  return text.substr(0, at);
}

std::string torch_name_cell(std::string_view name, std::optional<std::size_t> width) {
  const std::size_t kept = width ? *width - std::min<std::size_t>(*width, 3) : 0;
  if (!width || torch_length(name) < kept) return std::string(name);
  return std::string(torch_head(name, kept)) + "...";
}

std::string torch_frame_cell(std::string_view frame, std::size_t width) {
  const std::size_t length = torch_length(frame);
  if (length <= width) return std::string(frame);
  std::string_view tail = frame.substr(torch_head(frame, length - width).size());
  if (width <= 3) return std::string(tail);
  tail.remove_prefix(torch_head(tail, 3).size());
  return "..." + std::string(tail);
}

TorchColumns torch_columns(const TorchAverages& averages, const TorchWidths& widths) {
  TorchColumns columns;
  std::size_t name = 0;
  std::size_t shapes = 0;
  std::size_t source = 0;
  std::uint64_t smallest_flops = 0;
  bool device_memory = false;
  for (const TorchAverage& group : averages.groups) {
    name = std::max(name, torch_length(group.name));
    shapes = std::max(shapes, torch_length(group.shapes));
    for (const std::string& frame : group.stack) source = std::max(source, torch_length(frame));
    if (!group.stack.empty()) columns.source = 0;
    columns.device_time |= group.sum.self_device > 0;
    device_memory |= group.sum.self_device_bytes > 0;
    if (group.flops > 0 && (smallest_flops == 0 || group.flops < smallest_flops)) {
      smallest_flops = group.flops;
    }
  }
  columns.memory = averages.profile_memory;
  columns.device_memory = averages.profile_memory && averages.device_used && device_memory;
  if (shapes > 0) columns.shapes = capped(shapes + kMargin, widths.shapes);
  if (columns.source) columns.source = capped(source + kMargin, widths.source);
  if (averages.with_flops && smallest_flops > 0) columns.flops = torch_flops_unit(smallest_flops);

  const std::string& device = averages.device_name;
  columns.list.push_back({"Name", capped(name + kMargin, widths.name)});
  const auto add = [&](std::string header) {
    columns.list.push_back({std::move(header), kNumberWidth});
  };
  for (const char* header :
       {"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"}) {
    add(header);
  }
  if (columns.device_time) {
    add("Self " + device);
    add("Self " + device + " %");
    add(device + " total");
    add(device + " time avg");
  }
  if (columns.memory) {
    add("CPU Mem");
    add("Self CPU Mem");
  }
  if (columns.device_memory) {
    add(device + " Mem");
    add("Self " + device + " Mem");
  }
  add("# of Calls");
  if (columns.shapes) columns.list.push_back({"Input Shapes", *columns.shapes});
  if (columns.source) columns.list.push_back({"Source Location", *columns.source, true});
  if (columns.flops) add("Total " + std::string(columns.flops->name));
  return columns;
}

std::string torch_separator(const std::vector<TorchColumn>& columns) {
  std::string line;
  for (const TorchColumn& column : columns) {
    line.append(column.width, '-');
    line += kGap;
  }
  return line;
}

std::string torch_row(const std::vector<TorchColumn>& columns,
                      const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string_view cell =
        i < cells.size() ? std::string_view(cells[i]) : std::string_view();
    const std::size_t length = torch_length(cell);
    const std::size_t space = columns[i].width - std::min(length, columns[i].width);
    if (!columns[i].left) line.append(space, ' ');
    line += cell;
    if (columns[i].left) line.append(space, ' ');
    line += kGap;
  }
  return line;
}

std::string torch_header(const std::vector<TorchColumn>& columns) {
  std::vector<std::string> cells;
  cells.reserve(columns.size());
  for (const TorchColumn& column : columns) cells.push_back(column.header);
  return torch_row(columns, cells);
}

std::size_t torch_line_length(const std::vector<TorchColumn>& columns) {
  std::size_t length = 0;
  for (const TorchColumn& column : columns) length += column.width + kGap.size();
  return length - std::min(length, kGap.size());
}

}  // namespace sonde
