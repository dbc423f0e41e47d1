#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/input/byte_source.hpp"

namespace sonde {

// One event's text in a block, with its braces.
struct EventSpan {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// A piece of the file that holds whole events only. kBlockPadding bytes behind `size` may be read.
struct EventBlock {
  std::vector<char> text;
  std::size_t size = 0;
  std::uint64_t offset = 0;       // of text[0] in the inflated input
  std::uint64_t sequence = 0;     // 0, 1, 2, … in file order
  std::uint64_t disk_offset = 0;  // how far the file on disk was read for it
  std::vector<EventSpan> events;
  bool last_is_cut = false;  // the input ends inside of the last event

  std::string_view event(const EventSpan& span) const {
    return {text.data() + span.begin, span.end - span.begin};
  }
};

// Top-level keys and their values as raw JSON text, in file order.
using Metadata = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::size_t kBlockBytes = 512 * 1024;
inline constexpr std::size_t kBlockPadding = 64;
inline constexpr std::size_t kMaxMetadataBytes = 64 * 1024 * 1024;

// Cuts a trace-event JSON stream into blocks of whole events, looking at nothing but braces and
// quotes, and keeps the other top-level values as raw JSON text. Both container forms, and arrays
// that nobody closed. Never holds more than one block and the longest event.
class EventSplitter {
 public:
  explicit EventSplitter(ByteSource& source) : source_(source) {}

  // Fills `block` with the next events; false at the end of the input.
  Result<bool> next(EventBlock& block);

  // Top-level keys other than traceEvents, in file order. Complete after next() said false.
  const Metadata& metadata() const { return metadata_; }
  LossLedger& losses() { return losses_; }
  bool found_events_array() const { return found_array_; }
  // Whether the input ended inside of its JSON.
  bool ends_early() const { return finished_ && state_ != State::End; }
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  enum class State : std::uint8_t {
    Start,
    BeforeKey,
    InKey,
    AfterKey,
    BeforeValue,
    InValue,
    Lost,
    Between,
    InEvent,
    InStray,
    Adrift,
    End,
  };

  void start_block(EventBlock& block);
  Result<bool> fill(EventBlock& block);
  void run(EventBlock& block);
  void step_outside(EventBlock& block);
  void step_between(EventBlock& block);
  void step_events(EventBlock& block);
  bool step_adrift(EventBlock& block);
  bool nesting_value(char c);
  void value_done();
  void finish(EventBlock& block);
  void give_up_on_long_event(EventBlock& block);

  ByteSource& source_;
  LossLedger losses_;
  Metadata metadata_;
  std::size_t metadata_bytes_ = 0;

  State state_ = State::Start;
  bool object_form_ = false;
  bool found_array_ = false;
  bool array_closed_ = false;
  bool input_ended_ = false;
  bool finished_ = false;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t next_sequence_ = 0;

  std::string carry_;  // bytes of the last block that belong to the next one
  std::uint64_t carry_offset_ = 0;
  std::size_t pos_ = 0;          // next byte to look at
  std::size_t event_begin_ = 0;  // in state InEvent

  // Inside of an event or value: the quotes and braces so far.
  std::uint64_t in_string_ = 0;  // 0 or all ones
  bool escape_ = false;
  std::uint32_t depth_ = 0;

  std::string key_;
  std::string value_;
  bool value_too_long_ = false;
  std::size_t match_ = 0;  // characters of "traceEvents" seen in state Lost
};

}  // namespace sonde
