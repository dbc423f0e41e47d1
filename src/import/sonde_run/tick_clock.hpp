#pragma once

#include <cstdint>

#include "trace/file_format.hpp"
#include "trace/trace.hpp"

namespace sonde {

// Turns the recorder's ticks into nanoseconds of the machine's monotonic clock.
class TickClock {
 public:
  explicit TickClock(const file::FileHeader& header);

  // False for ticks that lie further from the start of the recording than any recording lasts.
  bool to_nanos(std::uint64_t ticks, Nanos& out) const;

  // A length. False where it is more than any recording lasts.
  bool to_duration(std::uint64_t ticks, Nanos& out) const;

  // The last reading that the recorder made of its counter.
  std::uint64_t latest_ticks() const { return latest_ticks_; }

  // False where the header tells neither a rate nor two readings: a tick counts as a nanosecond.
  bool rate_known() const { return rate_known_; }
  // Wall-clock time of monotonic time 0.
  Nanos wall_base() const { return wall_base_; }
  bool wall_known() const { return wall_known_; }

 private:
  std::uint64_t first_ticks_ = 0;
  std::uint64_t latest_ticks_ = 0;
  Nanos first_nanos_ = 0;
  // Nanoseconds = ticks * numerator_ / denominator_.
  std::uint64_t numerator_ = 1;
  std::uint64_t denominator_ = 1;
  Nanos wall_base_ = 0;
  bool rate_known_ = true;
  bool wall_known_ = false;
};

}  // namespace sonde
