#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "report/document.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

// What the user wants to see, and how.
struct ReportRequest {
  std::string style = "sonde";
  std::string view;        // empty: the style's first one
  std::string sort;        // empty: the view's own order
  bool ascending = false;  // the smallest first; for views that have both directions
  std::optional<std::int64_t>
      limit;                // rows; 0 and below: all; absent: what the view finds sensible
  std::string group_by;     // "input_shape", "stack" or empty
  std::string format;       // "text", "json", "csv", "markdown"; empty: the view's first one
  std::string op_name;      // the operator that a view about one operator is about
  bool thread_sep = false;  // each thread by itself; for style paddle, as the two below
  std::string op_detail;    // "on", "off" or empty
  std::string filter;       // only rows that have this text in a name, a file or a module; any case
  std::string from;         // functions and lines: "calls", "samples", "slices"; empty: the best
  std::string weight;  // which cost, where there are several: "wall", "cpu"; empty: the view's own
  std::string file;    // the source file that a view about one file is about
  std::string snapshot;     // of objects: its label or number; empty: the last one
  std::string against;      // the snapshot that it is compared with
  std::string time_unit;    // "s", "ms", "us", "ns" or empty; for line_profiler too
  bool strip_dirs = false;  // file names without their folders; for style pstats
  bool skip_zero = false;   // without functions that took no time; for style line_profiler
  std::optional<std::int64_t> precision;  // digits behind the point; for style memory_profiler
  // A number of rows, a share of them or a regular expression, one after the other; for pstats.
  std::vector<std::string> restrictions;
  RenderOptions render;

  bool for_programs() const { return format == "json" || format == "csv"; }

  // People get the best rows only, programs get all.
  std::size_t row_limit(std::size_t sensible) const {
    if (!limit) return for_programs() ? SIZE_MAX : sensible;
    return *limit <= 0 ? SIZE_MAX : static_cast<std::size_t>(*limit);
  }
};

// The traces of one run, ordered by worker.
using RunTraces = std::span<const NamedTrace>;

// What a view says about one run.
using BuildDocument = Document (*)(RunTraces, const ReportRequest&);

// Builds one document per run and renders them.
std::string report_documents(const TraceSet& traces, const ReportRequest& request,
                             BuildDocument build);

}  // namespace sonde
