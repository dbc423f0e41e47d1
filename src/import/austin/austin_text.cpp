#include <optional>

#include "import/austin/austin.hpp"
#include "import/austin/austin_samples.hpp"
#include "import/text/line_reader.hpp"
#include "import/text/numbers.hpp"

namespace sonde {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "P4711;T0:7f12;": the process, and the thread with the number of its interpreter before it (from
// Austin 3.5 on).
struct Origin {
  std::int64_t pid = 0;
  std::int64_t interpreter = -1;
  std::string_view thread;
  std::string_view frames;
};

std::optional<Origin> parse_origin(std::string_view stack) {
  if (!stack.starts_with('P')) return std::nullopt;
  const std::size_t process = stack.find(';');
  const std::optional<std::int64_t> pid =
      parse_integer(stack.substr(1, process == stack.npos ? process : process - 1));
  if (!pid || process == stack.npos || !stack.substr(process + 1).starts_with('T')) {
    return std::nullopt;
  }
  Origin out;
  out.pid = *pid;
  out.frames = stack.substr(process + 2);
  const std::size_t end = std::min(out.frames.find(';'), out.frames.size());
  out.thread = out.frames.substr(0, end);
  out.frames.remove_prefix(std::min(end + 1, out.frames.size()));
  const std::size_t colon = out.thread.find(':');
  if (colon != out.thread.npos) {
    out.interpreter = parse_integer(out.thread.substr(0, colon)).value_or(-1);
    out.thread = out.thread.substr(colon + 1);
  }
  return out;
}

class AustinReader {
 public:
  explicit AustinReader(const ImportInput& input) : reader_(input), samples_(builder_) {
    builder_.meta().format = "austin";
    builder_.meta().producer = "Austin";
  }

  Result<Trace> read() {
    std::string_view line;
    while (true) {
      Result<bool> more = reader_.next(line);
      if (!more) return more.error();
      if (!*more) break;
      if (line.empty()) continue;
      if (line.starts_with("# ")) {
        const std::size_t colon = line.find(": ");
        if (colon != line.npos)
          samples_.add_metadata(line.substr(2, colon - 2), line.substr(colon + 2));
      } else if (!add_sample(line)) {
        builder_.losses().add("line_unusable", Severity::Warning,
                              "Lines that are no stack with a metric behind it; they were passed "
                              "over.",
                              1, reader_.offset(), line.substr(0, 80));
      }
    }
    reader_.finish(builder_);
    if (builder_.meta().file_events == 0) {
      builder_.losses().add("no_events", Severity::Warning,
                            "There is no sample in the file: nothing was recorded.");
    }
    builder_.nest(1);
    return builder_.finish();
  }

 private:
  bool add_sample(std::string_view line) {
    const std::size_t blank = line.rfind(' ');
    if (blank == line.npos) return false;
    const std::optional<AustinMetrics> metrics = parse_metrics(line.substr(blank + 1));
    const std::optional<Origin> origin = parse_origin(line.substr(0, blank));
    if (!metrics || !origin) return false;
    StackId stack;
    std::string_view frames = origin->frames;
    while (!frames.empty()) {
      const std::size_t end = std::min(frames.find(';'), frames.size());
      stack = push(stack, frames.substr(0, end));
      frames.remove_prefix(std::min(end + 1, frames.size()));
    }
    samples_.add(samples_.track(origin->pid, origin->interpreter, origin->thread), stack, *metrics);
    return true;
  }

  // "time", or "time,idle,bytes" in full mode; in memory mode the one number is bytes.
  std::optional<AustinMetrics> parse_metrics(std::string_view text) {
    AustinMetrics out;
    const std::size_t first = text.find(',');
    const std::optional<double> number = parse_real(text.substr(0, first));
    if (!number) return std::nullopt;
    if (first == text.npos) {
      (memory_mode() ? out.bytes : out.micros) = number;
      return out;
    }
    const std::size_t second = text.find(',', first + 1);
    if (second == text.npos) return std::nullopt;
    out.micros = number;
    out.idle = text.substr(first + 1, second - first - 1) != "0";
    out.bytes = parse_real(text.substr(second + 1));
    if (!out.bytes) return std::nullopt;
    return out;
  }

  bool memory_mode() {
    for (const auto& [key, value] : builder_.meta().properties) {
      if (key == "mode") return value == "\"memory\"";
    }
    return false;
  }

  // "file:function:line"; a file may hold colons. ":GC:" and ":INVALID:" stand for themselves.
  StackId push(StackId stack, std::string_view frame) {
    const std::size_t last = frame.rfind(':');
    if (last == frame.npos) return samples_.push(stack, frame, {}, 0);
    const std::optional<std::int64_t> line = parse_integer(frame.substr(last + 1));
    const std::size_t middle = last == 0 ? frame.npos : frame.rfind(':', last - 1);
    if (!line || middle == frame.npos) {
      const bool special = frame.starts_with(':') && frame.ends_with(':') && frame.size() > 2;
      return samples_.push(stack, special ? frame.substr(1, frame.size() - 2) : frame, {}, 0);
    }
    return samples_.push(stack, frame.substr(middle + 1, last - middle - 1),
                         frame.substr(0, middle), *line);
  }

  LineReader reader_;
  TraceBuilder builder_;
  AustinSamples samples_;
};

}  // namespace

bool looks_like_austin(std::string_view head) {
  if (head.starts_with("# austin:")) return true;
  // Without metadata, or with other metadata first.
  for (int line = 0; line < 32 && head.starts_with("# "); ++line) {
    if (head.starts_with("# austin:")) return true;
    head.remove_prefix(std::min(head.find('\n'), head.size() - 1) + 1);
  }
  if (head.size() < 5 || head[0] != 'P' || !is_digit(head[1])) return false;
  const std::string_view line = head.substr(0, head.find('\n'));
  const std::optional<Origin> origin = parse_origin(line);
  return origin.has_value() && line.find(' ') != line.npos;
}

Result<Trace> import_austin(const ImportInput& input) { return AustinReader(input).read(); }

}  // namespace sonde
