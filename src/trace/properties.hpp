#pragma once

#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace sonde {

// A property of the trace as plain text: a JSON string without its quotes and escapes, any other
// JSON value as it stands; empty where there is none of that name.
std::string plain_property(const TraceMeta& meta, std::string_view key);

}  // namespace sonde
