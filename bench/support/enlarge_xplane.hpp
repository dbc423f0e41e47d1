#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace sonde::bench {

// Writes to `out` an XPlane profile of about `bytes`: each plane of `in` once, with its lines again
// and again, each time later. One plane then holds most of the file, as in real large profiles.
// Returns the bytes written.
Result<std::uint64_t> enlarge_xplane(const std::string& in, const std::string& out,
                                     std::uint64_t bytes);

}  // namespace sonde::bench
