#pragma once

#include <string>

#include "base/result.hpp"

namespace sonde {

Error usage_error(std::string reason);

// Prints "sonde: MESSAGE" on standard error, safe for a terminal.
void print_error(const std::string& message);
void print_warning(const std::string& message);
void print_note(const std::string& message);

// Prints the error and where to read on; returns the exit status that fits: 2 for wrong usage.
int report_failure(const Error& error, const std::string& command);

}  // namespace sonde
