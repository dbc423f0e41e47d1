#pragma once

#include <string>
#include <vector>

namespace sonde {

// A curve in one line of text, from 0 to the largest value; `unicode` draws it with blocks, else it
// is ASCII. One character for each value.
std::string sparkline(const std::vector<double>& values, bool unicode);

}  // namespace sonde
