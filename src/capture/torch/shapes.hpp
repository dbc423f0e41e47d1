#pragma once

#include <cstdint>

#include "capture/torch/abi.hpp"

namespace sonde::capture::torch {

// The shapes of an operator's inputs as a number of a text such as "[[32, 64], []]"; 0 where they
// are not known. What is no tensor, and a list of tensors, stands as [].
std::uint32_t shapes_of(const void* record, const Places& places);

}  // namespace sonde::capture::torch
