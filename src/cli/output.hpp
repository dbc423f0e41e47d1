#pragma once

#include <string>
#include <string_view>

#include "cli/options.hpp"
#include "report/table.hpp"

namespace sonde {

// Writes a command's whole result: to standard output, or with a path ("-" and "" are standard
// output) to a file, which then holds all of it or is as it was before. Returns the exit status;
// failures are printed. A reader that went away, as in "sonde report … | head", is no failure.
int write_output(std::string_view text, const std::string& path);

// --output and --color, as the commands have them that print for people.
void define_output(Options& options, std::string& path, std::string& color);

// How text for people is rendered where it goes. `color` is "auto", "always" or "never"; NO_COLOR
// in the environment turns "auto" off. Width and bars follow the terminal; elsewhere it is 100
// columns of plain text.
RenderOptions render_options(const std::string& color, const std::string& path);

// The same for standard error, where everything goes that is not a command's result. A failure to
// write there cannot be told to anybody.
RenderOptions error_render_options();
void write_error_output(std::string_view text);

}  // namespace sonde
