#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/json/event_splitter.hpp"
#include "import/paddle/assembler.hpp"
#include "import/paddle/json_event.hpp"

namespace sonde {

// Hands the records of Paddle's JSON, in the order of the file, to an assembler.
class PaddleJsonReader {
 public:
  explicit PaddleJsonReader(PaddleAssembler& assembler) : assembler_(assembler) {}

  void read(const EventBlock& block);
  void read_metadata(const Metadata& metadata);
  // After the last block: moves all times to one clock.
  void finish();

  std::uint64_t events() const { return events_; }

 private:
  void read_broken(std::string_view text, std::uint64_t offset, bool cut);
  bool read_piece(std::string_view piece, std::uint64_t offset);
  void take(const PaddleJsonEvent& event, std::uint64_t offset, std::string_view text);
  void take_slice(const PaddleJsonEvent& event, std::uint64_t offset, std::string_view text);
  void take_device_work(const PaddleJsonEvent& event, PaddleSlice slice);
  void take_memory(const PaddleJsonEvent& event, std::uint64_t offset, std::string_view text);
  bool take_times(const PaddleJsonEvent& event, PaddleSlice& slice, std::uint64_t offset,
                  std::string_view text);
  TrackId thread_of(const PaddleJsonEvent& event);
  StringId text_of(std::string_view raw) { return assembler_.intern(paddle_text(raw, scratch_)); }
  LossLedger& losses() { return assembler_.builder().losses(); }

  PaddleAssembler& assembler_;
  PaddleJsonEvent event_;
  std::string mended_;
  std::string scratch_;
  std::vector<Nanos> stamps_;      // "ts" of each slice; kNoNumber where start is on that clock
  Nanos trace_start_ = kNoNumber;  // on the clock of the stamps
  TrackId last_thread_;
  std::uint64_t events_ = 0;
};

}  // namespace sonde
