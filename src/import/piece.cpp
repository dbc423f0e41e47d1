#include "import/piece.hpp"
#include "trace/selection.hpp"

#include <utility>

namespace sonde {
namespace {

std::vector<Selection::Step> steps_of(const Trace& trace) {
  std::vector<Selection::Step> steps;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) != SliceKind::Step) continue;
    steps.push_back(
        {std::string(trace.name(slice)), trace.slices().start(slice), trace.slices().end(slice)});
  }
  return steps;
}

Result<Piece> filtered(Trace&& trace, const ChooseFilter& choose, const WantTrace& want) {
  Piece piece;
  if (want && !want(trace.meta())) {
    piece.wanted = false;
    piece.trace = std::move(trace);
    return piece;
  }
  if (!choose) {
    piece.trace = std::move(trace);
    return piece;
  }
  const Result<TraceFilter> filter = choose(steps_of(trace));
  if (!filter) return filter.error();
  piece.trace = filter_trace(trace, *filter);
  return piece;
}

}  // namespace

Result<Piece> load_piece(const std::string& path, const ChooseFilter& choose,
                         const LoadOptions& options, const WantTrace& want) {
  const auto load_whole = [&]() -> Result<Piece> {
    Result<Trace> trace = load_trace(path, options);
    if (!trace) return trace.error();
    return filtered(std::move(*trace), choose, want);
  };
  // Standard input comes once.
  if (path == "-" || !choose) return load_whole();

  Selection selection;
  LoadOptions selecting = options;
  selecting.selection = &selection;
  const auto load_phase = [&] {
    Result<Trace> loaded = load_trace(path, selecting);
    while (loaded && selection.takes_again()) loaded = load_trace(path, selecting);
    return loaded;
  };
  Result<Trace> trace = load_phase();
  if (!trace) return trace.error();
  if (!selection.used()) return filtered(std::move(*trace), choose, want);
  Piece piece;
  piece.read_whole = false;
  piece.wanted = !want || want(trace->meta());
  if (!piece.wanted) {
    piece.trace = std::move(*trace);
    return piece;
  }
  std::vector<Selection::Step> steps = selection.steps();
  for (Selection::Step& step : steps) {
    step.start -= selection.origin();
    step.end -= selection.origin();
  }
  const Result<TraceFilter> filter = choose(steps);
  if (!filter) return filter.error();
  selection.choose(*filter);
  if (selection.needs_neighbours() && !selection.given_up()) {
    selection.begin_neighbours();
    trace = load_phase();
    if (!trace) return trace.error();
  }
  if (selection.given_up()) return load_whole();
  selection.begin_build();
  trace = load_phase();
  if (!trace) return trace.error();
  if (selection.given_up()) return load_whole();
  piece.trace = filter_trace(*trace, selection.filter_from(trace->meta().origin));
  return piece;
}

}  // namespace sonde
