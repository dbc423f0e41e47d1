#include "analysis/source_costs.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/device_lines.hpp"
#include "analysis/memory_lines.hpp"

namespace sonde {
namespace {

class Collector {
 public:
  SourceLine& line(std::string_view file, std::int32_t line) {
    SourceLine& row = files_[file][line];
    row.line = line;
    return row;
  }

  bool knows(std::string_view file) const { return files_.contains(file); }

  std::vector<SourceFile> take() {
    std::vector<SourceFile> out;
    for (auto& [name, lines] : files_) {
      SourceFile file;
      file.file = name;
      for (const auto& [number, line] : lines) {
        file.lines.push_back(line);
        file.hits += line.hits;
        file.cost += line.cost;
        file.allocated += line.allocated;
        file.peak += line.peak;
        file.device += line.device;
      }
      out.push_back(std::move(file));
    }
    std::stable_sort(out.begin(), out.end(), [](const SourceFile& a, const SourceFile& b) {
      return std::tuple(a.cost, a.allocated, a.device) > std::tuple(b.cost, b.allocated, b.device);
    });
    return out;
  }

 private:
  std::map<std::string_view, std::map<std::int32_t, SourceLine>> files_;
};

std::size_t cost_index(const FunctionProfile& profile, std::string_view weight) {
  for (std::size_t i = 0; i < profile.costs.size(); ++i) {
    if (profile.costs[i].name == weight) return i;
  }
  return 0;
}

SourceCosts costs_of(const FunctionProfile& profile, std::span<const Trace* const> traces,
                     std::string_view weight) {
  SourceCosts out;
  Collector collector;
  if (!profile.costs.empty() && !profile.lines.empty()) {
    const std::size_t cost = cost_index(profile, weight);
    const std::size_t costs = profile.costs.size();
    out.source = profile.source;
    out.cost = profile.costs[cost];
    out.has_cost = true;
    out.has_total = !profile.line_total.empty();
    out.hits_are_samples = profile.calls_are_samples;
    out.with_calls = !profile.line_self_known;
    for (std::size_t i = 0; i < profile.lines.size(); ++i) {
      const FunctionProfile::Line& from = profile.lines[i];
      if (from.line <= 0 || from.file.empty()) continue;
      SourceLine& line = collector.line(from.file, from.line);
      line.hits += from.hits;
      line.cost += profile.line_self[i * costs + cost];
      if (out.has_total) line.total += profile.line_total[i * costs + cost];
    }
  }
  const auto add = [](std::int64_t& into, std::int64_t value) {
    if (__builtin_add_overflow(into, value, &into)) into = value > 0 ? INT64_MAX : INT64_MIN;
  };
  const std::vector<MemoryLine> memory = memory_lines(traces);
  for (const MemoryLine& from : memory) {
    if (from.line <= 0 || from.file.empty()) continue;
    out.has_memory = true;
    SourceLine& line = collector.line(from.file, from.line);
    add(line.allocated, from.allocated);
    add(line.peak, from.peak);
  }
  for (const ExecutedLine& from : executed_lines(traces)) {
    if (from.line <= 0 || from.file.empty()) continue;
    out.has_increments = true;
    add(collector.line(from.file, from.line).increment, from.increment);
  }
  const DeviceLines device = device_lines(traces);
  // Those with time of their own come first: files that were only passed through are not shown.
  for (const DeviceLines::Line& from : device.lines) {
    if (from.line <= 0 || from.file.empty()) continue;
    if (from.self == 0 && !collector.knows(from.file)) continue;
    out.has_device = true;
    SourceLine& line = collector.line(from.file, from.line);
    add(line.device, from.self);
    add(line.device_total, from.total);
  }
  out.files = collector.take();
  // Lines that include what they called lie in one another: the dearest one is the measure.
  for (const SourceFile& file : out.files) {
    if (!out.with_calls) out.whole += file.cost;
    for (const SourceLine& line : file.lines) {
      if (out.with_calls) out.whole = std::max(out.whole, line.cost);
    }
  }
  return out;
}

}  // namespace

const SourceFile* SourceCosts::find(std::string_view name) const {
  const SourceFile* found = nullptr;
  for (const SourceFile& file : files) {
    if (file.file == name) return &file;
    const bool ends = file.file.size() > name.size() && file.file.ends_with(name) &&
                      file.file[file.file.size() - name.size() - 1] == '/';
    if (!ends) continue;
    if (found != nullptr) return nullptr;
    found = &file;
  }
  return found;
}

SourceCosts source_costs(std::span<const NamedTrace> traces, const ProfileChoice& choice,
                         std::string_view weight) {
  const FunctionProfile profile =
      function_profile(traces, nullptr, {ProfileNeed::Lines, choice.source});
  return costs_of(profile, plain_traces(traces), weight);
}

SourceCosts source_costs(const Trace& trace, std::string_view weight) {
  const Trace* const traces[] = {&trace};
  return costs_of(function_profile(trace, {ProfileNeed::Lines, ProfileSource::None}), traces,
                  weight);
}

}  // namespace sonde
