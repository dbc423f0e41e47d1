#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_trace.hpp"
#include "import/paddle/paddle.hpp"
#include "report/styles/paddle.hpp"

namespace sonde::fuzz {

// One of Paddle's readers, and the summary over what it makes of the bytes.
inline void check_paddle(const std::uint8_t* data, std::size_t size,
                         bool (*sniff)(std::string_view),
                         Result<Trace> (*import)(const ImportInput&)) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sniff(bytes);
  Result<OpenedInput> input = open_raw(make_memory_reader(bytes));
  if (!input) return;
  LoadOptions options;
  options.threads = 1;
  const Result<Trace> trace = import({*input->source, size, "fuzz", options});
  if (!trace) return;
  check_trace(*trace);
  PaddleRequest request;
  request.thread_sep = size % 2 == 1;
  SONDE_FUZZ_CHECK(!paddle_summary(*trace, request).empty());
  request.views = {"overview", "model",       "distribution", "operator",
                   "kernel",   "userdefined", "memory"};
  SONDE_FUZZ_CHECK(!paddle_summary(*trace, request).empty());
}

}  // namespace sonde::fuzz
