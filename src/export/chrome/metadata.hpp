#pragma once

#include <cstddef>
#include <string>

#include "trace/trace.hpp"

namespace sonde {

// The members of the outermost object that stand before the events, each with a comma behind it.
// Returns how many of the file's own could not be written whole.
std::size_t append_chrome_metadata(std::string& out, const Trace& trace);

}  // namespace sonde
