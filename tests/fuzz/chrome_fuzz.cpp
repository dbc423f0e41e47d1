#include "import/chrome/chrome.hpp"

#include "check_trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sonde::looks_like_chrome(bytes);
  sonde::fuzz::import_and_check(bytes, sonde::import_chrome);
  return 0;
}
