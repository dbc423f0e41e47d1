// A .sonde file of any content gives a trace or an error, never anything worse.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "import/importer.hpp"
#include "import/input/byte_source.hpp"
#include "import/sonde_run/sonde_run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Without the decoders: a mutated magic number would only ever reach those.
  const auto source = sonde::make_plain_source(sonde::make_memory_reader(bytes), {});
  sonde::LoadOptions options;
  options.threads = 1;
  const sonde::Result<sonde::Trace> trace =
      sonde::import_sonde_run({*source, bytes.size(), "fuzz.sonde", options});
  if (!trace) return 0;
  for (const sonde::SliceId slice : sonde::all_slices(*trace)) {
    if (trace->slices().duration(slice) < 0) __builtin_trap();
    if (trace->slices().start(slice) < 0) __builtin_trap();
    for (const sonde::SliceArg& argument : trace->arguments().of(slice)) {
      if (argument.owner() != slice) __builtin_trap();
    }
  }
  return 0;
}
