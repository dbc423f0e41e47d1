#pragma once

#include <string>
#include <string_view>

namespace sonde {

// The name of a C++ function or type as it stands in the source. What is no mangled name comes back
// as it is, and so does one whose text would become very long: a few hundred bytes may stand for
// gigabytes.
std::string demangled(std::string_view name);

}  // namespace sonde
