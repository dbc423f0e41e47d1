// The reader of Paddle's JSON, and the summary over what it makes of any bytes.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_trace.hpp"
#include "import/paddle/paddle.hpp"
#include "report/styles/paddle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  looks_like_paddle_json(bytes);
  Result<OpenedInput> input = open_raw(make_memory_reader(bytes));
  if (!input) return 0;
  LoadOptions options;
  options.threads = 1;
  const Result<Trace> trace = import_paddle_json({*input->source, size, "fuzz", options});
  if (!trace) return 0;
  fuzz::check_trace(*trace);
  PaddleRequest request;
  request.thread_sep = size % 2 == 1;
  SONDE_FUZZ_CHECK(!paddle_summary(*trace, request).empty());
  request.views = {"overview", "model",       "distribution", "operator",
                   "kernel",   "userdefined", "memory"};
  SONDE_FUZZ_CHECK(!paddle_summary(*trace, request).empty());
  return 0;
}
