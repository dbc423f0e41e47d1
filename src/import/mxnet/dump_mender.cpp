#include "import/mxnet/dump_mender.hpp"

#include <algorithm>
#include <cstring>

#include "import/json/space.hpp"

namespace sonde {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
// How far a brace is looked behind for the key that tells what it opens.
constexpr std::size_t kLookahead = 4096;
// MXNet cuts names, so that its events are far below this.
constexpr std::size_t kMaxEventBytes = 1024 * 1024;
constexpr std::size_t kMaxGapBytes = 512;

constexpr std::string_view kHeaderKey = "traceEvents\"";
constexpr std::string_view kEventKeys[] = {"name\"", "ph\"", "cat\"", "ts\"",  "pid\"",
                                           "tid\"",  "id\"", "s\"",   "args\""};

// Takes all of `word` out of `text`; whether there was any.
bool take_out(std::string& text, std::string_view word) {
  bool any = false;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    text.erase(at, word.size());
    any = true;
  }
  return any;
}

}  // namespace

Result<std::size_t> DumpMender::read(std::span<char> out) {
  std::size_t got = 0;
  while (got < out.size()) {
    if (given_ == ready_) {
      if (finished_) break;
      Result<bool> filled = fill();
      if (!filled) return filled.error();
      scan();
      continue;
    }
    const std::size_t part = std::min(out.size() - got, ready_ - given_);
    std::memcpy(out.data() + got, buffer_.data() + given_, part);
    given_ += part;
    got += part;
  }
  return got;
}

Result<bool> DumpMender::fill() {
  buffer_.erase(0, given_);
  offset_ += given_;
  pos_ -= given_;
  ready_ -= given_;
  event_begin_ -= std::min(event_begin_, given_);
  given_ = 0;
  if (input_ended_) return true;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kReadBytes);
  Result<std::size_t> got = inner_.read({buffer_.data() + before, kReadBytes});
  if (!got) return got.error();
  buffer_.resize(before + *got);
  input_ended_ = *got < kReadBytes;
  return true;
}

void DumpMender::scan() {
  if (!started_) {
    started_ = true;
    // Every list begins with a bracket. Where no byte can be spared for it, offsets are off by one.
    const bool at_event = !buffer_.empty() && buffer_[0] == '{' && brace_at(0) == Brace::Event;
    if (buffer_.empty() || at_event)
      buffer_.insert(0, 1, '[');
    else if (buffer_[0] == '{' || buffer_[0] == '[')
      gap_ = buffer_[0];
    buffer_[0] = '[';
    pos_ = ready_ = 1;
  }
  while (pos_ < buffer_.size()) {
    if (!input_ended_ && pos_ + kLookahead > buffer_.size()) return;
    if (in_event_)
      step_event();
    else
      step_between();
  }
  if (input_ended_) finish();
}

void DumpMender::step_between() {
  char& c = buffer_[pos_];
  if (c == '{' && brace_at(pos_) == Brace::Event) {
    begin_event();
    return;
  }
  if (!is_space(c)) {
    if (gap_.empty()) gap_offset_ = offset_ + pos_;
    if (gap_.size() < kMaxGapBytes) gap_ += c;
    if (c == ']') closed_ = true;
    if (c != ',') c = ' ';
  }
  ready_ = ++pos_;
}

void DumpMender::begin_event() {
  end_gap();
  in_event_ = true;
  in_string_ = false;
  escape_ = false;
  last_ = '{';
  depth_ = 1;
  event_begin_ = pos_++;
  any_event_ = true;
}

void DumpMender::step_event() {
  const char c = buffer_[pos_];
  const bool opens = c == '{' && !escape_;
  if (in_string_ && !opens) {
    if (escape_)
      escape_ = false;
    else if (c == '\\')
      escape_ = true;
    // MXNet escapes nothing; that no text goes on behind its line keeps one raw quote from
    // turning everything inside out.
    else if (c == '"' || c == '\n')
      in_string_ = false;
    if (!in_string_) last_ = '"';
    ++pos_;
  } else if (opens && (in_string_ || last_ != ':')) {
    // Objects stand in an event as values only. Anything else is the beginning of another event, or
    // of another dump, in the middle of this one. In a text only a brace that ends its line counts.
    const bool ends_line =
        pos_ + 1 < buffer_.size() && (buffer_[pos_ + 1] == '\n' || buffer_[pos_ + 1] == '\r');
    const Brace brace = in_string_ && !ends_line ? Brace::Other : brace_at(pos_);
    if (brace == Brace::Other) {
      if (!in_string_) ++depth_;
      ++pos_;
      return;
    }
    tear_event();
    if (brace == Brace::Event) begin_event();
  } else {
    if (c == '"') in_string_ = true;
    if (c == '{') ++depth_;
    if (c == '}') --depth_;
    if (!is_space(c)) last_ = c;
    ++pos_;
    if (depth_ == 0) {
      in_event_ = false;
      ready_ = pos_;
    }
  }
  if (in_event_ && pos_ - event_begin_ > kMaxEventBytes) tear_event();
}

// The event ends before its closing brace: its text goes.
void DumpMender::tear_event() {
  losses_.add("event_torn", Severity::Warning,
              "Events that end in the middle, where another dump wrote into the file; they were "
              "passed over.",
              1, offset_ + event_begin_,
              std::string_view(buffer_).substr(event_begin_,
                                               std::min<std::size_t>(pos_ - event_begin_, 60)));
  std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(event_begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(pos_), ' ');
  in_event_ = false;
  ready_ = pos_;
}

DumpMender::Brace DumpMender::brace_at(std::size_t at) const {
  std::string_view text = std::string_view(buffer_).substr(at + 1, kLookahead);
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.empty() || text.front() != '"') return Brace::Other;
  text.remove_prefix(1);
  if (text.starts_with(kHeaderKey)) return Brace::Header;
  for (const std::string_view key : kEventKeys) {
    if (text.starts_with(key)) return Brace::Event;
  }
  return Brace::Other;
}

// Judges what stood between two events, before the first or behind the last.
void DumpMender::end_gap() {
  if (any_event_ && (gap_.empty() || (gap_ == "," && !finished_))) {
    gap_.clear();
    return;
  }
  const bool header = take_out(gap_, "\"traceEvents\":") || gap_.find('[') != std::string::npos;
  take_out(gap_, "\"displayTimeUnit\":\"ms\"");
  for (const char c : {',', '{', '}', '[', ']'}) take_out(gap_, {&c, 1});
  const bool more_follows = !finished_;
  losses_.add("dump_without_beginning", Severity::Warning,
              "The file lacks the beginning of its dump: MXNet wrote that into another file, or it "
              "was cut. Devices "
              "may have no names.",
              !any_event_ && !header && more_follows ? 1 : 0);
  losses_.add("dump_appended", Severity::Info,
              "Several dumps stand in the file one after the other; all of them are read.",
              any_event_ && (closed_ || header) && more_follows ? 1 : 0, gap_offset_);
  losses_.add(
      "text_between_events", Severity::Warning,
      "Text between the events that is no event, such as the rest of one; it was passed over.",
      gap_.empty() ? 0 : 1, gap_offset_, gap_);
  gap_.clear();
  if (more_follows) closed_ = false;
}

void DumpMender::finish() {
  if (finished_) return;
  finished_ = true;
  ready_ = pos_ = buffer_.size();
  end_gap();
  // An event that is cut is told of by its reader.
  losses_.add("dump_unfinished", Severity::Warning,
              "The dump was never finished: MXNet ends the file at dump(finished=True) or when the "
              "program ends. All "
              "events that are there are read.",
              any_event_ && !closed_ && !in_event_ ? 1 : 0);
  losses_.merge(inner_.losses());
}

}  // namespace sonde
