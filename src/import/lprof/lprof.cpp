#include "import/lprof/lprof.hpp"

#include <algorithm>
#include <optional>

#include "import/pickle/pickle_reader.hpp"
#include "import/profile/call_profile_builder.hpp"
#include "import/text/numbers.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

std::int32_t to_line(std::int64_t line) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(line, 0, INT32_MAX));
}

class LprofReader {
 public:
  LprofReader(TraceBuilder& builder, double unit)
      : builder_(builder), names_(builder), table_(builder.call_profile(), 1), unit_(unit) {
    builder.call_profile().types.push_back({builder.intern("time"), builder.intern("ns")});
    builder.call_profile().self_known = false;
    builder.call_profile().tick = unit;
  }

  // {(file, first line, function): [(line, hits, time), …]}
  void read(PickleValue timings) {
    for (std::size_t i = 0; i < timings.size(); ++i) {
      const PickleValue key = timings.key(i);
      const PickleValue rows = timings.value(i);
      const std::optional<std::int64_t> first_line = key.item(1).integer();
      if (key.size() != 3 || !first_line || !key.item(2).is(PickleType::Text)) {
        lose("function_unusable", "Functions whose place cannot be read; they were passed over.");
        continue;
      }
      const FunctionId function =
          table_.function(names_.intern(key.item(2).text()), names_.intern(key.item(0).text()),
                          StringId(), to_line(*first_line));
      for (std::size_t j = 0; j < rows.size(); ++j) add_line(function, rows.item(j));
    }
  }

 private:
  void lose(std::string_view name, std::string_view sentence) {
    builder_.losses().add(name, Severity::Warning, sentence);
  }

  void add_line(FunctionId function, PickleValue row) {
    const std::optional<std::int64_t> line = row.item(0).integer();
    const std::optional<std::int64_t> hits = row.item(1).integer();
    const std::optional<double> ticks = row.item(2).number();
    if (!line || !hits || !ticks) {
      return lose("line_unusable", "Lines whose numbers cannot be read; they were passed over.");
    }
    CallProfile& profile = builder_.call_profile();
    const std::int64_t time = to_cost(*ticks * unit_ * 1e9);
    const std::uint32_t at =
        table_.line(function, profile.functions[function.index()].file, to_line(*line));
    CallProfile::Line& known = profile.lines[at];
    known.hits = add_costs(known.hits, *hits);
    table_.add(profile.line_self, at, {&time, 1});
    table_.add(profile.function_self, function.index(), {&time, 1});
    table_.add(profile.function_total, function.index(), {&time, 1});
    ++builder_.meta().file_events;
  }

  TraceBuilder& builder_;
  NamePool names_;
  CallProfileBuilder table_;
  double unit_;
};

}  // namespace

bool looks_like_lprof(std::string_view head) {
  return looks_like_pickle(head) && head.substr(0, 256).find("LineStats") != std::string_view::npos;
}

Result<Trace> import_lprof(const ImportInput& input) {
  const Result<PickleDocument> document = PickleDocument::read(input.source);
  if (!document) return document.error();
  const PickleValue state = document->root().state();
  const std::optional<double> unit = state.find("unit").number();
  if (!state.find("timings").is(PickleType::Dict) || !unit || !(*unit > 0) || *unit > 1) {
    return Error{ErrorCode::BrokenInput,
                 "a file of line_profiler without its timings",
                 input.path,
                 {},
                 "write it with kernprof, or LineProfiler.dump_stats()"};
  }
  TraceBuilder builder;
  builder.meta().format = "lprof";
  builder.meta().producer = "line_profiler";
  builder.meta().input_bytes = document->byte_count();
  LprofReader(builder, *unit).read(state.find("timings"));
  if (builder.call_profile().lines.empty()) {
    builder.losses().add("no_events", Severity::Warning,
                         "No line ran: none of the functions that are watched was called.");
  }
  builder.losses().merge(input.source.losses());
  builder.nest(1);
  return builder.finish();
}

}  // namespace sonde
