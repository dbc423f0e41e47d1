#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/loss_ledger.hpp"
#include "trace/trace.hpp"

namespace sonde::perfetto_import {

// Brings the times of all packets to one clock, by the snapshots that a trace holds of several
// clocks at one moment.
class Clocks {
 public:
  explicit Clocks(LossLedger& losses) : losses_(losses) {}

  void add_snapshot(std::string_view message, std::uint32_t sequence);

  // A packet's time on the trace's clock in nanoseconds; nothing where it is out of range. `clock`
  // 0: the trace's own.
  std::optional<Nanos> to_trace(std::uint64_t timestamp, std::uint32_t clock,
                                std::uint32_t sequence);

  // Unix time minus trace time, where a snapshot tells.
  std::optional<Nanos> wall_offset() const { return wall_offset_; }

 private:
  static constexpr std::uint32_t kRealtime = 1;
  static constexpr std::uint32_t kBoottime = 6;
  static constexpr std::uint32_t kFirstOfSequence = 64;
  static constexpr std::uint32_t kFirstGlobal = 128;

  struct Clock {
    std::uint64_t last = 0;  // of incremental clocks
    std::uint64_t multiplier = 1;
    bool incremental = false;
    std::int64_t at = 0;        // a moment on this clock, in nanoseconds
    std::int64_t trace_at = 0;  // the same moment on the trace's clock
    bool related = false;
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // sequence (0: of all) and clock
  static Key key_of(std::uint32_t clock, std::uint32_t sequence) {
    const bool scoped = clock >= kFirstOfSequence && clock < kFirstGlobal;
    return {scoped ? sequence : 0, clock};
  }

  LossLedger& losses_;
  std::map<Key, Clock> clocks_;
  std::uint32_t primary_ = 0;  // 0: not told yet
  std::optional<Nanos> wall_offset_;
};

}  // namespace sonde::perfetto_import
