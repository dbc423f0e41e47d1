#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sampler/memory.hpp"

namespace sonde {

// One line of /proc/PID/maps that belongs to a file.
struct Mapping {
  Address start = 0;
  Address end = 0;
  std::uint64_t offset = 0;
  bool executable = false;
  bool deleted = false;  // the file is not there any more
  std::string path;
};

// The mapped files in the order of the text. Lines that make no sense are passed over.
std::vector<Mapping> parse_maps(std::string_view text);

}  // namespace sonde
