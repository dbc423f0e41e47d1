#include "import/json/event_splitter.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "import/json/byte_masks.hpp"
#include "import/json/lenient.hpp"
#include "import/json/space.hpp"

namespace sonde {
namespace {

// Past this, or at the end of the input, an open event is taken for several with a broken quote in
// them.
constexpr std::size_t kSuspectEventBytes = 8 * 1024 * 1024;
constexpr std::size_t kMaxEventBytes = 64 * 1024 * 1024;
constexpr std::string_view kEventsKey = "\"traceEvents\"";

// How far a value in the place of an event may reach to be taken for a whole one.
constexpr std::size_t kPlainValueBytes = 1024;

}  // namespace

Result<bool> EventSplitter::next(EventBlock& block) {
  start_block(block);
  while (!finished_) {
    Result<bool> more = fill(block);
    if (!more) return more.error();
    run(block);
    if (input_ended_) {
      finish(block);
    } else if (block.events.empty()) {
      // Nothing whole yet: drop what is done with, keep an event's beginning, read on.
      const std::size_t keep = state_ == State::InEvent ? event_begin_ : pos_;
      std::memmove(block.text.data(), block.text.data() + keep, block.size - keep);
      block.size -= keep;
      block.offset += keep;
      pos_ -= keep;
      event_begin_ -= std::min(event_begin_, keep);
      continue;
    }
    const std::size_t keep = finished_                  ? block.size
                             : state_ == State::InEvent ? event_begin_
                                                        : pos_;
    carry_.assign(block.text.data() + keep, block.size - keep);
    carry_offset_ = block.offset + keep;
    pos_ -= keep;
    event_begin_ -= std::min(event_begin_, keep);
    if (block.events.empty()) break;
    return true;
  }
  return !block.events.empty();
}

void EventSplitter::start_block(EventBlock& block) {
  block.events.clear();
  block.last_is_cut = false;
  block.sequence = next_sequence_++;
  block.offset = carry_offset_;
  block.size = carry_.size();
  // What one huge event took is not kept for good.
  if (block.text.size() > 16 * kBlockBytes && block.size < kBlockBytes)
    std::vector<char>().swap(block.text);
  if (block.text.size() < carry_.size() + kBlockPadding)
    block.text.resize(carry_.size() + kBlockPadding);
  std::copy(carry_.begin(), carry_.end(), block.text.begin());
}

Result<bool> EventSplitter::fill(EventBlock& block) {
  // At least half a block of new bytes each time, so that a long event costs no quadratic copying.
  std::size_t capacity = std::max(kBlockBytes, block.size + std::max(kBlockBytes / 2, block.size));
  if (block.text.size() < capacity + kBlockPadding) block.text.resize(capacity + kBlockPadding);
  if (!input_ended_ && block.size < capacity) {
    Result<std::size_t> got = source_.read({block.text.data() + block.size, capacity - block.size});
    if (!got) return got.error();
    input_ended_ = *got < capacity - block.size;
    block.size += *got;
    bytes_read_ += *got;
    block.disk_offset = source_.consumed();
  }
  std::memset(block.text.data() + block.size, 0, kBlockPadding);
  return true;
}

void EventSplitter::run(EventBlock& block) {
  while (pos_ < block.size) {
    if (state_ == State::InEvent) {
      step_events(block);
      if (state_ == State::InEvent &&
          (input_ended_ || block.size - event_begin_ > kSuspectEventBytes)) {
        give_up_on_long_event(block);
      }
      if (state_ == State::InEvent) return;  // wants more bytes
    } else if (state_ == State::Adrift) {
      if (!step_adrift(block)) return;
    } else if (state_ == State::Between) {
      step_between(block);
    } else {
      step_outside(block);
    }
  }
}

// One character of anything that is neither an event nor what stands between two.
void EventSplitter::step_outside(EventBlock& block) {
  const char c = block.text[pos_];
  switch (state_) {
    case State::Start:
      if (is_space(c) || c == '\xEF' || c == '\xBB' || c == '\xBF') break;
      object_form_ = c == '{';
      found_array_ = c == '[';
      state_ = c == '{' ? State::BeforeKey : c == '[' ? State::Between : State::Lost;
      break;
    case State::BeforeKey:
      if (c == '"') {
        key_.clear();
        escape_ = false;
        state_ = State::InKey;
      } else if (c == '}') {
        state_ = State::End;
      } else if (!is_space(c) && c != ',') {
        losses_.add("metadata_damaged", Severity::Warning,
                    "A top-level value of the file is not well-formed JSON; it was passed over.", 1,
                    block.offset + pos_,
                    {block.text.data() + pos_, std::min<std::size_t>(60, block.size - pos_)});
        state_ = State::Lost;
        match_ = 0;
      }
      break;
    case State::InKey:
      if (escape_) {
        escape_ = false;
      } else if (c == '\\') {
        escape_ = true;
      } else if (c == '"') {
        state_ = State::AfterKey;
        break;
      }
      if (key_.size() < 4096) key_ += c;
      break;
    case State::AfterKey:
      if (c == ':')
        state_ = State::BeforeValue;
      else if (!is_space(c))
        state_ = State::BeforeKey;
      break;
    case State::BeforeValue:
      if (is_space(c)) break;
      if (c == '[' && key_ == "traceEvents") {
        state_ = State::Between;
        found_array_ = true;
        array_closed_ = false;
        break;
      }
      value_.clear();
      value_too_long_ = false;
      depth_ = 0;
      in_string_ = 0;
      escape_ = false;
      state_ = State::InValue;
      [[fallthrough]];
    case State::InValue:
      if (nesting_value(c)) break;
      value_done();
      state_ = State::BeforeKey;
      return;  // the character that ended a bare value is looked at again
    case State::Lost:
      match_ = c == kEventsKey[match_] ? match_ + 1 : (c == '"' ? 1 : 0);
      if (match_ == kEventsKey.size()) {
        key_ = "traceEvents";
        object_form_ = true;
        state_ = State::AfterKey;
        match_ = 0;
      }
      break;
    case State::InStray:
      if (depth_ == 0 && !in_string_ && (c == ',' || c == ']' || c == '{')) {
        state_ = State::Between;
        return;
      }
      nesting_value(c);
      break;
    case State::End:
      if (!is_space(c) && c != '\0') {
        losses_.add("text_after_trace", Severity::Warning,
                    "Text follows behind the end of the trace; it was passed over.", 1,
                    block.offset + pos_,
                    {block.text.data() + pos_, std::min<std::size_t>(60, block.size - pos_)});
        pos_ = block.size;
        return;
      }
      break;
    default:
      break;
  }
  ++pos_;
}

// Takes one character of a value of any type; false when it lies behind the value.
bool EventSplitter::nesting_value(char c) {
  const bool bare = depth_ == 0 && !in_string_ && !value_.empty() && value_[0] != '"' &&
                    value_[0] != '{' && value_[0] != '[';
  if (state_ == State::InValue) {
    if (bare && (c == ',' || c == '}' || c == ']')) return false;
    if (!bare && depth_ == 0 && !in_string_ && !value_.empty()) return false;  // closed before
    // The first character tells what kind of value it is.
    if (value_.empty() || metadata_bytes_ + value_.size() < kMaxMetadataBytes)
      value_ += c;
    else
      value_too_long_ = true;
  }
  if (in_string_) {
    if (escape_)
      escape_ = false;
    else if (c == '\\')
      escape_ = true;
    else if (c == '"')
      in_string_ = 0;
  } else if (c == '"') {
    in_string_ = ~std::uint64_t{0};
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if ((c == '}' || c == ']') && depth_ > 0) {
    --depth_;
  }
  return true;
}

void EventSplitter::value_done() {
  while (!value_.empty() && is_space(value_.back())) value_.pop_back();
  const std::size_t bytes = key_.size() + value_.size() + sizeof(Metadata::value_type);
  if (value_too_long_ || metadata_bytes_ + bytes > kMaxMetadataBytes) {
    losses_.add("metadata_too_long", Severity::Warning,
                "The top-level values besides the events take more memory than Sonde gives them; "
                "the rest of them "
                "was passed over.",
                1);
  } else {
    metadata_bytes_ += bytes;
    metadata_.emplace_back(key_, std::move(value_));
  }
  value_.clear();
}

void EventSplitter::step_between(EventBlock& block) {
  const char* const text = block.text.data();
  while (pos_ < block.size && (is_space(text[pos_]) || text[pos_] == ',')) ++pos_;
  if (pos_ >= block.size) return;
  switch (text[pos_]) {
    case '{':
      event_begin_ = pos_;
      in_string_ = 0;
      escape_ = false;
      depth_ = 0;
      state_ = State::InEvent;
      return;
    case ']':
      array_closed_ = true;
      state_ = object_form_ ? State::BeforeKey : State::End;
      ++pos_;
      return;
    default:
      losses_.add("not_an_event", Severity::Warning,
                  "Something in the list of events is no event; it was passed over.", 1,
                  block.offset + pos_, {text + pos_, std::min<std::size_t>(60, block.size - pos_)});
      depth_ = 0;
      in_string_ = 0;
      escape_ = false;
      state_ = text[pos_] == '[' ? State::InStray : State::Adrift;
  }
}

// Between two events stands something else: a plain value, or the rest of a text whose quotes or
// braces do not match. Goes to the next place where events go on; false when that takes more bytes.
bool EventSplitter::step_adrift(EventBlock& block) {
  const std::string_view text(block.text.data() + pos_, block.size - pos_);
  if (text.size() < kPlainValueBytes && !input_ended_) return false;
  if (const std::size_t end = plain_value_end(text.substr(0, kPlainValueBytes));
      end != std::string_view::npos) {
    pos_ += end;
    state_ = State::Between;
    return true;
  }
  if (const std::size_t start = next_event_start(text); start != std::string_view::npos) {
    pos_ += start;
    state_ = State::Between;
    return true;
  }
  // A border may lie across the end of the block.
  pos_ = input_ended_ ? block.size : block.size - kPlainValueBytes / 2;
  return false;
}

// From the event that is open on to the last one that ends in the block, 64 bytes at a time. Stops
// behind an event that is followed by anything but another one.
void EventSplitter::step_events(EventBlock& block) {
  const char* const text = block.text.data();
  std::size_t behind = pos_;  // the event that ended last
  const auto only_separators = [&](std::size_t from, std::size_t to) {
    while (from < to && (is_space(text[from]) || text[from] == ',')) ++from;
    return from == to;
  };
  while (input_ended_ ? pos_ < block.size : pos_ + 64 <= block.size) {
    const ByteMasks masks = byte_masks(text + pos_);
    std::uint64_t quotes = masks.quote;
    if (masks.has_backslash || escape_)
      quotes &= ~escaped_bytes(backslash_mask(text + pos_), escape_);
    const std::uint64_t inside = prefix_xor(quotes) ^ in_string_;
    for (std::uint64_t braces = masks.brace & ~inside; braces != 0; braces &= braces - 1) {
      const auto at = pos_ + static_cast<std::size_t>(std::countr_zero(braces));
      const bool opens = text[at] == '{';
      if (depth_ == 0 && at != event_begin_) {
        if (!opens || !only_separators(behind, at)) {
          pos_ = behind;
          state_ = State::Between;
          return;
        }
        event_begin_ = at;
      }
      depth_ += opens ? 1 : -1;
      if (depth_ == 0) {
        behind = at + 1;
        block.events.push_back(
            {static_cast<std::uint32_t>(event_begin_), static_cast<std::uint32_t>(behind)});
      }
    }
    in_string_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(inside) >> 63);
    pos_ += 64;
  }
  if (depth_ == 0 && behind > event_begin_) {
    pos_ = behind;
    state_ = State::Between;
  } else if (input_ended_) {
    pos_ = std::min(pos_, block.size);
  }
}

void EventSplitter::give_up_on_long_event(EventBlock& block) {
  const std::string_view text(block.text.data() + event_begin_, block.size - event_begin_);
  std::size_t end = last_event_boundary(text);
  if (end == std::string_view::npos && input_ended_) {
    // Without keys behind it, "}]" may as well be a place inside of an event that was cut.
    if (const EventEnd last = end_of_last_event(text); last.keys_follow) end = last.at;
  }
  if (end == std::string_view::npos) {
    if (text.size() < kMaxEventBytes) return;
    end = text.size();
  }
  block.events.push_back(
      {static_cast<std::uint32_t>(event_begin_), static_cast<std::uint32_t>(event_begin_ + end)});
  pos_ = event_begin_ + end;
  state_ = State::Between;
}

void EventSplitter::finish(EventBlock& block) {
  finished_ = true;
  if (state_ == State::InEvent) {
    block.events.push_back(
        {static_cast<std::uint32_t>(event_begin_), static_cast<std::uint32_t>(block.size)});
    block.last_is_cut = true;
  } else if (state_ == State::InValue) {
    value_done();
  }
  const bool unclosed_object = object_form_ && state_ != State::End;
  if (found_array_ && unclosed_object && state_ != State::InEvent) {
    losses_.add(
        "input_cut", Severity::Warning,
        "The file ends before its JSON does: it was cut. All events before the cut are read.", 1,
        block.offset + block.size);
  }
}

}  // namespace sonde
