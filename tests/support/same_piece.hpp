#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "import/piece.hpp"
#include "tests/support/export_text.hpp"
#include "tests/support/same_trace.hpp"

namespace sonde::test {

// What to cut out, in parts of the trace's length or by its steps.
struct Wanted {
  double from = 0;
  double to = 0;  // 0: no window
  bool steps = false;
  std::vector<SliceKind> kinds;
  bool points = true;
};

inline TraceFilter filter_of(const Wanted& wanted, const std::vector<Selection::Step>& steps,
                             Nanos length) {
  TraceFilter filter;
  for (const SliceKind kind : wanted.kinds) filter.kinds.set(static_cast<std::size_t>(kind));
  filter.markers = filter.counters = filter.allocations = filter.samples = wanted.points;
  if (wanted.to > 0)
    filter.windows.push_back({static_cast<Nanos>(wanted.from * static_cast<double>(length)),
                              static_cast<Nanos>(wanted.to * static_cast<double>(length))});
  if (wanted.steps) {
    for (std::size_t i = 1; i < steps.size(); i += 2)
      filter.windows.push_back({steps[i].start, steps[i].end});
    if (filter.windows.empty()) filter.windows.push_back({length / 3, length / 2});
    filter.device_work_by_launch = true;
  }
  return filter;
}

// In the order of time: slices that end first are read first.
inline std::vector<std::string> lines_of(const std::vector<Selection::Step>& steps) {
  std::vector<std::string> lines;
  for (const Selection::Step& step : steps)
    lines.push_back(std::to_string(step.start) + "-" + std::to_string(step.end) + " " + step.name);
  std::sort(lines.begin(), lines.end());
  return lines;
}

inline std::string text_of(const Wanted& wanted) {
  std::string text = std::to_string(wanted.from) + " to " + std::to_string(wanted.to);
  if (wanted.steps) text += ", steps";
  for (const SliceKind kind : wanted.kinds) text += ", " + std::string(kind_name(kind));
  return text;
}

struct Compared {
  bool read_whole = true;
  std::size_t slices = 0;
};

// Both ways; the exports must be the same to the byte.
inline Compared expect_same_piece(const std::string& path, const Trace& whole, const Wanted& wanted,
                                  const std::string& what) {
  Compared out;
  const Nanos length = whole.span_end();
  std::vector<Selection::Step> steps;
  for (const SliceId slice : all_slices(whole)) {
    if (whole.slices().kind(slice) == SliceKind::Step)
      steps.push_back(
          {std::string(whole.name(slice)), whole.slices().start(slice), whole.slices().end(slice)});
  }
  const Trace expected = filter_trace(whole, filter_of(wanted, steps, length));
  const auto choose = [&](const std::vector<Selection::Step>& found) -> Result<TraceFilter> {
    EXPECT_EQ(lines_of(found), lines_of(steps)) << what;
    return filter_of(wanted, steps, length);
  };
  const Result<Piece> piece = load_piece(path, choose);
  if (!piece) {
    ADD_FAILURE() << what << ": " << piece.error().text();
    return out;
  }
  const std::string where = what + ", " + text_of(wanted);
  EXPECT_EQ(difference(expected, piece->trace), "") << where;
  EXPECT_TRUE(export_text("chrome", expected).text == export_text("chrome", piece->trace).text)
      << where;
  out.read_whole = piece->read_whole;
  out.slices = expected.slice_count();
  return out;
}

inline std::vector<Wanted> some_pieces() {
  return {{0.4, 0.45, false, {}, true},
          {0, 0.3, false, {}, true},
          {0.7, 2, false, {}, true},
          {0, 0, true, {}, true},
          {0, 0, true, {SliceKind::Kernel}, false},
          {0.2, 0.6, false, {SliceKind::Operator, SliceKind::Runtime}, false},
          {0, 0, false, {SliceKind::Kernel, SliceKind::Memcpy}, false},
          {0, 0, false, {SliceKind::Runtime, SliceKind::Kernel}, true}};
}

}  // namespace sonde::test
