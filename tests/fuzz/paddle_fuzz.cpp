// The reader of Paddle's JSON, and the summary over what it makes of any bytes.

#include "paddle_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sonde::fuzz::check_paddle(data, size, sonde::looks_like_paddle_json, sonde::import_paddle_json);
  return 0;
}
