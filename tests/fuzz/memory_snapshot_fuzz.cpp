// The reader of PyTorch's memory snapshots, over any pickle.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_trace.hpp"
#include "import/memory_snapshot/memory_snapshot.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sonde::looks_like_memory_snapshot(bytes);
  sonde::fuzz::import_and_check(bytes, sonde::import_memory_snapshot);
  return 0;
}
