#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/perfetto/packets.hpp"
#include "trace/trace.hpp"

namespace sonde::perfetto {

// The uuids of all tracks that were described.
class TrackTable {
 public:
  // Writes a descriptor for each process, thread, stream and lane on which anything lies: `lanes`
  // tells how many lanes each track has, `processes` what else needs the track's process.
  TrackTable(const Trace& trace, const std::vector<std::uint32_t>& lanes,
             const std::vector<bool>& processes, PacketWriter& packets);

  std::uint64_t lane(TrackId track, std::uint32_t number) const {
    return lanes_[track.index()][number];
  }
  std::uint64_t process(TrackId track) const { return processes_[track.index()]; }
  // A track of its own below the process, for what counts there.
  std::uint64_t counter(TrackId track, std::string_view counter, std::string_view series);
  // The same for a sum of bytes that the events beside it tell as well.
  std::uint64_t total(TrackId track, std::string_view name);
  // For what belongs to no process.
  std::uint64_t global();

 private:
  std::uint64_t write_process(const Track& track, bool doubtful);
  std::uint64_t write_lane(const Track& track, std::uint64_t parent, std::uint32_t number);
  std::uint64_t write_counter(TrackId track, std::string_view name, bool bytes,
                              std::string_view description);
  std::uint64_t plain(std::uint64_t parent, std::string_view name, std::int64_t rank,
                      std::string_view description);
  std::string described(const Track& track, std::string_view type) const;

  const Trace& trace_;
  PacketWriter& packets_;
  std::vector<std::uint64_t> processes_;  // of each track
  std::vector<std::vector<std::uint64_t>> lanes_;
  std::uint64_t next_ = 1;
  std::uint64_t global_ = 0;
};

}  // namespace sonde::perfetto
