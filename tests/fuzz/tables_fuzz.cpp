// A .tables file of any content gives rows and losses, never anything worse.

#include "check_profile.hpp"
#include "import/sonde_run/tables/tables.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = make_plain_source(make_memory_reader(bytes), {});
  file::FileHeader header{};
  header.first = {1000, 5'000'000'000, 1'700'000'000'000'000'000};
  header.ticks_per_second = 100'000'000;
  const TickClock clock(header);
  TraceBuilder builder;
  ProcessTracks tracks(1, builder);
  LoadOptions options;
  // Slices that speak of frames, as a recording has them.
  WaitingPlaces places;
  const TrackId track = tracks.thread(7);
  for (std::uint32_t frame = 0; frame < 8; ++frame) {
    places.add(builder.add_slice(0, 10, track, builder.intern("op"), SliceKind::Operator), frame);
  }
  make_tables_reader()->read(*source, {clock, tracks, builder, options, true, &places});
  places.finish(builder);
  builder.nest(1);
  Trace trace = builder.finish();
  fuzz::check_trace(trace);
  fuzz::check_call_profile(trace);
  const ProcessMemory& memory = trace.process_memory();
  for (const ProcessMemory::Site& site : memory.sites) {
    SONDE_FUZZ_CHECK(!site.stack.valid() || site.stack.index() < trace.stacks().size());
    SONDE_FUZZ_CHECK(site.allocations >= 0 && site.allocated_bytes >= 0 && site.freed_bytes >= 0);
  }
  for (const ProcessMemory::Line& line : memory.lines) {
    SONDE_FUZZ_CHECK(line.line >= 0 && line.hits >= 0 && line.peak > INT64_MIN);
  }
  for (const ProcessMemory::Snapshot& snapshot : memory.snapshots) {
    for (const ProcessMemory::ObjectType& type : snapshot.types) {
      SONDE_FUZZ_CHECK(type.name.index() < trace.strings().size() && type.count >= 0);
    }
  }
  TraceSet set;
  set.push_back({".", "fuzz", "fuzz", std::move(trace)});
  const FunctionProfile profile = function_profile(set);
  SONDE_FUZZ_CHECK(profile.self.size() == profile.functions.size() * profile.costs.size());
  return 0;
}
