#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace sonde::bench {

// Writes to `out` (gzip) a trace of about `bytes` of JSON: the events of `in` again and again, each
// time with later times and larger ids. Returns the bytes of JSON written.
Result<std::uint64_t> enlarge_trace(const std::string& in, const std::string& out,
                                    std::uint64_t bytes);

}  // namespace sonde::bench
