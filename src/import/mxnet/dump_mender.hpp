#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "import/input/byte_source.hpp"

namespace sonde {

// Makes one plain list of events of whatever MXNet left in a file: dumps without an end, with
// several ends, without a beginning, several of them one inside of the other. Hands out the bytes
// of its source, with '[' in front and everything between two events but commas blanked out, so
// that offsets stay what they are. Events that another dump tore apart are blanked out as well. The
// losses tell what was found.
class DumpMender final : public ByteSource {
 public:
  // `inner` must outlive the mender.
  explicit DumpMender(ByteSource& inner) : inner_(inner) {}

  Result<std::size_t> read(std::span<char> out) override;
  std::uint64_t consumed() const override { return inner_.consumed(); }

 private:
  enum class Brace : std::uint8_t { Event, Header, Other };

  Result<bool> fill();
  void scan();
  void step_between();
  void step_event();
  void begin_event();
  void tear_event();
  void end_gap();
  void finish();
  // What the '{' at `at` opens.
  Brace brace_at(std::size_t at) const;

  ByteSource& inner_;
  std::string buffer_;     // mended up to ready_, raw from there on
  std::size_t given_ = 0;  // handed out
  std::size_t ready_ = 0;
  std::size_t pos_ = 0;       // the next byte to look at
  std::uint64_t offset_ = 0;  // of buffer_[0] in the input
  bool started_ = false;
  bool input_ended_ = false;
  bool finished_ = false;

  // Inside of an event.
  bool in_event_ = false;
  bool in_string_ = false;
  bool escape_ = false;
  char last_ = '\0';  // the last character outside of strings that is no blank
  std::uint32_t depth_ = 0;
  std::size_t event_begin_ = 0;

  // Between two events.
  std::string gap_;  // its characters without blanks
  std::uint64_t gap_offset_ = 0;
  bool any_event_ = false;
  bool closed_ = false;  // the list of events came to an end
};

}  // namespace sonde
