#include "import/vprof/vprof.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json_writer.hpp"
#include "import/input/read_whole.hpp"
#include "import/profile/call_profile_builder.hpp"
#include "import/text/numbers.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

std::optional<double> number_of(simdjson::simdjson_result<element> value) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string_view text_of(simdjson::simdjson_result<element> value) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::int32_t line_of(std::optional<double> number) {
  if (!number || !(*number >= 0) || *number > INT32_MAX) return 0;
  return static_cast<std::int32_t>(*number);
}

class VprofReader {
 public:
  explicit VprofReader(TraceBuilder& builder)
      : builder_(builder), names_(builder), table_(builder.call_profile(), 1) {}

  // [file, line, function, total, percent, calls, primitive calls, own time, …], in seconds
  void read_profiler(object part) {
    array rows;
    if (part["callStats"].get(rows) != simdjson::SUCCESS) return lose_part();
    begin_sums();
    has_functions_ = true;
    CallProfile& profile = builder_.call_profile();
    for (const element value : rows) {
      array row;
      if (value.get(row) != simdjson::SUCCESS || row.size() < 8) {
        lose("row_unusable", "Rows whose numbers cannot be read; they were passed over.");
        continue;
      }
      const std::optional<double> total = number_of(row.at(3));
      const std::optional<double> self = number_of(row.at(7));
      const std::optional<double> calls = number_of(row.at(5));
      if (!total || !self || !calls) {
        lose("row_unusable", "Rows whose numbers cannot be read; they were passed over.");
        continue;
      }
      const FunctionId function =
          table_.function(names_.intern(text_of(row.at(2))), names_.intern(text_of(row.at(0))),
                          StringId(), line_of(number_of(row.at(1))));
      CallProfile::Function& known = profile.functions[function.index()];
      known.calls = add_costs(known.calls, to_cost(*calls));
      known.primitive_calls =
          add_costs(known.primitive_calls, to_cost(number_of(row.at(6)).value_or(*calls)));
      const std::int64_t own = to_cost(*self * 1e9);
      const std::int64_t all = to_cost(*total * 1e9);
      table_.add(profile.function_self, function.index(), {&own, 1});
      table_.add(profile.function_total, function.index(), {&all, 1});
      ++builder_.meta().file_events;
    }
  }

  // Seconds and runs of each line, by file.
  void read_heat_map(object part) {
    array maps;
    if (part["heatmaps"].get(maps) != simdjson::SUCCESS) return lose_part();
    begin_sums();
    for (const element value : maps) {
      object map;
      object seconds;
      object counts;
      if (value.get(map) != simdjson::SUCCESS || map["heatmap"].get(seconds) != simdjson::SUCCESS) {
        lose("heat_map_unusable", "Heat maps without their lines; they were passed over.");
        continue;
      }
      const bool counted = map["executionCount"].get(counts) == simdjson::SUCCESS;
      const StringId file = names_.intern(text_of(map["name"]));
      // The map knows files only.
      const FunctionId function = table_.function(builder_.intern("<lines>"), file, StringId(), 0);
      for (const auto& [key, time] : seconds) {
        const std::optional<std::int64_t> line = parse_integer(key);
        const std::optional<double> amount =
            number_of(simdjson::simdjson_result<element>(element(time)));
        if (!line || !amount) {
          lose("row_unusable", "Rows whose numbers cannot be read; they were passed over.");
          continue;
        }
        const std::optional<double> hits =
            counted ? number_of(counts[key]) : std::optional<double>();
        add_line(function, file, line_of(static_cast<double>(*line)), to_cost(*amount * 1e9),
                 to_cost(hits.value_or(0)));
      }
    }
  }

  // A tree of {stack: [function, file, line], sampleCount, children}; counts include the children.
  void read_flame_graph(object part) {
    object root;
    if (part["callStats"].get(root) != simdjson::SUCCESS) return lose_part();
    if (root.size() == 0) return;  // no samples were taken
    const bool first = !track_.valid();
    if (first) {
      track_ = builder_.add_track({});
      builder_.add_sample_type({builder_.intern("samples"), builder_.intern("count"), false});
    }
    struct Pending {
      object node;
      StackId caller;
    };
    std::vector<Pending> pending{{root, StackId()}};
    while (!pending.empty()) {
      const Pending next = pending.back();
      pending.pop_back();
      array stack;
      const std::optional<double> count = number_of(next.node["sampleCount"]);
      if (!count || next.node["stack"].get(stack) != simdjson::SUCCESS || stack.size() < 3) {
        lose("row_unusable", "Rows whose numbers cannot be read; they were passed over.");
        continue;
      }
      const StackId id = builder_.intern_stack({next.caller, names_.intern(text_of(stack.at(0))),
                                                names_.intern(text_of(stack.at(1))),
                                                line_of(number_of(stack.at(2)))});
      double below = 0;
      array children;
      if (next.node["children"].get(children) == simdjson::SUCCESS) {
        for (const element value : children) {
          object child;
          if (value.get(child) != simdjson::SUCCESS) continue;
          below += number_of(child["sampleCount"]).value_or(0);
          pending.push_back({child, id});
        }
      }
      ++builder_.meta().file_events;
      if (*count > below) builder_.add_sample({0, track_, id, *count - below, 0});
    }
  }

  // Memory after each line that ran, without a time.
  void read_memory(object part) {
    array events;
    if (part["codeEvents"].get(events) != simdjson::SUCCESS) return lose_part();
    builder_.losses().add("memory_left_out", Severity::Info,
                          "Memory after each line that ran: it has no time, and is not shown.",
                          events.size());
  }

  void lose_part() {
    lose("part_unusable", "Parts of the file without what they are about; they were passed over.");
  }

 private:
  void lose(std::string_view name, std::string_view sentence) {
    builder_.losses().add(name, Severity::Warning, sentence);
  }

  void begin_sums() {
    if (!builder_.call_profile().types.empty()) return;
    builder_.call_profile().types.push_back({builder_.intern("time"), builder_.intern("ns")});
    builder_.call_profile().call_costs_known = false;
  }

  void add_line(FunctionId function, StringId file, std::int32_t line, std::int64_t nanos,
                std::int64_t hits) {
    CallProfile& profile = builder_.call_profile();
    const std::uint32_t row = table_.line(function, file, line);
    profile.lines[row].hits = add_costs(profile.lines[row].hits, hits);
    table_.add(profile.line_self, row, {&nanos, 1});
    ++builder_.meta().file_events;
    // The profiler's functions have this time already.
    if (has_functions_) return;
    table_.add(profile.function_self, function.index(), {&nanos, 1});
    table_.add(profile.function_total, function.index(), {&nanos, 1});
  }

  TraceBuilder& builder_;
  NamePool names_;
  CallProfileBuilder table_;
  TrackId track_;
  bool has_functions_ = false;
};

Error broken(const ImportInput& input, const std::string& reason) {
  return {ErrorCode::BrokenInput, reason, input.path, {}, "copy the file again"};
}

}  // namespace

bool looks_like_vprof(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return false;
  const std::size_t quote = head.find_first_not_of(" \t\r\n", first + 1);
  if (quote == std::string_view::npos) return false;
  const std::string_view key = head.substr(quote, 3);
  const bool part = key == "\"c\"" || key == "\"m\"" || key == "\"h\"" || key == "\"p\"";
  const bool version = head.substr(quote).starts_with("\"version\"");
  return (part || version) && head.find("\"objectName\"") != std::string_view::npos;
}

Result<Trace> import_vprof(const ImportInput& input) {
  const Result<std::string> text = read_whole(input);
  if (!text) return text.error();
  simdjson::dom::parser parser;
  element document;
  const simdjson::error_code failed = parser.parse(text->data(), text->size()).get(document);
  if (failed != simdjson::SUCCESS) {
    return broken(input, std::string("a file of vprof, but no well-formed JSON: ") +
                             simdjson::error_message(failed));
  }
  object root;
  if (document.get(root) != simdjson::SUCCESS) return broken(input, "no file of vprof");
  TraceBuilder builder;
  builder.meta().format = "vprof";
  builder.meta().producer = "vprof";
  builder.meta().version = mend_utf8(text_of(root["version"]));
  builder.meta().input_bytes = text->size();
  VprofReader reader(builder);
  // The profiler first: the lines of the heat map depend on whether there is one.
  for (const std::string_view key : {"p", "h", "c", "m"}) {
    element value;
    object part;
    if (root[key].get(value) != simdjson::SUCCESS) continue;
    if (value.get(part) != simdjson::SUCCESS) {
      reader.lose_part();
    } else if (key == "p") {
      reader.read_profiler(part);
    } else if (key == "h") {
      reader.read_heat_map(part);
    } else if (key == "c") {
      reader.read_flame_graph(part);
    } else {
      reader.read_memory(part);
    }
  }
  builder.losses().merge(input.source.losses());
  if (builder.meta().file_events == 0) {
    builder.losses().add("no_events", Severity::Warning,
                         "The file holds no functions, lines or samples.");
  }
  builder.nest(1);
  return builder.finish();
}

}  // namespace sonde
