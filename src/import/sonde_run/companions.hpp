#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/importer.hpp"
#include "import/sonde_run/places.hpp"
#include "import/sonde_run/process_tracks.hpp"
#include "import/sonde_run/tick_clock.hpp"
#include "trace/builder.hpp"

namespace sonde {

// What a recording shares with the files that agents left beside it.
struct CompanionContext {
  const TickClock& clock;
  ProcessTracks& tracks;
  TraceBuilder& builder;
  const LoadOptions& options;
  bool clean_end = true;            // of the recording
  WaitingPlaces* places = nullptr;  // those of the recording that wait for its tables
};

// One agent's file of a process, read into the same trace as its recording.
class Companion {
 public:
  virtual ~Companion() = default;
  // Adds slices, rows, samples and sums. Damage goes into the builder's ledger.
  virtual void read(ByteSource& source, const CompanionContext& context) = 0;
  // After all slices have found their parents.
  virtual void link(TraceBuilder& builder) { (void)builder; }
};

// "NAME.sonde" may have "NAME<ending>" beside it.
struct CompanionType {
  std::string_view ending;
  std::string_view description;
  bool (*sniff)(std::string_view head);
  std::unique_ptr<Companion> (*make)();
};
std::span<const CompanionType> companion_types();

bool has_companions(const std::string& path);
// Reads what lies beside the recording at `path`. A file that cannot be read, or is none, is a
// loss.
std::vector<std::unique_ptr<Companion>> read_companions(const std::string& path,
                                                        const CompanionContext& context);

}  // namespace sonde
