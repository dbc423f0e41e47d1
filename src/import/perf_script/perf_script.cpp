#include "import/perf_script/perf_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/json_writer.hpp"
#include "import/perf_script/perf_lines.hpp"
#include "import/text/line_reader.hpp"
#include "import/text/numbers.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

// Deeper stacks than the kernel hands out are damage.
constexpr std::size_t kMaxFrames = 65'536;
constexpr std::size_t kMaxHeaderLines = 200;
constexpr std::size_t kMaxHeaderText = 4096;

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

// The period of the kernel's clocks is nanoseconds.
bool counts_time(std::string_view event) {
  return event.starts_with("cpu-clock") || event.starts_with("task-clock");
}

struct Frame {
  StringId function;
  StringId file;
  std::int32_t line = 0;
};

class PerfScriptReader {
 public:
  explicit PerfScriptReader(const ImportInput& input) : reader_(input), names_(builder_) {}

  Result<Trace> read() {
    builder_.meta().format = "perf_script";
    builder_.meta().producer = "Linux perf";
    std::string_view line;
    while (true) {
      Result<bool> more = reader_.next(line);
      if (!more) return more.error();
      if (!*more) break;
      add_line(line);
    }
    end_sample();
    reader_.finish(builder_);
    if (builder_.meta().file_events == 0) {
      return Error{ErrorCode::BrokenInput,
                   "looks like the output of perf script, but holds no sample",
                   {},
                   {},
                   "record with: perf record -g"};
    }
    builder_.nest(1);
    return builder_.finish();
  }

 private:
  void add_line(std::string_view line) {
    if (is_blank(line)) {
      end_sample();
    } else if (line[0] == '#') {
      add_comment(line);
    } else if (open_ && (line[0] == '\t' || line[0] == ' ')) {
      add_frame(line);
    } else if (const std::optional<PerfHeader> header = parse_perf_header(line)) {
      end_sample();
      begin_sample(*header);
    } else {
      unusable(line);
    }
  }

  void unusable(std::string_view line) {
    builder_.losses().add("line_unusable", Severity::Warning,
                          "Lines that are neither a sample nor a frame of one; they were passed "
                          "over.",
                          1, reader_.offset(), line.substr(0, 80));
  }

  // "# perf version : 4.15.18". What has no value (rules, hints about perf's options) says nothing
  // about the samples.
  void add_comment(std::string_view line) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("# ") || colon == line.npos || colon < 3) return;
    std::string_view key = line.substr(2, colon - 2);
    if (key.ends_with(' ')) key.remove_suffix(1);
    const std::string_view value = line.substr(colon + 2);
    if (key == "perf version") {
      builder_.meta().version = "perf " + mend_utf8(value.substr(0, kMaxHeaderText));
      return;
    }
    auto& properties = builder_.meta().properties;
    if (properties.size() >= kMaxHeaderLines || key.size() > kMaxHeaderText ||
        value.size() > kMaxHeaderText) {
      builder_.losses().add("header_lines", Severity::Info,
                            "Lines of the header beyond the first 200, or of more than 4096 bytes; "
                            "they are left out.",
                            1, reader_.offset(), line.substr(0, 80));
      return;
    }
    std::string text;
    append_json_string(text, mend_utf8(value));
    // Each event has a line of the same name.
    const std::string name = mend_utf8(key);
    const auto times =
        std::count_if(properties.begin(), properties.end(), [&](const auto& property) {
          return property.first == name || property.first.starts_with(name + " (");
        });
    properties.emplace_back(times == 0 ? name : fmt::format("{} ({})", name, times + 1),
                            std::move(text));
  }

  void begin_sample(const PerfHeader& header) {
    if (header.event.starts_with("PERF_RECORD_")) {
      builder_.losses().add("record_without_sample", Severity::Info,
                            "Records of processes and mapped files among the samples; they were "
                            "passed over.");
      return;
    }
    open_ = true;
    track_ = track_of(header);
    time_ = header.time.value_or(0);
    weight_ = header.period ? static_cast<double>(*header.period) : 1;
    type_ = type_of(header);
    if (!header.rest.empty()) {
      if (const std::optional<PerfFrame> frame = parse_perf_frame(header.rest)) push(*frame);
    }
  }

  TrackId track_of(const PerfHeader& header) {
    const StringId name = names_.intern(header.command);
    const auto [at, inserted] = tracks_.try_emplace({header.pid, header.tid, name});
    if (inserted) {
      Track track;
      track.pid = header.pid;
      track.tid = header.tid;
      track.name = name;
      track.process = name;
      at->second = builder_.add_track(track);
    }
    return at->second;
  }

  std::uint32_t type_of(const PerfHeader& header) {
    const std::string_view event = header.event.empty() ? "samples" : header.event;
    const StringId name = names_.intern(event);
    const bool period = header.period.has_value();
    const auto [at, inserted] = types_.try_emplace({name, period});
    if (inserted) {
      if (types_.size() > kMaxTypes) {
        types_.erase(at);
        builder_.losses().add("too_many_events", Severity::Warning,
                              "Samples of more than 64 different events; the last are counted with "
                              "the first.");
        return 0;
      }
      const std::string_view unit = period && counts_time(event) ? "ns" : "count";
      at->second = builder_.add_sample_type({name, builder_.intern(unit), header.time.has_value()});
    }
    return at->second;
  }

  void push(const PerfFrame& frame) {
    frames_.push_back({names_.intern(frame.symbol),
                       frame.object.empty() ? StringId() : names_.intern(frame.object), 0});
  }

  void add_frame(std::string_view line) {
    if (frames_.size() >= kMaxFrames) return unusable(line);
    if (const std::optional<PerfFrame> frame = parse_perf_frame(line)) return push(*frame);
    // With "-F +srcline" the place in the source follows its frame.
    const std::size_t first = line.find_first_not_of(" \t");
    const std::string_view place = line.substr(first);
    const std::size_t colon = place.rfind(':');
    const std::optional<std::int64_t> number =
        colon == place.npos ? std::nullopt : parse_integer(place.substr(colon + 1));
    if (frames_.empty() || !number || *number < 0 || *number > INT32_MAX) return unusable(line);
    frames_.back().file = names_.intern(place.substr(0, colon));
    frames_.back().line = static_cast<std::int32_t>(*number);
  }

  void end_sample() {
    if (!open_) return;
    open_ = false;
    StackId stack;
    for (std::size_t i = frames_.size(); i-- > 0;) {
      stack = builder_.intern_stack({stack, frames_[i].function, frames_[i].file, frames_[i].line});
    }
    if (frames_.empty()) {
      builder_.losses().add("sample_without_stack", Severity::Info,
                            "Samples without a call stack; they are counted, but belong to no "
                            "function.");
    }
    frames_.clear();
    builder_.add_sample({time_, track_, stack, weight_, type_});
    ++builder_.meta().file_events;
  }

  static constexpr std::size_t kMaxTypes = 64;

  LineReader reader_;
  TraceBuilder builder_;
  NamePool names_;
  std::map<std::tuple<std::int64_t, std::int64_t, StringId>, TrackId> tracks_;
  std::map<std::pair<StringId, bool>, std::uint32_t> types_;
  std::vector<Frame> frames_;  // of the sample that is read, the leaf first
  TrackId track_;
  Nanos time_ = 0;
  double weight_ = 1;
  std::uint32_t type_ = 0;
  bool open_ = false;
};

}  // namespace

bool looks_like_perf_script(std::string_view head) {
  const std::string text = to_utf8(head.substr(0, 32 * 1024));
  if (!is_plain_text(text)) return false;
  // A sample tells its time, or a frame follows it.
  bool header_before = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (header_before) {
      return line.starts_with('\t') && parse_perf_frame(line).has_value();
    }
    if (is_blank(line) || line[0] == '#') continue;
    const std::optional<PerfHeader> header = parse_perf_header(line);
    if (!header) return false;
    if (header->time) return true;
    header_before = true;
  }
  return false;
}

Result<Trace> import_perf_script(const ImportInput& input) {
  return PerfScriptReader(input).read();
}

}  // namespace sonde
