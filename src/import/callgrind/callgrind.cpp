#include "import/callgrind/callgrind.hpp"

#include <algorithm>
#include <optional>

#include "base/json_writer.hpp"
#include "base/trim.hpp"
#include "import/callgrind/callgrind_lines.hpp"
#include "import/profile/call_profile_builder.hpp"
#include "import/text/line_reader.hpp"
#include "import/text/numbers.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

constexpr std::size_t kMaxEvents = 64;

// An event that counts time becomes nanoseconds.
struct EventUnit {
  std::string_view unit = "count";
  std::int64_t factor = 1;
};

EventUnit unit_of(std::string_view name, std::string_view creator) {
  if (name == "ns" || name == "Nanoseconds") return {"ns", 1};
  if (name == "microseconds" || name == "us" || name == "usec") return {"ns", 1000};
  if (name == "ms" || name == "msec") return {"ns", 1'000'000};
  if (name == "Ticks" && creator.starts_with("yappi")) return {"ns", 1000};
  if (name == "bytes" || name == "Bytes") return {"bytes", 1};
  return {};
}

class CallgrindReader {
 public:
  explicit CallgrindReader(const ImportInput& input)
      : reader_(input), names_(builder_), input_(input) {
    builder_.meta().format = "callgrind";
    builder_.meta().producer = "Callgrind";
  }

  Result<Trace> read() {
    std::string_view line;
    while (true) {
      Result<bool> more = reader_.next(line);
      if (!more) return more.error();
      if (!*more) break;
      line = trim(line);
      if (line.empty() || line[0] == '#') continue;
      const bool used = line[0] <= '9' ? add_costs_line(line) : add_keyword(line);
      if (!used) {
        builder_.losses().add("line_unusable", Severity::Warning,
                              "Lines that are neither costs nor a keyword of the format; they "
                              "were passed over.",
                              1, reader_.offset(), line.substr(0, 80));
      }
    }
    reader_.finish(builder_);
    if (!table_) {
      return Error{ErrorCode::BrokenInput,
                   "a profile of Callgrind without a line that names its events",
                   input_.path,
                   {},
                   "the file was cut; copy it again"};
    }
    if (builder_.call_profile().functions.empty()) {
      builder_.losses().add("no_events", Severity::Warning, "The profile holds no functions.");
    }
    table_->sum_totals();
    builder_.nest(1);
    return builder_.finish();
  }

 private:
  struct Place {
    StringId object;
    StringId file;
  };

  // ---- Header

  bool add_header(std::string_view key, std::string_view value) {
    if (key == "events") return begin_events(value);
    if (key == "positions") {
      begin_part();
      costs_.set_positions(value);
      return true;
    }
    if (key == "pid" || key == "thread" || key == "part") {
      begin_part();
      return true;
    }
    if (key == "version" || key == "event") return true;
    if (key == "creator" || key == "cmd" || key == "desc") {
      if (key == "creator") builder_.meta().version = mend_utf8(value);
      constexpr std::size_t kMaxProperties = 100;
      if (builder_.meta().properties.size() < kMaxProperties) {
        std::string quoted;
        append_json_string(quoted, mend_utf8(value.substr(0, 4096)));
        builder_.meta().properties.emplace_back(std::string(key), std::move(quoted));
      }
      return true;
    }
    if (key == "summary" || key == "totals") {
      if (key == "totals" || !checked_) check_sum(value);
      return true;
    }
    return false;
  }

  // The threads and dumps of one file follow each other; names are numbered anew in each.
  void begin_part() {
    if (!part_has_events_) return;
    part_has_events_ = false;
    objects_.clear();
    files_.clear();
    functions_.clear();
    costs_.reset();
    function_ = {};
    place_ = {};
    callee_place_ = {};
  }

  bool begin_events(std::string_view value) {
    begin_part();
    part_has_events_ = true;
    columns_.clear();
    std::vector<std::string_view> words;
    for (std::string_view word = next_word(value); !word.empty(); word = next_word(value)) {
      words.push_back(word);
    }
    if (words.empty() || words.size() > kMaxEvents) return false;
    CallProfile& profile = builder_.call_profile();
    // pprofile counts how often each line ran, which is no cost, and has an average, which cannot
    // be added up.
    const bool pprofile = std::find(words.begin(), words.end(), "usphit") != words.end();
    hits_column_ = SIZE_MAX;
    for (const std::string_view word : words) {
      const bool derived = pprofile && (word == "usphit" || word == "hits");
      if (pprofile && word == "hits") hits_column_ = columns_.size();
      const EventUnit unit = unit_of(word, builder_.meta().version);
      const StringId name = names_.intern(word == "ns" || word == "microseconds" ? "time" : word);
      auto at = std::find_if(profile.types.begin(), profile.types.end(),
                             [&](const CostType& type) { return type.name == name; });
      if (at == profile.types.end() && !derived) {
        if (table_) {
          builder_.losses().add("event_left_out", Severity::Warning,
                                "Events that the first part of the profile does not have.");
          columns_.push_back({SIZE_MAX, 1});
          continue;
        }
        profile.types.push_back({name, builder_.intern(unit.unit)});
        at = profile.types.end() - 1;
      }
      columns_.push_back(
          {derived ? SIZE_MAX : static_cast<std::size_t>(at - profile.types.begin()), unit.factor});
    }
    if (!table_) table_.emplace(profile, profile.types.size());
    return true;
  }

  // The file's own sum of each event, to compare with.
  void check_sum(std::string_view value) {
    checked_ = true;
    std::vector<std::int64_t> sums;
    for (std::string_view word = next_word(value); !word.empty() && sums.size() < kMaxEvents;
         word = next_word(value)) {
      sums.push_back(parse_cost_number(word).value_or(0));
    }
    const std::vector<std::int64_t> costs = sorted_costs(sums);
    if (costs.empty()) return;
    std::string text;
    for (const std::int64_t cost : costs) text += (text.empty() ? "" : " ") + std::to_string(cost);
    builder_.meta().properties.emplace_back("totals", "\"" + text + "\"");
  }

  // ---- Functions

  StringId resolve(NameTable& table, std::string_view text) {
    std::string name;
    switch (table.resolve(trim(text), name)) {
      case NameTable::Found::Unknown:
        builder_.losses().add("name_missing", Severity::Warning,
                              "Numbers of names that the file does not define.", 1,
                              reader_.offset());
        return builder_.intern("???");
      case NameTable::Found::Changed:
        builder_.losses().add("name_changed", Severity::Warning,
                              "Numbers that stand for two different names.", 1, reader_.offset());
        break;
      case NameTable::Found::Name:
        break;
    }
    return names_.intern(name);
  }

  bool add_keyword(std::string_view line) {
    const std::size_t end = line.find_first_of("=:");
    if (end == line.npos) return false;
    const std::string_view key = line.substr(0, end);
    const std::string_view value = trim(line.substr(end + 1));
    if (line[end] == ':') return add_header(key, value);
    if (key == "ob") {
      place_.object = resolve(objects_, value);
    } else if (key == "fl") {
      place_.file = line_file_ = resolve(files_, value);
    } else if (key == "fi" || key == "fe") {
      line_file_ = resolve(files_, value);
    } else if (key == "fn") {
      if (!table_) return false;
      line_file_ = place_.file;
      function_ = table_->function(resolve(functions_, value), place_.file, place_.object, 0);
    } else if (key == "cob") {
      callee_place_.object = resolve(objects_, value);
    } else if (key == "cfl" || key == "cfi") {
      callee_place_.file = resolve(files_, value);
    } else if (key == "cfn") {
      callee_name_ = resolve(functions_, value);
    } else if (key == "calls" || key == "rcalls") {
      return begin_call(value);
    } else if (key == "jfi" || key == "jfl") {
      resolve(files_, value);
    } else if (key == "jfn") {
      resolve(functions_, value);
    } else if (key == "jump" || key == "jcnd") {
      builder_.losses().add("jumps_left_out", Severity::Info, "Jumps; they are not shown.");
      after_jump_ = true;
    } else {
      return false;
    }
    return true;
  }

  bool begin_call(std::string_view value) {
    const std::optional<std::int64_t> count = parse_cost_number(next_word(value));
    if (!count || !table_ || !callee_name_.valid()) return false;
    callee_ =
        table_->function(callee_name_, callee_place_.file.valid() ? callee_place_.file : line_file_,
                         callee_place_.object.valid() ? callee_place_.object : place_.object, 0);
    // The place of the callee, relative to the position before: it is the first line that it has.
    const std::string_view target = next_word(value);
    const std::optional<std::int64_t> line =
        costs_.positions() == 1 ? parse_cost_number(target) : std::nullopt;
    CallProfile::Function& row = builder_.call_profile().functions[callee_.index()];
    if (line && row.line == 0) row.line = to_line(*line);
    calls_ = *count;
    callee_place_ = {};
    callee_name_ = {};
    return true;
  }

  static std::int32_t to_line(std::int64_t line) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(line, 0, INT32_MAX));
  }

  // The columns of the file in the order of the profile's types.
  std::vector<std::int64_t> sorted_costs(const std::vector<std::int64_t>& costs) const {
    std::vector<std::int64_t> out(table_ ? table_->types() : 0);
    for (std::size_t i = 0; i < columns_.size() && i < costs.size(); ++i) {
      if (columns_[i].type >= out.size()) continue;
      std::int64_t scaled = 0;
      if (__builtin_mul_overflow(costs[i], columns_[i].factor, &scaled)) scaled = INT64_MAX;
      out[columns_[i].type] = scaled;
    }
    return out;
  }

  bool add_costs_line(std::string_view line) {
    if (after_jump_) {
      after_jump_ = false;
      CostLine ignored;
      return costs_.parse(line, columns_.size(), ignored);
    }
    if (!table_ || !function_.valid()) return false;
    CostLine parsed;
    if (!costs_.parse(line, columns_.size(), parsed)) {
      callee_ = {};
      return false;
    }
    const std::vector<std::int64_t> costs = sorted_costs(parsed.costs);
    CallProfile& profile = builder_.call_profile();
    const std::int32_t number = to_line(parsed.line);
    ++builder_.meta().file_events;
    if (callee_.valid()) {
      const std::uint32_t row = table_->call(function_, callee_, number);
      profile.calls[row].calls = add_costs(profile.calls[row].calls, calls_);
      if (function_ != callee_) {
        profile.calls[row].primitive_calls = add_costs(profile.calls[row].primitive_calls, calls_);
      }
      CallProfile::Function& callee = profile.functions[callee_.index()];
      callee.calls = add_costs(callee.calls, calls_);
      if (function_ != callee_) callee.primitive_calls = add_costs(callee.primitive_calls, calls_);
      table_->add(profile.call_total, row, costs);
      callee_ = {};
      return true;
    }
    const StringId file = line_file_;
    const std::uint32_t row = table_->line(function_, file, number);
    CallProfile::Function& function = profile.functions[function_.index()];
    if (function.line == 0 && file == place_.file) function.line = number;
    table_->add(profile.line_self, row, costs);
    table_->add(profile.function_self, function_.index(), costs);
    if (hits_column_ < parsed.costs.size()) {
      profile.lines[row].hits = add_costs(profile.lines[row].hits, parsed.costs[hits_column_]);
    }
    return true;
  }

  struct ColumnOf {
    std::size_t type;  // SIZE_MAX: left out
    std::int64_t factor;
  };

  LineReader reader_;
  TraceBuilder builder_;
  NamePool names_;
  const ImportInput& input_;
  std::optional<CallProfileBuilder> table_;
  std::vector<ColumnOf> columns_;
  std::size_t hits_column_ = SIZE_MAX;
  CostParser costs_;
  NameTable objects_;
  NameTable files_;
  NameTable functions_;
  Place place_;
  Place callee_place_;
  StringId line_file_;
  StringId callee_name_;
  FunctionId function_;
  FunctionId callee_;  // valid between "calls=" and the line of its costs
  std::int64_t calls_ = 0;
  bool part_has_events_ = false;
  bool after_jump_ = false;
  bool checked_ = false;
};

}  // namespace

bool looks_like_callgrind(std::string_view head) {
  if (head.starts_with("# callgrind format")) return true;
  const std::string_view start = head.substr(0, 2047);
  if (!is_plain_text(start)) return false;
  // "events:" and a header word before it, or a function behind it.
  bool events = false;
  bool other = false;
  for (std::size_t at = 0; at < start.size();) {
    const std::size_t end = std::min(start.find('\n', at), start.size());
    const std::string_view line = start.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("events:")) events = true;
    for (const std::string_view word : {"event:", "creator:", "version:", "positions:", "cmd:",
                                        "pid:", "fn=", "fl=", "ob=", "part:", "summary:"}) {
      other = other || line.starts_with(word);
    }
  }
  return events && other;
}

Result<Trace> import_callgrind(const ImportInput& input) { return CallgrindReader(input).read(); }

}  // namespace sonde
