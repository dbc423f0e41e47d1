#include "report/styles/line_profiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/line_report.hpp"
#include "analysis/source_lines.hpp"
#include "report/safe_text.hpp"
#include "report/styles/python_text.hpp"

namespace sonde {
namespace {

constexpr std::int64_t kMaxBlankLines = 100'000;

std::string table_row(std::string_view line, std::string_view hits, std::string_view time,
                      std::string_view per_hit, std::string_view percent, std::string_view text) {
  return fmt::format("{:>6} {:>9} {:>12} {:>8} {:>8}  {}\n", line, hits, time, per_hit, percent,
                     text);
}

class Printer {
 public:
  Printer(const LineReport& report, const LineProfilerRequest& request)
      : report_(report), request_(request) {
    // Costs that are no time have no unit to be printed in.
    scale_ = report.cost.unit == "ns" ? report.tick / request.unit : 1;
  }

  std::string print() {
    out_ += fmt::format("Timer unit: {:g} s\n\n",
                        report_.cost.unit == "ns" ? request_.unit : report_.tick);
    for (const LineReport::Function& function : report_.functions) {
      if (request_.skip_zero && function.ticks == 0) continue;
      print_function(function);
    }
    if (outside_ > 0) {
      out_ += fmt::format("{} with numbers are not in the source of their function as it is now.\n",
                          outside_ == 1 ? "1 line" : fmt::format("{} lines", outside_));
    }
    return std::move(out_);
  }

 private:
  void print_function(const LineReport::Function& function) {
    out_ += fmt::format("Total time: {:g} s\n", function.ticks * report_.tick);
    const std::vector<std::string>* source = files_.lines(function.file);
    const std::string file = safe_text(function.file);
    if (source != nullptr) {
      out_ += "File: " + file + "\n";
      out_ += fmt::format("Function: {} at line {}\n", safe_text(function.name), function.line);
      choose_source(function, *source);
    } else {
      out_ += "\nCould not find file " + file + "\n";
      out_ += "Are you sure you are running this program from the same directory\n";
      out_ += "that you ran the profiler from?\n";
      out_ += "Continuing without the function's contents.\n";
      choose_blank(function);
    }
    const std::string header =
        table_row("Line #", "Hits", "Time", "Per Hit", "% Time", "Line Contents");
    out_ += "\n" + header + std::string(header.size() - 1, '=') + "\n";
    print_rows(function, source);
    out_ += "\n";
  }

  // The lines of the function; all of the file for the code of a module.
  void choose_source(const LineReport::Function& function, const std::vector<std::string>& source) {
    first_ = function.line;
    std::size_t count = source.size();
    if (function.name == "<module>" || function.line < 1) {
      first_ = 1;
    } else {
      const std::size_t skipped = std::min(source.size(), static_cast<std::size_t>(first_ - 1));
      count = python_block_length(std::span(source).subspan(skipped));
    }
    end_ = first_ + static_cast<std::int64_t>(count);
  }

  void choose_blank(const LineReport::Function& function) {
    first_ = function.line;
    end_ = first_ + 1;
    if (function.lines.empty()) return;
    const std::int64_t lowest = std::min(function.lines.front().line, function.line);
    end_ = first_ + function.lines.back().line - lowest + 1;
  }

  void print_rows(const LineReport::Function& function, const std::vector<std::string>* source) {
    auto known = function.lines.begin();
    while (known != function.lines.end() && known->line < first_) {
      ++outside_;
      ++known;
    }
    const bool all = source != nullptr || end_ - first_ <= kMaxBlankLines;
    for (std::int64_t line = first_; line < end_; ++line) {
      const bool has_numbers = known != function.lines.end() && known->line == line;
      if (!has_numbers && !all) {
        if (known == function.lines.end()) break;
        line = known->line - 1;
        continue;
      }
      const auto at = static_cast<std::size_t>(line - 1);
      const std::string text =
          source != nullptr && line > 0 && at < source->size() ? safe_source((*source)[at]) : "";
      print_row(line, has_numbers ? &*known : nullptr, function.ticks, text);
      if (has_numbers) ++known;
    }
    outside_ += static_cast<std::size_t>(function.lines.end() - known);
  }

  void print_row(std::int64_t number, const LineReport::Line* line, double all,
                 const std::string& text) {
    const std::string name = fmt::format("{}", number);
    if (line == nullptr) {
      out_ += table_row(name, "", "", "", "", text);
      return;
    }
    const double time = line->ticks * scale_;
    out_ += table_row(
        name, fmt::format("{}", line->hits), fmt::format("{:5.1f}", time),
        line->hits == 0 ? "" : fmt::format("{:5.1f}", time / static_cast<double>(line->hits)),
        all == 0 ? "" : fmt::format("{:5.1f}", 100 * line->ticks / all), text);
  }

  const LineReport& report_;
  const LineProfilerRequest& request_;
  double scale_ = 1;
  SourceFiles files_;
  std::int64_t first_ = 1;
  std::int64_t end_ = 1;
  std::size_t outside_ = 0;
  std::string out_;
};

std::string what_they_are(const LineReport& report) {
  std::string out;
  if (report.source == ProfileSource::Samples) {
    out = "From samples: hits are samples that were taken on the line, times have what it called.";
  } else if (!report.with_callees) {
    out = "The time of a line is without what it called.";
  }
  if (report.cost.unit != "ns") {
    out += (out.empty() ? "" : " ") + ("Numbers are " + report.cost.name + ", not seconds.");
  }
  return out.empty() ? out : safe_text(out) + "\n";
}

}  // namespace

Result<std::string> line_profiler_text(const NamedTrace& named,
                                       const LineProfilerRequest& request) {
  const LineReport report = line_report(named.trace);
  if (report.functions.empty()) {
    return nothing_to_show(named.path, "costs of lines", "--python line");
  }
  return what_they_are(report) + Printer(report, request).print();
}

}  // namespace sonde
