#include "report/views/sampling_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <string_view>

#include "report/views/rows.hpp"
#include "trace/properties.hpp"

namespace sonde {
namespace {

// The properties of all processes that were sampled: texts once each, numbers added up.
struct SamplingTotals {
  std::vector<std::string> methods;
  std::vector<std::string> versions;
  std::string asked_rate;
  std::string idle;
  double lowest_rate = -1;
  double highest_rate = -1;
  double own_cpu = 0;
  double stopped = 0;
  std::int64_t processes = 0;
  std::map<std::string_view, std::int64_t> counts;
};

double real(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

void add_once(std::vector<std::string>& list, std::string_view text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) {
    list.emplace_back(text);
  }
}

std::string joined(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& text : list) (out += out.empty() ? "" : "; ") += text;
  return out;
}

struct Count {
  std::string_view key;
  const char* fact;
  const char* label;
  bool always;  // also where it is 0
};
constexpr Count kCounts[] = {
    {"sampling.samples", "samples", "Samples taken", true},
    {"sampling.lost", "lost", "Lost", true},
    {"sampling.torn", "torn", "Torn", true},
    {"sampling.missed_rounds", "missed_rounds", "Missed rounds", true},
    {"sampling.uncertain", "uncertain", "Uncertain", false},
    {"sampling.late", "late", "Stopped too late", false},
    {"sampling.refused_stops", "refused_stops", "Stops refused", false},
    {"sampling.cut_stacks", "cut_stacks", "Stacks cut", false},
    {"sampling.native_failed", "native_failed", "C stacks cut short", false},
    {"sampling.native_unmatched", "native_unmatched", "C and Python apart", false},
};

void add(SamplingTotals& totals, const TraceMeta& meta) {
  const std::string method = plain_property(meta, "sampling.method");
  if (method.empty()) return;
  ++totals.processes;
  add_once(totals.methods, method);
  add_once(totals.versions, plain_property(meta, "python.version"));
  totals.asked_rate = plain_property(meta, "sampling.asked_rate");
  totals.idle = plain_property(meta, "sampling.idle");
  if (const std::string rate = plain_property(meta, "sampling.actual_rate"); !rate.empty()) {
    const double value = real(rate);
    if (totals.lowest_rate < 0 || value < totals.lowest_rate) totals.lowest_rate = value;
    if (value > totals.highest_rate) totals.highest_rate = value;
  }
  // One sampler serves all processes: its cost is told by each of them.
  totals.own_cpu = std::max(totals.own_cpu, real(plain_property(meta, "sampling.own_cpu_percent")));
  totals.stopped = std::max(totals.stopped, real(plain_property(meta, "sampling.stopped_percent")));
  for (const Count& count : kCounts) {
    const std::string text = plain_property(meta, count.key);
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    totals.counts[count.key] += std::max<std::int64_t>(0, value);
  }
}

}  // namespace

std::vector<Block> sampling_blocks(RunTraces traces) {
  SamplingTotals totals;
  for (const NamedTrace& named : traces) add(totals, named.trace.meta());
  if (totals.processes == 0) return {};
  Facts facts;
  facts.push_back({"method", "Method", joined(totals.methods), CellType::Text, ""});
  facts.push_back({"python", "Python", joined(totals.versions), CellType::Text, ""});
  if (totals.processes > 1) {
    facts.push_back({"processes", "Processes", totals.processes, CellType::Integer, ""});
  }
  facts.push_back({"asked_rate", "Asked rate", real(totals.asked_rate), CellType::Real,
                   totals.asked_rate + " a second"});
  if (totals.lowest_rate >= 0) {
    std::string shown = fmt::format("{:.1f}", totals.lowest_rate);
    if (totals.highest_rate - totals.lowest_rate > 0.05) {
      shown += fmt::format(" to {:.1f}", totals.highest_rate);
    }
    facts.push_back(
        {"actual_rate", "Actual rate", totals.lowest_rate, CellType::Real, shown + " a second"});
  }
  for (const Count& count : kCounts) {
    const std::int64_t value = totals.counts[count.key];
    if (value > 0 || count.always) {
      facts.push_back({count.fact, count.label, value, CellType::Integer, ""});
    }
  }
  facts.push_back({"own_cpu_percent", "Sampler's CPU", totals.own_cpu, CellType::Percent, ""});
  facts.push_back({"stopped_percent", "Threads held still", totals.stopped, CellType::Percent, ""});
  if (!totals.idle.empty()) {
    facts.push_back({"idle", "Idle threads", totals.idle, CellType::Text, ""});
  }
  Block out;
  out.id = "sampling";
  out.title = "Sampling";
  out.content = std::move(facts);
  std::vector<Block> blocks;
  blocks.push_back(std::move(out));
  return blocks;
}

}  // namespace sonde
