#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace sonde {

// "1G" -> 1073741824; K, M, G and T with or without a B behind. Nothing for anything else.
std::optional<std::uint64_t> parse_size(const std::string& text);

// The same for the value of an option; the error says what is wrong with it.
Result<std::uint64_t> size_option(const char* option, const std::string& value);

}  // namespace sonde
