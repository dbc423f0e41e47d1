#include "import/collapsed/collapsed.hpp"

#include <optional>
#include <vector>

#include "base/trim.hpp"
#include "import/text/line_reader.hpp"
#include "import/text/numbers.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

// How many lines are looked at before it is decided whether each has two weights.
constexpr std::size_t kLookAhead = 64;

bool is_comment(std::string_view line) { return line.starts_with('#') || line.starts_with("//"); }

// Takes the last word off `text` where it is a number.
std::optional<double> take_weight(std::string_view& text) {
  const std::size_t blank = text.find_last_of(" \t");
  if (blank == std::string_view::npos) return std::nullopt;
  const std::optional<double> weight = parse_real(text.substr(blank + 1));
  const std::string_view rest = trim(text.substr(0, blank));
  if (!weight || rest.empty()) return std::nullopt;
  text = rest;
  return weight;
}

struct StackLine {
  std::string_view frames;
  double weight = 0;
  double second = 0;  // of a comparison of two profiles
};

std::optional<StackLine> parse_line(std::string_view line, bool two_weights) {
  StackLine out;
  out.frames = trim(line);
  std::optional<double> weight = take_weight(out.frames);
  if (!weight) return std::nullopt;
  if (two_weights) {
    out.second = *weight;
    weight = take_weight(out.frames);
    if (!weight) return std::nullopt;
  }
  out.weight = *weight;
  return out;
}

// "elapsed 12.5" and "granularity 0.005" stand at the head of some samplers' answers.
std::optional<double> header_value(std::string_view line, std::string_view name) {
  if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ')
    return std::nullopt;
  return parse_real(trim(line.substr(name.size())));
}

struct Frame {
  std::string_view name;
  std::string_view file;
  std::int32_t line = 0;
};

// py-spy's "name (file.py:12)", "name (file.py)", or a name alone.
Frame parse_frame(std::string_view text) {
  Frame out{text, {}, 0};
  const std::size_t open = text.rfind(" (");
  if (!text.ends_with(')') || open == std::string_view::npos || open == 0) return out;
  std::string_view place = text.substr(open + 2, text.size() - open - 3);
  const std::size_t colon = place.rfind(':');
  const std::optional<std::int64_t> line =
      colon == std::string_view::npos ? std::nullopt : parse_integer(place.substr(colon + 1));
  if (line && *line >= 0 && *line <= INT32_MAX && colon > 0) {
    return {text.substr(0, open), place.substr(0, colon), static_cast<std::int32_t>(*line)};
  }
  const bool file = place.find_first_of("./") != std::string_view::npos &&
                    place.find_first_of(" ,<>") == std::string_view::npos;
  return file ? Frame{text.substr(0, open), place, 0} : out;
}

class CollapsedReader {
 public:
  explicit CollapsedReader(const ImportInput& input) : reader_(input), names_(builder_) {}

  Result<Trace> read() {
    std::vector<std::pair<std::string, std::uint64_t>> ahead;
    std::string_view line;
    while (ahead.size() < kLookAhead) {
      Result<bool> more = reader_.next(line);
      if (!more) return more.error();
      if (!*more) break;
      ahead.emplace_back(line, reader_.offset());
    }
    for (const auto& [text, offset] : ahead) {
      const std::optional<double> seconds = header_value(trim(text), "granularity");
      if (seconds && *seconds > 0) granularity_ = *seconds;
    }
    two_weights_ = granularity_ == 0 && all_have_two_weights(ahead);
    begin();
    for (const auto& [text, offset] : ahead) add_line(text, offset);
    while (true) {
      Result<bool> more = reader_.next(line);
      if (!more) return more.error();
      if (!*more) break;
      add_line(line, reader_.offset());
    }
    return finish();
  }

 private:
  static bool all_have_two_weights(
      const std::vector<std::pair<std::string, std::uint64_t>>& lines) {
    std::size_t stacks = 0;
    for (const auto& [text, offset] : lines) {
      const std::string_view line = trim(text);
      if (line.empty() || is_comment(line)) continue;
      if (!parse_line(line, false)) continue;
      if (!parse_line(line, true)) return false;
      ++stacks;
    }
    return stacks > 0;
  }

  void begin() {
    builder_.meta().format = "collapsed";
    builder_.meta().producer = "Collapsed stacks";
    track_ = builder_.add_track({});
    const StringId count = builder_.intern("count");
    if (two_weights_) {
      builder_.add_sample_type({builder_.intern("before"), count, false});
      builder_.add_sample_type({builder_.intern("after"), count, false});
    } else if (granularity_ > 0) {
      builder_.add_sample_type({builder_.intern("cpu"), builder_.intern("ns"), false});
    } else {
      builder_.add_sample_type({builder_.intern("samples"), count, false});
    }
  }

  StackId stack_of(std::string_view frames) {
    StackId stack;
    while (!frames.empty()) {
      const std::size_t end = frames.find(';');
      const Frame frame = parse_frame(trim(frames.substr(0, end)));
      frames.remove_prefix(end == std::string_view::npos ? frames.size() : end + 1);
      if (frame.name.empty()) continue;
      stack = builder_.intern_stack({stack, names_.intern(frame.name),
                                     frame.file.empty() ? StringId() : names_.intern(frame.file),
                                     frame.line});
    }
    return stack;
  }

  void add_line(std::string_view text, std::uint64_t offset) {
    const std::string_view line = trim(text);
    if (line.empty()) return;
    if (is_comment(line)) return;
    if (builder_.meta().file_events == 0) {
      for (const std::string_view key : {"elapsed", "granularity"}) {
        if (!header_value(line, key)) continue;
        builder_.meta().properties.emplace_back(key, trim(line.substr(key.size())));
        return;
      }
    }
    const std::optional<StackLine> parsed = parse_line(line, two_weights_);
    const StackId stack = parsed ? stack_of(parsed->frames) : StackId();
    if (!parsed || !stack.valid()) {
      builder_.losses().add("line_unusable", Severity::Warning,
                            "Lines that are no stack with a weight behind it; they were passed "
                            "over.",
                            1, offset, line.substr(0, 80));
      return;
    }
    ++builder_.meta().file_events;
    const double weight = granularity_ > 0 ? parsed->weight * granularity_ * 1e9 : parsed->weight;
    builder_.add_sample({0, track_, stack, weight, 0});
    if (two_weights_) builder_.add_sample({0, track_, stack, parsed->second, 1});
  }

  Result<Trace> finish() {
    reader_.finish(builder_);
    if (builder_.meta().file_events == 0) {
      return Error{ErrorCode::BrokenInput,
                   "no line of it is a stack with a weight behind it",
                   {},
                   {},
                   "expected lines such as: main;compute;add 12"};
    }
    builder_.nest(1);
    return builder_.finish();
  }

  LineReader reader_;
  TraceBuilder builder_;
  NamePool names_;
  TrackId track_;
  bool two_weights_ = false;
  double granularity_ = 0;  // seconds a sample stands for; 0 where the file does not tell
};

}  // namespace

bool looks_like_collapsed(std::string_view head) {
  const std::string text = to_utf8(head);
  if (!is_plain_text(text)) return false;
  std::size_t good = 0;
  std::size_t bad = 0;
  std::size_t with_callers = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    // The head may end in the middle of a line.
    if (end == std::string::npos && head.size() >= kHeadBytes && good + bad > 0) break;
    std::string_view line = std::string_view(text).substr(at, end - at);
    at = end == std::string::npos ? text.size() : end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = trim(line);
    if (line.empty() || is_comment(line) || header_value(line, "elapsed") ||
        header_value(line, "granularity")) {
      continue;
    }
    const std::optional<StackLine> parsed = parse_line(line, false);
    if (!parsed) {
      ++bad;
      continue;
    }
    ++good;
    if (parsed->frames.find(';') != std::string_view::npos) ++with_callers;
  }
  return with_callers > 0 && good >= bad;
}

Result<Trace> import_collapsed(const ImportInput& input) { return CollapsedReader(input).read(); }

}  // namespace sonde
