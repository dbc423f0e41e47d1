#include <algorithm>
#include <string>

#include "check_trace.hpp"

namespace {

// Unpacks at most a few megabytes of the bytes, in pieces of `step`.
std::string unpack(std::string_view bytes, std::size_t step, bool& ended) {
  sonde::Result<sonde::OpenedInput> input = sonde::open_raw(sonde::make_memory_reader(bytes));
  SONDE_FUZZ_CHECK(input.ok());
  SONDE_FUZZ_CHECK(input->head.size() <= sonde::kHeadBytes);
  constexpr std::size_t kEnough = 4 * 1024 * 1024;
  std::string text;
  std::string piece(step, '\0');
  for (ended = false; !ended && text.size() < kEnough;) {
    const sonde::Result<std::size_t> got = input->source->read(piece);
    SONDE_FUZZ_CHECK(got.ok() && *got <= step);
    text.append(piece, 0, *got);
    ended = *got < step;
  }
  SONDE_FUZZ_CHECK(text.size() < input->head.size() ||
                   std::equal(input->head.begin(), input->head.end(), text.begin()));
  SONDE_FUZZ_CHECK(input->source->consumed() <= bytes.size());
  if (ended) {
    SONDE_FUZZ_CHECK(*input->source->read(piece) == 0);
  }
  return text;
}

}  // namespace

// The decoders of packed files: the same text whatever the size of the pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  bool large_ended = false;
  bool small_ended = false;
  const std::string large = unpack(bytes, 1024 * 1024, large_ended);
  const std::string small = unpack(bytes, 1 + size % 5000, small_ended);
  if (large_ended && small_ended) {
    SONDE_FUZZ_CHECK(large == small);
  }
  return 0;
}
