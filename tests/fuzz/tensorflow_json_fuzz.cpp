// A timeline of TensorFlow or JAX of any content gives a trace or an error, never anything worse.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_trace.hpp"
#include "import/tensorflow_json/tensorflow_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sonde::looks_like_tensorflow_json(bytes);
  sonde::fuzz::import_and_check(bytes, sonde::import_tensorflow_json);
  return 0;
}
