#pragma once

#include <string>

#include "trace/trace.hpp"

namespace sonde {

// The members of the outermost object that stand before the events, each with a comma behind it.
void append_chrome_metadata(std::string& out, const Trace& trace);

}  // namespace sonde
