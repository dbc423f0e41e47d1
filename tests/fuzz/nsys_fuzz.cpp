// The reader of Nsight Systems exports, over whatever SQLite makes of the bytes.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_trace.hpp"
#include "import/nsys/nsys.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sonde::looks_like_nsys(bytes);
  sonde::fuzz::import_and_check(bytes, sonde::import_nsys);
  return 0;
}
