// The reader of ONNX Runtime's profiles, over any text.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_trace.hpp"
#include "import/onnxruntime/onnxruntime.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sonde::looks_like_onnxruntime(bytes);
  sonde::fuzz::import_and_check(bytes, sonde::import_onnxruntime);
  return 0;
}
