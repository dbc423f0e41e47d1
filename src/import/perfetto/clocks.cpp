#include "import/perfetto/clocks.hpp"

#include "import/perfetto/wire.hpp"

namespace sonde::perfetto_import {
namespace {

constexpr std::uint64_t kLimit = static_cast<std::uint64_t>(kMaxTime);

// In nanoseconds, or the limit.
std::int64_t scaled(std::uint64_t value, std::uint64_t multiplier) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(value, multiplier, &product) || product > kLimit) return kMaxTime;
  return static_cast<std::int64_t>(product);
}

}  // namespace

void Clocks::add_snapshot(std::string_view message, std::uint32_t sequence) {
  struct Reading {
    std::uint32_t clock = 0;
    std::uint64_t timestamp = 0;
    bool incremental = false;
    std::uint64_t multiplier = 1;
  };
  std::vector<Reading> readings;
  protozero::pbf_reader snapshot(message.data(), message.size());
  std::uint32_t primary = 0;
  while (snapshot.next()) {
    switch (snapshot.tag_and_type()) {
      case bytes(1): {
        protozero::pbf_reader clock = snapshot.get_message();
        Reading reading;
        while (clock.next()) {
          switch (clock.tag_and_type()) {
            case varint(1):
              reading.clock = clock.get_uint32();
              break;
            case varint(2):
              reading.timestamp = clock.get_uint64();
              break;
            case varint(3):
              reading.incremental = clock.get_bool();
              break;
            case varint(4):
              reading.multiplier = clock.get_uint64();
              break;
            default:
              clock.skip();
          }
        }
        if (reading.multiplier == 0) reading.multiplier = 1;
        readings.push_back(reading);
        break;
      }
      case varint(2):
        primary = snapshot.get_uint32();
        break;
      default:
        snapshot.skip();
    }
  }
  // The first snapshot decides, so that all times of the trace are on one clock.
  if (primary_ == 0) primary_ = primary != 0 ? primary : kBoottime;
  const Reading* trace_clock = nullptr;
  const Reading* wall_clock = nullptr;
  for (const Reading& reading : readings) {
    if (reading.clock == primary_) trace_clock = &reading;
    if (reading.clock == kRealtime) wall_clock = &reading;
  }
  for (const Reading& reading : readings) {
    Clock& clock = clocks_[key_of(reading.clock, sequence)];
    clock.incremental = reading.incremental;
    clock.multiplier = reading.multiplier;
    clock.last = reading.timestamp;
    if (trace_clock == nullptr) continue;
    clock.at = scaled(reading.timestamp, reading.multiplier);
    clock.trace_at = scaled(trace_clock->timestamp, trace_clock->multiplier);
    clock.related = true;
  }
  if (trace_clock != nullptr && wall_clock != nullptr && !wall_offset_) {
    wall_offset_ = scaled(wall_clock->timestamp, wall_clock->multiplier) -
                   scaled(trace_clock->timestamp, trace_clock->multiplier);
  }
}

std::optional<Nanos> Clocks::to_trace(std::uint64_t timestamp, std::uint32_t clock_id,
                                      std::uint32_t sequence) {
  const bool own =
      clock_id == 0 || clock_id == primary_ || (primary_ == 0 && clock_id == kBoottime);
  if (own) {
    if (timestamp > kLimit) return std::nullopt;
    return static_cast<Nanos>(timestamp);
  }
  const auto found = clocks_.find(key_of(clock_id, sequence));
  if (found == clocks_.end() || !found->second.related) {
    losses_.add(
        "unrelated_clock", Severity::Warning,
        "Packets with times of a clock that no snapshot relates to the trace's own; the times "
        "are taken as they stand.");
  }
  if (found == clocks_.end()) {
    if (timestamp > kLimit) return std::nullopt;
    return static_cast<Nanos>(timestamp);
  }
  Clock& clock = found->second;
  if (clock.incremental) {
    if (__builtin_add_overflow(clock.last, timestamp, &clock.last)) return std::nullopt;
    timestamp = clock.last;
  }
  const std::int64_t value = scaled(timestamp, clock.multiplier);
  if (value >= kMaxTime) return std::nullopt;
  const std::int64_t time = clock.related ? clock.trace_at + (value - clock.at) : value;
  if (time > kMaxTime || time < -kMaxTime) return std::nullopt;
  return time;
}

}  // namespace sonde::perfetto_import
