#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::cupti {

// The words for CUPTI's numbers, as PyTorch's profiler uses them.

std::string copy_name(std::uint8_t kind, std::uint8_t source, std::uint8_t target);
std::string fill_name(std::uint16_t memory);
std::string_view memory_kind(std::uint32_t kind);
std::string_view sync_name(std::uint32_t type);
std::string_view overhead_name(std::uint32_t kind);

// "cudaMalloc_v3020" -> "cudaMalloc". The driver's own "_v2" is a part of its names.
std::string_view without_version(std::string_view name);

}  // namespace sonde::cupti
