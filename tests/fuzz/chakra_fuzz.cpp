// The reader behind import_chakra(), over any bytes.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_trace.hpp"
#include "import/execution_trace/execution_trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sonde::looks_like_chakra(bytes);
  sonde::fuzz::import_and_check(bytes, sonde::import_chakra);
  return 0;
}
