#include "analysis/annotated_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/function_profile.hpp"
#include "analysis/python_stats.hpp"
#include "analysis/source_lines.hpp"
#include "base/saturated.hpp"

namespace sonde {
namespace {

constexpr std::int32_t kMaxBlankLines = 100'000;

AnnotatedSource from_listing(const Trace& trace) {
  const SourceListing& from = trace.source_listing();
  AnnotatedSource out;
  out.origin = AnnotatedSource::Origin::Listing;
  if (from.command.valid()) out.command = trace.text(from.command);
  out.seconds = from.seconds;
  for (const SourceListing::File& file : from.files) {
    AnnotatedSource::File copy{std::string(trace.text(file.name)), file.seconds, file.percent, {}};
    for (const SourceListing::Row& row : file.rows) {
      copy.rows.push_back({row.line, row.is_call, row.hits, row.seconds, row.seconds_per_hit,
                           row.percent, std::string(trace.text(row.text))});
    }
    out.files.push_back(std::move(copy));
  }
  return out;
}

// Gathers what is known of each line, and makes rows of it.
class Annotator {
 public:
  void hit(std::string_view file, std::int32_t line, std::int64_t hits, double seconds) {
    LineSum& sum = of(file).lines[line];
    sum.hits = saturated_sum(sum.hits, hits);
    sum.seconds += seconds;
  }

  void call(std::string_view file, std::int32_t line, std::string_view callee_file,
            std::int32_t callee_line, std::string_view callee, std::int64_t calls, double seconds) {
    FileSum& sums = of(file);
    const auto [at, inserted] =
        sums.call_rows.try_emplace({line, callee_file, callee_line, callee}, sums.calls.size());
    if (inserted) sums.calls.push_back({line, callee_file, callee_line, callee, 0, 0});
    std::int64_t& sum = sums.calls[at->second].calls;
    sum = saturated_sum(sum, calls);
    sums.calls[at->second].seconds += seconds;
  }

  void finish(AnnotatedSource& out) {
    for (const std::string_view name : order_) out.files.push_back(rows_of(name, out.seconds));
    std::stable_sort(out.files.begin(), out.files.end(),
                     [&](const AnnotatedSource::File& a, const AnnotatedSource::File& b) {
                       if (a.seconds != b.seconds) return a.seconds > b.seconds;
                       return of(a.name).hits > of(b.name).hits;
                     });
  }

  bool empty() const { return files_.empty(); }
  const std::vector<std::string>* source(std::string_view file) { return sources_.lines(file); }

 private:
  struct LineSum {
    std::int64_t hits = 0;
    double seconds = 0;
  };
  struct CallSum {
    std::int32_t line;
    std::string_view callee_file;
    std::int32_t callee_line;
    std::string_view callee;
    std::int64_t calls;
    double seconds;
  };
  struct FileSum {
    std::map<std::int32_t, LineSum> lines;
    std::vector<CallSum> calls;  // in the order of the profile
    std::map<std::tuple<std::int32_t, std::string_view, std::int32_t, std::string_view>,
             std::size_t>
        call_rows;
    std::int64_t hits = 0;
  };

  FileSum& of(std::string_view file) {
    const auto known = files_.find(file);
    if (known != files_.end()) return known->second;
    order_.push_back(file);
    return files_[file];
  }

  static double percent(double part, double whole) { return whole == 0 ? 0 : part * 100 / whole; }

  AnnotatedSource::File rows_of(std::string_view name, double whole) {
    FileSum& sums = of(name);
    AnnotatedSource::File file;
    file.name = name;
    std::int32_t last = 0;
    for (const auto& [line, sum] : sums.lines) {
      file.seconds += sum.seconds;
      sums.hits = saturated_sum(sums.hits, sum.hits);
      last = std::max(last, line);
    }
    file.percent = percent(file.seconds, whole);
    std::multimap<std::int32_t, const CallSum*> calls;
    for (const CallSum& call : sums.calls) {
      calls.emplace(call.line, &call);
      last = std::max(last, call.line);
    }
    const auto add = [&](std::int32_t line, std::string text) {
      const auto known = sums.lines.find(line);
      const LineSum sum = known == sums.lines.end() ? LineSum() : known->second;
      file.rows.push_back({line, false, sum.hits, sum.seconds,
                           sum.hits == 0 ? 0 : sum.seconds / static_cast<double>(sum.hits),
                           percent(sum.seconds, whole), std::move(text)});
      const auto [begin, end] = calls.equal_range(line);
      for (auto at = begin; at != end; ++at) add_call(file, *at->second, whole);
    };
    const std::vector<std::string>* source = sources_.lines(name);
    const std::size_t count = source == nullptr ? 0 : source->size();
    for (std::size_t i = 0; i < count; ++i) {
      add(static_cast<std::int32_t>(i + 1), trimmed((*source)[i]));
    }
    // Lines that the source does not have (any more): all of them, or those with numbers only.
    const auto first = static_cast<std::int32_t>(count + 1);
    if (last - first < kMaxBlankLines) {
      for (std::int32_t line = first; line <= last; ++line) add(line, "");
    } else {
      std::map<std::int32_t, bool> wanted;
      for (const auto& [line, sum] : sums.lines) wanted[line] = true;
      for (const auto& [line, call] : calls) wanted[line] = true;
      for (auto at = wanted.lower_bound(first); at != wanted.end(); ++at) add(at->first, "");
    }
    return file;
  }

  static void add_call(AnnotatedSource::File& file, const CallSum& call, double whole) {
    file.rows.push_back({call.line, true, call.calls, call.seconds,
                         call.calls == 0 ? 0 : call.seconds / static_cast<double>(call.calls),
                         percent(call.seconds, whole),
                         fmt::format("{}:{} {}", call.callee_file, call.callee_line, call.callee)});
  }

  static std::string trimmed(const std::string& line) {
    const std::size_t last = line.find_last_not_of(" \t\f\v\r\n");
    return last == std::string::npos ? std::string() : line.substr(0, last + 1);
  }

  std::map<std::string_view, FileSum> files_;
  std::vector<std::string_view> order_;
  SourceFiles sources_;
};

// Where the function begins that `line` is in: its first decorator, or else its "def". 0 where the
// source does not tell.
std::int32_t first_line(const std::vector<std::string>* source, std::string_view name,
                        std::int32_t line) {
  if (name == "<module>") return 1;
  if (source == nullptr || name.empty() || name.starts_with('<')) return 0;
  const auto code = [&](std::int32_t number) {
    const std::string_view text = (*source)[static_cast<std::size_t>(number - 1)];
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
  };
  const auto begins = [&](std::string_view text) {
    if (text.starts_with("async ")) text.remove_prefix(6);
    if (!text.starts_with("def ") && !text.starts_with("class ")) return false;
    text.remove_prefix(text.find(' ') + 1);
    if (!text.starts_with(name)) return false;
    text.remove_prefix(name.size());
    return text.empty() || text.find_first_of("(:[ ") == 0;
  };
  std::int32_t at = std::min(line, static_cast<std::int32_t>(source->size()));
  while (at > 0 && !begins(code(at))) --at;
  while (at > 1 && code(at - 1).starts_with('@')) --at;
  return at;
}

std::optional<AnnotatedSource> from_counts(const Trace& trace) {
  const CallProfile& from = trace.call_profile();
  std::vector<ProfileCost> costs;
  for (const CostType& type : from.types) {
    costs.push_back({std::string(trace.text(type.name)), std::string(trace.text(type.unit)), true});
  }
  if (from.lines.empty() || costs.empty()) return std::nullopt;
  const std::size_t chosen = time_cost(costs);
  const double scale = costs[chosen].unit == "ns" ? 1e9 : 1;
  const auto cost = [&](const std::vector<std::int64_t>& list, std::size_t row) {
    const std::size_t at = row * costs.size() + chosen;
    return at < list.size() ? static_cast<double>(list[at]) / scale : 0.0;
  };
  AnnotatedSource out;
  out.origin = from.self_known && from.line_self_known ? AnnotatedSource::Origin::Counted
                                                       : AnnotatedSource::Origin::WithCallees;
  Annotator annotator;
  for (std::size_t i = 0; i < from.lines.size(); ++i) {
    const double seconds = cost(from.line_self, i);
    out.seconds += seconds;
    annotator.hit(trace.text(from.lines[i].file), from.lines[i].line, from.lines[i].hits, seconds);
  }
  for (std::size_t i = 0; i < from.calls.size(); ++i) {
    const CallProfile::Call& call = from.calls[i];
    if (call.line <= 0) continue;  // the place is not known
    const CallProfile::Function& caller = from.functions[call.caller.index()];
    const CallProfile::Function& callee = from.functions[call.callee.index()];
    annotator.call(trace.text(caller.file), call.line, trace.text(callee.file), callee.line,
                   trace.text(callee.name), call.calls, cost(from.call_total, i));
  }
  annotator.finish(out);
  return out;
}

// As a sampler of lines counts: one hit where the stack ends, one call on each frame below.
std::optional<AnnotatedSource> from_samples(const Trace& trace) {
  const std::vector<StackFrame>& frames = trace.stacks();
  std::vector<std::int64_t> own(frames.size());
  double nanos = 0;
  for (const Sample& sample : trace.samples()) {
    if (sample.type != 0 || !sample.stack.valid()) continue;
    ++own[sample.stack.index()];
    nanos += sample.weight;
  }
  AnnotatedSource out;
  out.origin = AnnotatedSource::Origin::Samples;
  const bool timed =
      !trace.sample_types().empty() && trace.text(trace.sample_types().front().unit) == "ns";
  out.seconds = (timed ? nanos : static_cast<double>(trace.span_end() - trace.span_start())) / 1e9;
  Annotator annotator;
  std::map<std::tuple<std::string_view, std::string_view, std::int32_t>, std::int32_t> first_lines;
  std::vector<std::int64_t> through = own;
  for (std::size_t i = frames.size(); i-- > 0;) {
    if (frames[i].caller.valid()) through[frames[i].caller.index()] += through[i];
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const StackFrame& frame = frames[i];
    if (own[i] > 0 && frame.line > 0) {
      annotator.hit(trace.text(frame.file), frame.line, own[i], 0);
    }
    if (!frame.caller.valid() || through[i] == 0) continue;
    const StackFrame& caller = frames[frame.caller.index()];
    if (caller.line <= 0) continue;
    const std::string_view file = trace.text(frame.file);
    const std::string_view name = trace.text(frame.function);
    const auto [begin, inserted] = first_lines.try_emplace({file, name, frame.line}, 0);
    if (inserted) begin->second = first_line(annotator.source(file), name, frame.line);
    annotator.call(trace.text(caller.file), caller.line, file, begin->second, name, through[i], 0);
  }
  if (annotator.empty()) return std::nullopt;
  annotator.finish(out);
  return out;
}

}  // namespace

std::optional<AnnotatedSource> annotate_source(const Trace& trace) {
  if (!trace.source_listing().empty()) return from_listing(trace);
  if (!trace.call_profile().empty()) return from_counts(trace);
  if (!trace.samples().empty()) return from_samples(trace);
  return std::nullopt;
}

}  // namespace sonde
