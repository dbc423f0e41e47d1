#include "import/perf_script/perf_lines.hpp"

#include <vector>

#include "base/trim.hpp"
#include "import/text/numbers.hpp"

namespace sonde {
namespace {

constexpr std::string_view kBlank = " \t";

// The next word of `text`, which loses it.
std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::optional<std::int64_t> parse_id(std::string_view text) {
  const std::optional<std::int64_t> id = parse_integer(text);
  return id && *id >= -1 ? id : std::nullopt;
}

// "4711" or "4711/4712"
bool parse_ids(std::string_view word, PerfHeader& out) {
  const std::size_t slash = word.find('/');
  const std::optional<std::int64_t> pid = parse_id(word.substr(0, slash));
  if (!pid) return false;
  out.pid = out.tid = *pid;
  if (slash == std::string_view::npos) return true;
  const std::optional<std::int64_t> tid = parse_id(word.substr(slash + 1));
  if (tid) out.tid = *tid;
  return tid.has_value();
}

// What follows the ids: "[cpu]", "time:", "period", "event:". False where there is neither a time
// nor an event.
bool parse_rest(std::string_view text, PerfHeader& out) {
  std::string_view rest = text;
  std::string_view word = take_word(rest);
  if (word.starts_with('[') && word.ends_with(']')) {
    const std::optional<std::int64_t> cpu = parse_integer(word.substr(1, word.size() - 2));
    if (!cpu) return false;
    out.cpu = *cpu;
    word = take_word(rest);
  }
  bool known = false;
  if (word.ends_with(':')) {
    out.time = parse_seconds(word.substr(0, word.size() - 1));
    if (out.time && word.find('.') != std::string_view::npos) {
      known = true;
      word = take_word(rest);
    } else {
      out.time.reset();
    }
  }
  if (const std::optional<std::int64_t> period = parse_integer(word); period && *period >= 0) {
    out.period = period;
    word = take_word(rest);
  }
  if (word.size() > 1 && word.ends_with(':')) {
    out.event = word.substr(0, word.size() - 1);
    out.rest = trim(rest);
    known = true;
  } else if (!word.empty()) {
    return false;
  }
  return known;
}

}  // namespace

// The command may hold blanks and digits, so every word is tried as the one with the ids.
std::optional<PerfHeader> parse_perf_header(std::string_view line) {
  if (line.empty() || line[0] == '\t' || line[0] == '#') return std::nullopt;
  std::string_view rest = line;
  constexpr int kMaxWords = 24;
  for (int i = 0; i < kMaxWords; ++i) {
    const std::string_view word = take_word(rest);
    if (word.empty()) return std::nullopt;
    const auto at = static_cast<std::size_t>(word.data() - line.data());
    PerfHeader out;
    if (at == 0 || !parse_ids(word, out)) continue;
    out.command = trim(line.substr(0, at));
    if (!out.command.empty() && parse_rest(rest, out)) return out;
  }
  return std::nullopt;
}

std::optional<PerfFrame> parse_perf_frame(std::string_view line) {
  std::string_view rest = line;
  const std::string_view address = take_word(rest);
  if (address.empty() || address.size() > 16) return std::nullopt;
  for (const char c : address) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return std::nullopt;
  }
  PerfFrame out;
  rest = trim(rest);
  if (rest.ends_with(')')) {
    // The object is the last pair of brackets; those inside of it belong to it: "(/tmp/a
    // (deleted))".
    int depth = 0;
    for (std::size_t i = rest.size(); i-- > 0;) {
      if (rest[i] == ')') ++depth;
      if (rest[i] == '(' && --depth == 0) {
        // A symbol ends in brackets too where there is no object; then no blank stands before them.
        if (i == 0 || rest[i - 1] == ' ') {
          out.object = rest.substr(i + 1, rest.size() - i - 2);
          rest = trim(rest.substr(0, i));
        }
        break;
      }
    }
  }
  // "symbol+0x98": the offset tells calls of one function apart.
  const std::size_t plus = rest.rfind("+0x");
  if (plus != std::string_view::npos && plus > 0 &&
      rest.find_first_not_of("0123456789abcdef", plus + 3) == std::string_view::npos) {
    rest = rest.substr(0, plus);
  }
  out.symbol = rest.empty() ? std::string_view("[unknown]") : rest;
  return out;
}

}  // namespace sonde
