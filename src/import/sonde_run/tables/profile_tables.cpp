#include "import/sonde_run/tables/profile_tables.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/json_writer.hpp"
#include "import/profile/call_profile_builder.hpp"
#include "import/text/numbers.hpp"

namespace sonde {
namespace {

constexpr std::array<std::string_view, 3> kOwnProperties = {"program", "pid", "parent_pid"};

// "12", "-0.5", "1e9"; no "007", no "inf".
bool is_json_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - first;
  };
  const bool zero = at < text.size() && text[at] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

bool is_count(std::uint64_t number) { return number <= static_cast<std::uint64_t>(INT64_MAX); }

class ProfileRows {
 public:
  ProfileRows(TableCodes& codes, const CompanionContext& context)
      : codes_(codes),
        clock_(context.clock),
        builder_(context.builder),
        profile_(context.builder.call_profile()),
        table_(profile_, 1) {}

  void add(const TablesFile& file) {
    if (file.functions.empty() && file.calls.empty() && file.lines.empty() &&
        file.open_calls.empty()) {
      return;
    }
    if (!profile_.types.empty()) {
      builder_.losses().add("sums_twice", Severity::Warning,
                            "A second file with sums beside the same recording; they are left out");
      return;
    }
    profile_.types.push_back({builder_.intern("time"), builder_.intern("ns")});
    for (const tables::FunctionRow& row : file.functions) add_function(row);
    for (const tables::CallRow& row : file.calls) add_call(row);
    add_open_calls(file);
    functions_counted_ = profile_.functions.size();
    for (const tables::LineRow& row : file.lines) add_line(row);
    profile_.self_known = functions_counted_ > 0;
    profile_.line_self_known = file.lines.empty();
    if (bad_numbers_ > 0) {
      builder_.losses().add("impossible_sums", Severity::Warning,
                            "Sums of functions, calls and lines that cannot be; they are left out",
                            bad_numbers_);
    }
  }

 private:
  FunctionId function(std::uint32_t id) {
    const TableCodes::Code* const code = codes_.code(id);
    if (code == nullptr) return FunctionId();
    const FunctionId out = table_.function(code->name, code->file, StringId(), code->line);
    StringId& qualified = profile_.functions[out.index()].qualified_name;
    if (!qualified.valid()) qualified = code->qualified_name;
    return out;
  }

  bool usable(std::uint64_t calls, std::uint64_t recursive, std::uint64_t self_ticks,
              std::uint64_t total_ticks, std::int64_t& self, std::int64_t& total) {
    if (is_count(calls) && recursive <= calls && clock_.to_duration(self_ticks, self) &&
        clock_.to_duration(total_ticks, total)) {
      return true;
    }
    ++bad_numbers_;
    return false;
  }

  void add_function(const tables::FunctionRow& row) {
    std::int64_t self = 0;
    std::int64_t total = 0;
    if (!usable(row.calls, row.recursive_calls, row.self_ticks, row.total_ticks, self, total)) {
      return;
    }
    const FunctionId id = function(row.code);
    if (!id.valid()) return;
    CallProfile::Function& known = profile_.functions[id.index()];
    known.calls = add_costs(known.calls, static_cast<std::int64_t>(row.calls));
    known.primitive_calls = add_costs(known.primitive_calls,
                                      static_cast<std::int64_t>(row.calls - row.recursive_calls));
    table_.add(profile_.function_self, id.index(), {&self, 1});
    table_.add(profile_.function_total, id.index(), {&total, 1});
  }

  // A call from code that is not recorded stands in the sums of its function only.
  void add_call(const tables::CallRow& row) {
    std::int64_t self = 0;
    std::int64_t total = 0;
    if (!usable(row.calls, row.recursive_calls, row.self_ticks, row.total_ticks, self, total)) {
      return;
    }
    const FunctionId callee = function(row.callee);
    if (row.caller == 0 || !callee.valid()) return;
    const FunctionId caller = function(row.caller);
    if (!caller.valid()) return;
    const std::uint32_t at = table_.call(caller, callee, 0);
    CallProfile::Call& known = profile_.calls[at];
    known.calls = add_costs(known.calls, static_cast<std::int64_t>(row.calls));
    known.primitive_calls = add_costs(known.primitive_calls,
                                      static_cast<std::int64_t>(row.calls - row.recursive_calls));
    table_.add(profile_.call_self, at, {&self, 1});
    table_.add(profile_.call_total, at, {&total, 1});
  }

  // What a killed program was doing: its calls went on up to the last moment that is known.
  void add_open_calls(const TablesFile& file) {
    std::map<std::uint32_t, std::vector<const tables::OpenCallRow*>> threads;
    std::uint64_t end = clock_.latest_ticks();
    std::uint64_t count = 0;
    for (const tables::OpenCallRow& row : file.open_calls) {
      if (row.start_ticks == 0) continue;
      std::int64_t inner = 0;
      Nanos start = 0;
      if (!clock_.to_nanos(row.start_ticks, start) || !clock_.to_duration(row.inner_ticks, inner)) {
        ++bad_numbers_;
        continue;
      }
      end = std::max(end, row.start_ticks + row.inner_ticks);
      threads[row.thread].push_back(&row);
      ++count;
    }
    for (const auto& [thread, rows] : threads) {
      std::map<std::uint32_t, int> open;
      std::map<std::pair<std::uint32_t, std::uint32_t>, int> open_calls;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const tables::OpenCallRow& row = *rows[i];
        const std::uint64_t total = end - row.start_ticks;
        std::uint64_t inside = row.inner_ticks;
        if (i + 1 < rows.size() && rows[i + 1]->start_ticks >= row.start_ticks) {
          inside += end - rows[i + 1]->start_ticks;
        }
        const std::uint64_t self = total > inside ? total - inside : 0;
        const bool recursive = open[row.callee]++ > 0;
        add_function({row.callee, thread, 1, recursive ? 1u : 0u, self, recursive ? 0 : total});
        if (row.caller == 0) continue;
        const bool again = open_calls[{row.caller, row.callee}]++ > 0;
        add_call({row.caller, row.callee, thread, 0, 1, again ? 1u : 0u, self, again ? 0 : total});
      }
    }
    if (count > 0) {
      builder_.losses().add("open_calls", Severity::Info,
                            "Calls that had not returned when the program ended; their time is "
                            "counted up to the last moment that is known",
                            count);
    }
  }

  void add_line(const tables::LineRow& row) {
    std::int64_t time = 0;
    if (!is_count(row.hits) || !clock_.to_duration(row.ticks, time)) {
      ++bad_numbers_;
      return;
    }
    const FunctionId id = function(row.code);
    if (!id.valid()) return;
    const std::uint32_t at =
        table_.line(id, profile_.functions[id.index()].file, std::max(row.line, 0));
    CallProfile::Line& known = profile_.lines[at];
    known.hits = add_costs(known.hits, static_cast<std::int64_t>(row.hits));
    table_.add(profile_.line_self, at, {&time, 1});
    // Where calls were not recorded, a function costs what its lines cost.
    if (id.index() < functions_counted_) return;
    table_.add(profile_.function_total, id.index(), {&time, 1});
    if (functions_counted_ == 0) table_.add(profile_.function_self, id.index(), {&time, 1});
  }

  TableCodes& codes_;
  const TickClock& clock_;
  TraceBuilder& builder_;
  CallProfile& profile_;
  CallProfileBuilder table_;
  std::size_t functions_counted_ = 0;
  std::uint64_t bad_numbers_ = 0;
};

class SampleRows {
 public:
  SampleRows(TableCodes& codes, const CompanionContext& context)
      : codes_(codes), context_(context), builder_(context.builder) {}

  void add(const TablesFile& file) {
    if (file.samples.empty()) return;
    struct Timed {
      Nanos time;
      const tables::SampleRow* row;
    };
    std::vector<Timed> rows;
    rows.reserve(file.samples.size());
    std::uint32_t flags = 0;
    std::uint64_t bad = 0;
    std::uint64_t uncertain = 0;
    for (const tables::SampleRow& row : file.samples) {
      Nanos time = 0;
      if (!context_.clock.to_nanos(row.time, time) || row.wall_ns > kMost || row.cpu_ns > kMost) {
        ++bad;
        continue;
      }
      rows.push_back({time, &row});
      flags |= row.flags;
      if (row.flags & tables::kUncertain) ++uncertain;
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Timed& a, const Timed& b) { return a.time < b.time; });
    const StringId unit = builder_.intern("ns");
    const auto type = [&](std::string_view name) {
      return builder_.add_sample_type({builder_.intern(name), unit, true});
    };
    const std::uint32_t wall = type("wall");
    const std::uint32_t cpu = type("cpu");
    const std::uint32_t lock = flags & tables::kHoldsLock ? type("gil") : 0;
    const std::uint32_t idle = flags & tables::kWaiting ? type("idle") : 0;
    for (const Timed& timed : rows) {
      const tables::SampleRow& row = *timed.row;
      Sample sample;
      sample.time = timed.time;
      sample.track = context_.tracks.thread(row.thread);
      sample.stack = row.frame == 0 ? outside() : codes_.stack(row.frame);
      if (!sample.stack.valid()) sample.stack = outside();
      const auto put = [&](std::uint32_t kind, std::uint64_t weight) {
        sample.type = kind;
        sample.weight = static_cast<double>(weight);
        builder_.add_sample(sample);
      };
      put(wall, row.wall_ns);
      if (row.cpu_ns > 0) put(cpu, row.cpu_ns);
      if (row.flags & tables::kHoldsLock) put(lock, row.wall_ns);
      if (row.flags & tables::kWaiting) put(idle, row.wall_ns);
    }
    if (bad > 0) {
      builder_.losses().add("impossible_samples", Severity::Warning,
                            "Samples whose time or weight cannot be; they are left out", bad);
    }
    if (uncertain > 0) {
      builder_.losses().add("uncertain_samples", Severity::Info,
                            "Samples that were read while the thread ran on: their lines may be "
                            "one off",
                            uncertain);
    }
  }

 private:
  static constexpr auto kMost = static_cast<std::uint64_t>(kMaxDuration);

  StackId outside() {
    StackFrame frame;
    frame.function = builder_.intern("(no Python frame)");
    return builder_.intern_stack(frame);
  }

  TableCodes& codes_;
  const CompanionContext& context_;
  TraceBuilder& builder_;
};

}  // namespace

void add_properties(const TablesFile& file, TableCodes& codes, const CompanionContext& context) {
  auto& properties = context.builder.meta().properties;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < properties.size(); ++i) known.emplace(properties[i].first, i);
  for (const tables::PropertyRow& row : file.properties) {
    const std::string key(context.builder.text(codes.text(row.key)));
    const StringId value = codes.text(row.value);
    if (key.empty() || !value.valid()) continue;
    if (std::find(kOwnProperties.begin(), kOwnProperties.end(), key) != kOwnProperties.end()) {
      continue;  // the recording itself tells them
    }
    std::string text(context.builder.text(value));
    if (!is_json_number(text)) {
      const std::string plain = std::move(text);
      text.clear();
      append_json_string(text, plain);
    }
    const auto [at, added] = known.try_emplace(key, properties.size());
    if (added)
      properties.emplace_back(key, std::move(text));
    else
      properties[at->second].second = std::move(text);
  }
  for (const tables::ThreadRow& row : file.threads) {
    const StringId name = codes.text(row.name);
    if (name.valid()) context.builder.track(context.tracks.thread(row.thread)).name = name;
  }
}

void add_call_profile(const TablesFile& file, TableCodes& codes, const CompanionContext& context) {
  ProfileRows(codes, context).add(file);
}

void add_samples(const TablesFile& file, TableCodes& codes, const CompanionContext& context) {
  SampleRows(codes, context).add(file);
}

}  // namespace sonde
