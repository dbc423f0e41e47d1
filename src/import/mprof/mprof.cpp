#include "import/mprof/mprof.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "base/json_writer.hpp"
#include "import/text/line_reader.hpp"
#include "import/text/numbers.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

bool is_record(std::string_view line) {
  return line.starts_with("CMDLINE ") || line.starts_with("MEM ") || line.starts_with("FUNC ") ||
         line.starts_with("CHLD ");
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (out.size() < 16) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.empty()) break;
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

class MprofReader {
 public:
  explicit MprofReader(const ImportInput& input) : reader_(input), names_(builder_) {
    builder_.meta().format = "mprof";
    builder_.meta().producer = "memory_profiler (mprof)";
    builder_.meta().profile_memory = true;
    builder_.meta().wall_clock = true;
    counter_ = builder_.intern("memory");
    resident_ = builder_.intern("resident");
  }

  Result<Trace> read() {
    std::string_view line;
    while (true) {
      Result<bool> more = reader_.next(line);
      if (!more) return more.error();
      if (!*more) break;
      if (words_of(line).empty()) continue;
      if (!add_record(line)) {
        builder_.losses().add("line_unusable", Severity::Warning,
                              "Lines that are no record of memory or of a function; they were "
                              "passed over.",
                              1, reader_.offset(), line.substr(0, 80));
      }
    }
    add_functions();
    reader_.finish(builder_);
    if (builder_.counters().empty()) {
      builder_.losses().add("no_events", Severity::Warning,
                            "No memory was measured: the program ended before the first sample.");
    }
    builder_.nest(1);
    return builder_.finish();
  }

 private:
  struct Run {
    TrackId memory;
    TrackId functions;
  };

  struct FunctionRange {
    Nanos start;
    Nanos end;
    std::int64_t level;
    std::size_t order;
    TrackId track;
    StringId name;
    double memory_before;
    double memory_after;
  };

  // Every command line begins a run of its own. Functions may stand before it: the profiled process
  // writes them, mprof itself the rest.
  void begin_run(std::string_view command) {
    const StringId name = names_.intern(command);
    if (runs_ > 0 && !has_command_ && !run_.memory.valid()) {
      if (run_.functions.valid()) builder_.track(run_.functions).process = name;
    } else {
      ++runs_;
      run_ = {};
    }
    command_ = name;
    has_command_ = !command.empty();
  }

  TrackId track_of(TrackId& track, TrackType type, StringId name) {
    if (track.valid()) return track;
    Track row;
    row.type = type;
    row.pid = runs_;
    row.process = command_;
    row.name = name;
    return track = builder_.add_track(row);
  }

  bool add_record(std::string_view line) {
    if (line.starts_with("CMDLINE ")) {
      const std::string_view command = line.substr(8);
      begin_run(command);
      std::string quoted;
      append_json_string(quoted, mend_utf8(command.substr(0, 4096)));
      if (builder_.meta().properties.size() < 100) {
        builder_.meta().properties.emplace_back("command", std::move(quoted));
      }
      return true;
    }
    const std::vector<std::string_view> words = words_of(line);
    if (runs_ == 0) begin_run({});
    if (words[0] == "MEM") return words.size() >= 3 && add_memory(words[1], words[2], resident_);
    if (words[0] == "CHLD") {
      if (words.size() < 4) return false;
      return add_memory(words[2], words[3], names_.intern("child " + std::string(words[1])));
    }
    return words[0] == "FUNC" && add_function(words);
  }

  bool add_memory(std::string_view mebibytes, std::string_view seconds, StringId series) {
    const std::optional<double> memory = parse_real(mebibytes);
    const std::optional<Nanos> time = parse_seconds(seconds);
    if (!memory || !time) return false;
    builder_.add_counter({*time, track_of(run_.memory, TrackType::Counter, counter_), counter_,
                          series, *memory * kMebibyte});
    ++builder_.meta().file_events;
    return true;
  }

  // FUNC name memory time memory time [level]
  bool add_function(const std::vector<std::string_view>& words) {
    if (words.size() < 6) return false;
    const std::optional<double> before = parse_real(words[2]);
    const std::optional<Nanos> start = parse_seconds(words[3]);
    const std::optional<double> after = parse_real(words[4]);
    const std::optional<Nanos> end = parse_seconds(words[5]);
    if (!before || !start || !after || !end || *end < *start || *end - *start > kMaxDuration) {
      return false;
    }
    const std::int64_t level = words.size() > 6 ? parse_integer(words[6]).value_or(0) : 0;
    functions_.push_back({*start, *end, level, functions_.size(),
                          track_of(run_.functions, TrackType::Thread, builder_.intern("functions")),
                          names_.intern(words[1]), *before * kMebibyte, *after * kMebibyte});
    ++builder_.meta().file_events;
    return true;
  }

  // The file has the inner functions first; slices of equal times nest by their order.
  void add_functions() {
    std::sort(functions_.begin(), functions_.end(),
              [](const FunctionRange& a, const FunctionRange& b) {
                return std::tie(a.start, b.end, a.level, b.order) <
                       std::tie(b.start, a.end, b.level, a.order);
              });
    const StringId category = builder_.intern("function");
    const StringId before = builder_.intern("memory_before_bytes");
    const StringId after = builder_.intern("memory_after_bytes");
    for (const FunctionRange& range : functions_) {
      const SliceId slice = builder_.add_slice(range.start, range.end - range.start, range.track,
                                               range.name, SliceKind::Other);
      builder_.add_category(slice, category);
      builder_.add_argument(SliceArg(slice, before, range.memory_before));
      builder_.add_argument(SliceArg(slice, after, range.memory_after));
    }
  }

  LineReader reader_;
  TraceBuilder builder_;
  NamePool names_;
  StringId counter_;
  StringId resident_;
  StringId command_;
  Run run_;
  std::int64_t runs_ = 0;
  bool has_command_ = false;
  std::vector<FunctionRange> functions_;
};

}  // namespace

bool looks_like_mprof(std::string_view head) {
  const std::string_view first = head.substr(0, head.find('\n'));
  if (!is_record(first) || !is_plain_text(head.substr(0, 4096))) return false;
  if (!first.starts_with("CMDLINE ")) {
    // The words alone may begin any text: numbers follow them.
    const std::vector<std::string_view> words = words_of(first);
    const std::size_t time = first.starts_with("MEM ") ? 2 : 3;
    return words.size() > time && parse_seconds(words[time]).has_value();
  }
  const std::size_t next = head.find('\n');
  return next == head.npos || next + 1 >= head.size() || is_record(head.substr(next + 1));
}

Result<Trace> import_mprof(const ImportInput& input) { return MprofReader(input).read(); }

}  // namespace sonde
