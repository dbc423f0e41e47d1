#pragma once

#include <string_view>

namespace sonde {

// Whether a Python file is the program's own: neither of the standard library nor of an installed
// package, nor code without a file that a library made. `file` is as the interpreter names it, or
// as torch.profiler does: below the folder that it was imported from.
bool is_program_file(std::string_view file);

}  // namespace sonde
