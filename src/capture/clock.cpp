#include <time.h>

#include "capture/recorder.hpp"

namespace sonde::capture {
namespace {

std::int64_t nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Set once, under the lock: `first_reading` before `guessed`.
file::ClockReading first_reading;
std::atomic<std::uint64_t> guessed{0};

// The longer ago the first reading is, the better.
double ticks_per_nanosecond(const file::ClockReading& now) {
  const auto guess = static_cast<double>(guessed_ticks_per_second()) * 1e-9;
  if (exact_ticks_per_second() || now.monotonic - first_reading.monotonic < 10'000'000) {
    return guess;
  }
  return static_cast<double>(now.ticks - first_reading.ticks) /
         static_cast<double>(now.monotonic - first_reading.monotonic);
}

}  // namespace

std::uint64_t exact_ticks_per_second() {
#if defined(__aarch64__)
  std::uint64_t frequency;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency;
#elif defined(__x86_64__)
  return 0;
#else
  return 1'000'000'000;
#endif
}

// The narrowest of a few readings: one that was interrupted does not count.
file::ClockReading read_clocks() {
  file::ClockReading best;
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t before = sonde_ticks();
    const std::int64_t monotonic = nanoseconds(CLOCK_MONOTONIC);
    const std::uint64_t after = sonde_ticks();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best.ticks = before + narrowest / 2;
    best.monotonic = monotonic;
  }
  best.wall = best.monotonic + (nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_MONOTONIC));
  return best;
}

// For a process that is killed before its second clock reading. Once in a process.
std::uint64_t guessed_ticks_per_second() {
  if (const std::uint64_t exact = exact_ticks_per_second()) return exact;
  if (const std::uint64_t guess = guessed.load(std::memory_order_acquire)) return guess;
  const file::ClockReading first = read_clocks();
  file::ClockReading last = read_clocks();
  while (last.monotonic - first.monotonic < 200'000) last = read_clocks();
  const double seconds = static_cast<double>(last.monotonic - first.monotonic) * 1e-9;
  const auto guess =
      static_cast<std::uint64_t>(static_cast<double>(last.ticks - first.ticks) / seconds);
  first_reading = first;
  guessed.store(guess, std::memory_order_release);
  return guess;
}

// Into the slot that is not in use: a process that dies in between leaves the older reading.
void renew_clock(file::FileHeader& header) {
  const file::ClockReading now = read_clocks();
  const std::uint32_t slot = (header.latest_slot + 1) & 1;
  store(header.latest[slot].ticks, now.ticks);
  store(header.latest[slot].monotonic, now.monotonic);
  store(header.latest[slot].wall, now.wall);
  __atomic_store_n(&header.latest_slot, slot, __ATOMIC_RELEASE);
}

}  // namespace sonde::capture

#if !defined(__x86_64__) && !defined(__aarch64__)
std::uint64_t sonde_ticks_() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + time.tv_nsec;
}
#endif

std::uint64_t sonde_ticks_from_ns(std::int64_t monotonic_ns) {
  using namespace sonde::capture;
  if (!current_session.load(std::memory_order_acquire)) return 0;
  const sonde::file::ClockReading now = read_clocks();
  const double rate = ticks_per_nanosecond(now);
  return now.ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(
                         static_cast<double>(monotonic_ns - now.monotonic) * rate));
}
