#include "import/vprof/vprof.hpp"

#include "check_profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sonde::looks_like_vprof(bytes);
  sonde::fuzz::import_profile_and_check(bytes, sonde::import_vprof);
  return 0;
}
