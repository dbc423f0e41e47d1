#include "import/text/line_reader.hpp"

#include <algorithm>

#include "import/text/utf8.hpp"

namespace sonde {
namespace {

constexpr std::size_t kBlock = 256 * 1024;

}  // namespace

// Puts a byte order mark before what is left over, so that each block reads as a text of its own.
void LineReader::append_wide(std::string_view raw) {
  std::string text = big_endian_ ? "\xFE\xFF" : "\xFF\xFE";
  text += half_;
  text += raw;
  half_.clear();
  std::size_t keep = text.size() % 2;
  // A first half of a pair at the end waits for the second one.
  if (text.size() - keep >= 4) {
    const std::size_t last = text.size() - keep - 2;
    const auto high = static_cast<unsigned char>(text[big_endian_ ? last : last + 1]);
    if (high >= 0xD8 && high < 0xDC) keep += 2;
  }
  half_ = text.substr(text.size() - keep);
  text.resize(text.size() - keep);
  block_ = to_utf8(text);
}

Result<bool> LineReader::fill() {
  raw_.resize(kBlock);
  const Result<std::size_t> count = input_.source.read(raw_);
  if (!count) return count.error();
  if (input_.options.progress) {
    input_.options.progress({input_.path, input_.source.consumed(), input_.disk_bytes});
  }
  block_offset_ = bytes_;
  bytes_ += *count;
  std::string_view raw(raw_.data(), *count);
  if (!started_) {
    started_ = true;
    big_endian_ = raw.starts_with("\xFE\xFF");
    wide_ = big_endian_ || raw.starts_with("\xFF\xFE");
    const std::size_t mark = wide_ ? 2 : raw.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    raw.remove_prefix(mark);
    block_offset_ += mark;
  }
  at_ = 0;
  if (*count == 0) {
    // What still waits for its other half never gets it.
    block_ = half_.size() >= 2 ? kReplacementCharacter : "";
    half_.clear();
    ended_ = true;
    return !block_.empty();
  }
  if (wide_)
    append_wide(raw);
  else
    block_.assign(raw);
  return true;
}

Result<bool> LineReader::next(std::string_view& line) {
  line_.clear();
  bool begun = false;
  bool cut = false;
  while (true) {
    if (at_ >= block_.size()) {
      if (ended_) break;
      Result<bool> more = fill();
      if (!more) return more.error();
      continue;
    }
    if (!begun) line_offset_ = block_offset_ + at_;
    begun = true;
    const std::size_t end = block_.find('\n', at_);
    const bool whole = end != std::string::npos;
    const std::string_view part =
        std::string_view(block_).substr(at_, whole ? end - at_ : std::string_view::npos);
    at_ = whole ? end + 1 : block_.size();
    if (whole && line_.empty() && !cut) {  // no copy: the line lies in one block
      line = part;
      break;
    }
    const std::size_t room = kMaxLine - line_.size();
    cut = cut || part.size() > room;
    line_.append(part.substr(0, room));
    line = line_;
    if (whole) break;
  }
  if (!begun) return false;
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++lines_;
  if (cut && cut_lines_++ == 0) first_cut_ = offset();
  return true;
}

void LineReader::finish(TraceBuilder& builder) const {
  builder.meta().input_bytes = bytes_;
  builder.losses().merge(input_.source.losses());
  if (cut_lines_ > 0) {
    builder.losses().add("line_too_long", Severity::Warning,
                         "Lines longer than 16 MiB; only their beginning was read.", cut_lines_,
                         first_cut_);
  }
}

}  // namespace sonde
