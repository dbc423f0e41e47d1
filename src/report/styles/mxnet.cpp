#include "report/styles/mxnet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/utf8.hpp"
#include "report/safe_text.hpp"

namespace sonde {
namespace {

constexpr std::array<std::pair<std::string_view, MxnetSort>, 5> kSortKeys = {{
    {"total", MxnetSort::Total},
    {"avg", MxnetSort::Average},
    {"min", MxnetSort::Min},
    {"max", MxnetSort::Max},
    {"count", MxnetSort::Count},
}};

// Milliseconds of microseconds, kilobytes of bytes; in single precision, which shows in the digits.
float thousandth(double value) { return static_cast<float>(value / 1000); }

std::vector<MxnetSection> ordered_sections(const Trace& trace, const MxnetRequest& request) {
  MxnetSort key = MxnetSort::Total;
  for (const auto& [name, sort] : kSortKeys) {
    if (name == request.sort_by) key = sort;
  }
  std::vector<MxnetSection> sections = mxnet_stats(trace, request.table);
  for (MxnetSection& section : sections) {
    if (request.table == MxnetTable::Old) {
      order_by_hash(section);
    } else {
      order_by_key(section, key, request.ascending);
    }
    if (section.rows.size() > request.row_limit) section.rows.resize(request.row_limit);
  }
  return sections;
}

// The old table has memory in the columns of times.
bool has_total(const MxnetSection& section, MxnetTable table) {
  return table == MxnetTable::Old || !section.memory;
}

void append_heading(std::string& out, const MxnetSection& section, MxnetTable table) {
  const bool total = has_total(section, table);
  const std::string_view what = total ? "Time (ms)" : "Use  (kB)";
  fmt::format_to(std::back_inserter(out), "{}\n{:=<17}\n", safe_text(section.category), "");
  fmt::format_to(std::back_inserter(out), "{:<25}{:>16}", "Name", "Total Count");
  if (total) fmt::format_to(std::back_inserter(out), " {:>16}", what);
  for (const std::string_view of : {"Min", "Max", "Avg"}) {
    fmt::format_to(std::back_inserter(out), " {:>16}", fmt::format("{} {}", of, what));
  }
  fmt::format_to(std::back_inserter(out), "\n{:<25}{:>16}", "----", "-----------");
  if (total) fmt::format_to(std::back_inserter(out), " {:>16}", "---------");
  for (int i = 0; i < 3; ++i) fmt::format_to(std::back_inserter(out), " {:>16}", "-------------");
  out += '\n';
}

void append_row(std::string& out, const MxnetStat& row, bool total, MxnetTable table) {
  // MXNet fills up by bytes: a name in other scripts is that much narrower.
  const std::string name = safe_text(row.name);
  out += name;
  out.append(name.size() < 25 ? 25 - name.size() : 0, ' ');
  fmt::format_to(std::back_inserter(out), "{:>16}", row.count);
  if (total) fmt::format_to(std::back_inserter(out), " {:>16.4f}", thousandth(row.total));
  for (const double value : {row.min, row.max, row.average(table)}) {
    fmt::format_to(std::back_inserter(out), " {:>16.4f}", thousandth(value));
  }
  out += '\n';
}

// Between quotes, and otherwise as it is.
std::string json_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : mend_utf8(name)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void append_json_section(std::string& out, const MxnetSection& section, MxnetTable table) {
  if (!out.empty()) out += "        ,\n";
  fmt::format_to(std::back_inserter(out), "        {}: {{\n", json_name(section.category));
  bool first = true;
  for (const MxnetStat& row : section.rows) {
    if (!first) out += "            ,\n";
    first = false;
    fmt::format_to(std::back_inserter(out), "            {}: {{\n                \"Count\": {}",
                   json_name(row.name), row.count);
    const auto member = [&](std::string_view key, double value) {
      fmt::format_to(std::back_inserter(out), ",\n                \"{}\": {:.4g}", key,
                     thousandth(value));
    };
    if (!section.memory) member("Total", row.total);
    member("Min", row.min);
    member("Max", row.max);
    member("Avg", row.average(table));
    out += "\n            }\n";
  }
  out += "        }\n";
}

}  // namespace

const std::vector<std::string>& mxnet_sort_keys() {
  static const std::vector<std::string> kKeys = [] {
    std::vector<std::string> names;
    names.reserve(kSortKeys.size());
    for (const auto& [name, sort] : kSortKeys) names.emplace_back(name);
    return names;
  }();
  return kKeys;
}

std::string mxnet_table(const Trace& trace, const MxnetRequest& request) {
  std::string out = request.table == MxnetTable::Old
                        ? "\nProfile Statistics.\n\tNote that counter items are counter values and "
                          "not time units.\n"
                        : "\nProfile Statistics:\n\tNote the difference in units for different "
                          "entries.\n";
  for (const MxnetSection& section : ordered_sections(trace, request)) {
    append_heading(out, section, request.table);
    const bool total = has_total(section, request.table);
    for (const MxnetStat& row : section.rows) append_row(out, row, total, request.table);
    out += '\n';
  }
  return out;
}

std::string mxnet_json(const Trace& trace, const MxnetRequest& request) {
  std::string time;
  std::string memory;
  for (const MxnetSection& section : ordered_sections(trace, request)) {
    append_json_section(section.memory ? memory : time, section, request.table);
  }
  return "{\n    \"Time\": {\n" + time + "    }\n    ,\n    \"Memory\": {\n" + memory +
         "    }\n,\n    \"Unit\": {\n        \"Time\": \"ms\",\n        \"Memory\": \"kB\"\n    "
         "}\n}\n";
}

}  // namespace sonde
