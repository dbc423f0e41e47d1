#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sonde {

// What GNU's C++ library made of strings in the years in which programs printed its hash maps in
// the order of iteration. Own code, so that the answer is the same on every machine and with every
// library.

// std::hash<std::string> on 64-bit machines.
std::uint64_t libstdcxx_hash(std::string_view text);

// The order in which a std::unordered_map of that time gives back `names` that were inserted one
// after the other into an empty map: positions in `names`, which are all different.
std::vector<std::uint32_t> libstdcxx_map_order(std::span<const std::string_view> names);

}  // namespace sonde
