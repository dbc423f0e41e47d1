#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "trace/builder.hpp"

namespace sonde {

// The tracks of one recorded process, shared by everything that is read of it.
class ProcessTracks {
 public:
  ProcessTracks(std::int64_t pid, TraceBuilder& builder) : pid_(pid), builder_(builder) {}

  TrackId thread(std::uint32_t id) {
    Track track;
    track.tid = id;
    return find(threads_, id, track);
  }
  // The track of this type that belongs to the domain.
  TrackId domain(TrackType type, StringId domain) {
    Track track;
    track.type = type;
    track.name = domain;
    return find(domains_, {type, domain}, track);
  }
  TrackId stream(std::int32_t device, std::int64_t stream) {
    Track track;
    track.type = TrackType::Stream;
    track.tid = stream;
    track.device = device;
    return find(streams_, {device, stream}, track);
  }
  using Streams = std::map<std::pair<std::int32_t, std::int64_t>, TrackId>;
  const Streams& streams() const { return streams_; }

 private:
  template <class Map>
  TrackId find(Map& map, const typename Map::key_type& key, Track& track) {
    const auto [at, added] = map.try_emplace(key);
    if (added) {
      track.pid = pid_;
      at->second = builder_.add_track(track);
    }
    return at->second;
  }

  std::int64_t pid_;
  TraceBuilder& builder_;
  std::map<std::uint32_t, TrackId> threads_;
  std::map<std::pair<TrackType, StringId>, TrackId> domains_;
  Streams streams_;
};

}  // namespace sonde
