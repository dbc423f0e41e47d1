#include "import/sonde_run/tick_clock.hpp"

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;
constexpr Nanos kLatestSensible = kMaxTime / 4;
// Closer readings tell the rate less well than the recorder's own guess does.
constexpr Nanos kLongEnough = 10'000'000;

bool sensible(Nanos time) { return time >= 0 && time < kLatestSensible; }

}  // namespace

TickClock::TickClock(const file::FileHeader& header) : first_ticks_(header.first.ticks) {
  const file::ClockReading& first = header.first;
  const file::ClockReading& latest = header.latest[header.latest_slot & 1];
  latest_ticks_ = std::max(first.ticks, latest.ticks);
  if (sensible(first.monotonic)) first_nanos_ = first.monotonic;
  if (header.ticks_per_second > 0) {
    numerator_ = kNanosPerSecond;
    denominator_ = header.ticks_per_second;
  } else if (latest.ticks > first.ticks && sensible(first.monotonic) &&
             sensible(latest.monotonic) && latest.monotonic - first.monotonic >= kLongEnough) {
    numerator_ = static_cast<std::uint64_t>(latest.monotonic - first.monotonic);
    denominator_ = latest.ticks - first.ticks;
  } else if (header.ticks_per_second_guess > 0) {
    numerator_ = kNanosPerSecond;
    denominator_ = header.ticks_per_second_guess;
  } else {
    rate_known_ = false;
  }
  wall_known_ = first.wall > 0 && first.wall < kMaxTime;
  if (wall_known_) wall_base_ = first.wall - first_nanos_;
}

bool TickClock::to_nanos(std::uint64_t ticks, Nanos& out) const {
  // The counter may have been read a moment before the header's reading, never long before.
  const bool before = ticks < first_ticks_;
  const std::uint64_t distance = before ? first_ticks_ - ticks : ticks - first_ticks_;
  const auto nanos = static_cast<unsigned __int128>(distance) * numerator_ / denominator_;
  if (nanos > static_cast<unsigned __int128>(kMaxDuration)) return false;
  out = first_nanos_ + (before ? -static_cast<Nanos>(nanos) : static_cast<Nanos>(nanos));
  return true;
}

bool TickClock::to_duration(std::uint64_t ticks, Nanos& out) const {
  const auto nanos = static_cast<unsigned __int128>(ticks) * numerator_ / denominator_;
  if (nanos > static_cast<unsigned __int128>(kMaxDuration)) return false;
  out = static_cast<Nanos>(nanos);
  return true;
}

}  // namespace sonde
