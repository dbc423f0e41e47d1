#include "cli/cut_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "base/spelling.hpp"
#include "cli/usage.hpp"
#include "trace/selection.hpp"

namespace sonde {
namespace {

struct Unit {
  std::string_view name;
  double nanos;
};
constexpr std::array kUnits = {Unit{"ns", 1},   Unit{"us", 1e3},   Unit{"µs", 1e3},
                               Unit{"ms", 1e6}, Unit{"min", 60e9}, Unit{"s", 1e9}};

struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() ||
      number < 0)
    return std::nullopt;
  return number;
}

Result<StepRange> parse_steps(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = whole(text.substr(0, dash));
  const auto last = dash == text.npos ? first : whole(text.substr(dash + 1));
  if (!first || !last || *last < *first)
    return usage_error("--step needs a number or a range such as 3-5, not '" + std::string(text) +
                       "'");
  return StepRange{*first, *last};
}

// "ProfilerStep#12" -> 12.
std::optional<std::int64_t> step_number(std::string_view name) {
  const std::size_t hash = name.rfind('#');
  return whole(hash == name.npos ? name : name.substr(hash + 1));
}

std::vector<std::string> kind_words() {
  std::vector<std::string> words;
  for (const std::string_view name : kSliceKindNames) {
    std::string word(name);
    std::replace(word.begin(), word.end(), ' ', '-');
    words.push_back(std::move(word));
  }
  for (const char* point : {"marker", "counter", "allocation", "sample"}) words.emplace_back(point);
  return words;
}

Result<bool> parse_kinds(const std::string& text, TraceFilter& filter) {
  filter.markers = filter.counters = filter.allocations = filter.samples = false;
  const std::vector<std::string> words = kind_words();
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    std::string word = text.substr(begin, comma - begin);
    begin = comma + 1;
    std::replace(word.begin(), word.end(), ' ', '-');
    std::replace(word.begin(), word.end(), '_', '-');
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) return usage_error(unknown_word("kind", word, words));
    const auto at = static_cast<std::size_t>(found - words.begin());
    if (at < kSliceKindCount) filter.kinds.set(at);
    filter.markers = filter.markers || word == "marker";
    filter.counters = filter.counters || word == "counter";
    filter.allocations = filter.allocations || word == "allocation";
    filter.samples = filter.samples || word == "sample";
  }
  return true;
}

}  // namespace

Result<Nanos> parse_time(std::string_view text) {
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(parsed.ptr,
                              static_cast<std::size_t>(text.data() + text.size() - parsed.ptr));
  if (parsed.ec == std::errc() && number >= 0) {
    for (const Unit& known : kUnits) {
      const double nanos = number * known.nanos;
      if (unit == known.name && nanos <= static_cast<double>(kMaxTime)) {
        // Down to the nanosecond, for times that a double cannot hold to the last digit.
        return static_cast<Nanos>(nanos + 0.5);
      }
    }
  }
  return usage_error("'" + std::string(text) + "' is no time; write it as 1.5s, 200ms or 10us");
}

void CutOptions::define(Options& options) {
  options.text(from, "--from", "TIME",
               "from this time on, counted from the start of the trace: 1.5s, 200ms, 10us");
  options.text(to_time, "--to-time", "TIME", "up to this time");
  options.text(step, "--step", "N", "only this step, or steps as in 3-5");
  Option& ranks = options.integer(rank, "--rank", "R", "only the trace of this rank");
  ranks.lowest = 0;
  options.text(process, "--process", "PROCESS",
               "only this process of a recorded run: its pid, or the name of its file");
  Option& kinds = options.text(kind, "--kind", "KIND[,KIND]", "only these kinds of events");
  kinds.choices = kind_words();
}

Result<bool> CutOptions::check() const {
  for (const std::string& time : {from, to_time}) {
    if (time.empty()) continue;
    if (const Result<Nanos> parsed = parse_time(time); !parsed) return parsed.error();
  }
  if (!from.empty() && !to_time.empty() && *parse_time(to_time) <= *parse_time(from))
    return usage_error("--to-time must be later than --from");
  if (!step.empty()) {
    if (const Result<StepRange> range = parse_steps(step); !range) return range.error();
  }
  TraceFilter ignored;
  if (!kind.empty()) return parse_kinds(kind, ignored);
  return true;
}

Result<TraceFilter> CutOptions::filter(const std::vector<Selection::Step>& steps) const {
  if (const Result<bool> good = check(); !good) return good.error();
  TraceFilter filter;
  if (!kind.empty()) {
    if (const Result<bool> good = parse_kinds(kind, filter); !good) return good.error();
  }
  const Nanos begin = from.empty() ? -kMaxTime : *parse_time(from);
  const Nanos end = to_time.empty() ? kMaxTime : *parse_time(to_time);
  if (step.empty()) {
    if (!from.empty() || !to_time.empty()) filter.windows.push_back({begin, end});
    return filter;
  }
  const StepRange range = *parse_steps(step);
  std::string known;
  std::size_t count = 0;
  for (const Selection::Step& each : steps) {
    const std::optional<std::int64_t> number = step_number(each.name);
    if (!number) continue;
    if (++count <= 20) known += (known.empty() ? "" : ", ") + std::to_string(*number);
    if (*number < range.first || *number > range.last) continue;
    const Nanos first = std::max(begin, each.start);
    const Nanos last = std::min(end, each.end);
    if (first < last) filter.windows.push_back({first, last});
  }
  filter.device_work_by_launch = true;
  if (filter.windows.empty()) {
    if (count > 20) known += ", …";
    return Error{ErrorCode::UsageError,
                 "the trace has no step " + step,
                 {},
                 {},
                 known.empty() ? "it has no steps at all" : "it has " + known};
  }
  return filter;
}

}  // namespace sonde
