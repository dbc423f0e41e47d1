#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/importer.hpp"
#include "trace/builder.hpp"

namespace sonde {

// Hands out a text line by line, in UTF-8, without the line's end (LF, CR LF). UTF-16 is told by
// its byte order mark. Only one block and one line are held; a line beyond kMaxLine is cut.
class LineReader {
 public:
  static constexpr std::size_t kMaxLine = 16 << 20;

  explicit LineReader(const ImportInput& input) : input_(input) {}

  // The next line, valid until the next call; false at the end.
  Result<bool> next(std::string_view& line);

  // Where the line that was handed out begins; LossLedger::kNoOffset in UTF-16.
  std::uint64_t offset() const { return wide_ ? LossLedger::kNoOffset : line_offset_; }
  std::uint64_t lines() const { return lines_; }

  // Tells the trace how much was read and what was lost on the way.
  void finish(TraceBuilder& builder) const;

 private:
  Result<bool> fill();
  void append_wide(std::string_view raw);

  const ImportInput& input_;
  std::string block_;   // decoded
  std::size_t at_ = 0;  // in block_
  std::string line_;    // where a line runs over the end of a block
  std::string raw_;
  std::string half_;  // bytes of UTF-16 that wait for their other half
  std::uint64_t block_offset_ = 0;
  std::uint64_t line_offset_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t cut_lines_ = 0;
  std::uint64_t first_cut_ = LossLedger::kNoOffset;
  bool started_ = false;
  bool wide_ = false;
  bool big_endian_ = false;
  bool ended_ = false;
};

}  // namespace sonde
