#pragma once

#include <cstdint>
#include <string_view>

namespace sonde {

// The floating point operations that PaddlePaddle estimates for one call of an operator, from the
// JSON of its input shapes, {"X": [[8, 16]], "Y": [[16, 32]]}. Files hold no attributes: an
// operator whose formula needs them, such as conv2d, has 0, as has one without a formula.
std::uint64_t paddle_flops(std::string_view event_name, std::string_view shapes);

}  // namespace sonde
