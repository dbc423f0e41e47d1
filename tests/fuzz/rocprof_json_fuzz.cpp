// The reader behind import_rocprof_json(), over any bytes.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_trace.hpp"
#include "import/rocprof/rocprof.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sonde::looks_like_rocprof_json(bytes);
  sonde::fuzz::import_and_check(bytes, sonde::import_rocprof_json);
  return 0;
}
