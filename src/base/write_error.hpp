#pragma once

#include <string>

#include "base/result.hpp"

namespace sonde {

// Why `path` could not be written, for errno `code`, and what can be done about it. `what` is what
// was tried: "cannot write".
Error write_error(const std::string& what, const std::string& path, int code);

}  // namespace sonde
