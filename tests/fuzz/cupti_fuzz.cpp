// A .cupti file of any content gives slices and losses, never anything worse.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "import/importer.hpp"
#include "import/input/byte_source.hpp"
#include "import/sonde_run/cupti/cupti_companion.hpp"
#include "import/sonde_run/process_tracks.hpp"
#include "import/sonde_run/tick_clock.hpp"
#include "trace/file_format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = sonde::make_plain_source(sonde::make_memory_reader(bytes), {});
  sonde::file::FileHeader header{};
  header.first = {1000, 5'000'000'000, 1'700'000'000'000'000'000};
  header.ticks_per_second = 1'000'000'000;
  const sonde::TickClock clock(header);
  sonde::TraceBuilder builder;
  sonde::ProcessTracks tracks(100, builder);
  sonde::LoadOptions options;
  const auto companion = sonde::cupti_companion().make();
  companion->read(*source, {clock, tracks, builder, options});
  builder.nest(1);
  companion->link(builder);
  const sonde::Trace trace = builder.finish();
  for (const sonde::SliceId slice : sonde::all_slices(trace)) {
    if (trace.slices().duration(slice) < 0) __builtin_trap();
    if (trace.slices().start(slice) < 0) __builtin_trap();
  }
  return 0;
}
