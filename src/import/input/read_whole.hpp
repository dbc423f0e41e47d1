#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "import/importer.hpp"

namespace sonde {

// For formats whose beginning cannot be understood without their end. More than this is refused.
inline constexpr std::uint64_t kMaxWholeFile = std::uint64_t{1} << 30;

// The inflated input, whole; grows with the bytes that are really there.
Result<std::string> read_whole(const ImportInput& input, std::uint64_t limit = kMaxWholeFile);

}  // namespace sonde
