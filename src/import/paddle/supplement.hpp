#pragma once

#include <string>
#include <string_view>

namespace sonde {

// A Python traceback ("File '…', line 3, in f" and the line of code below it, outermost first) as
// Sonde keeps call stacks: one text per frame, joined by ';', innermost first. Lines end with a
// line feed or with the two characters \n.
std::string paddle_stack(std::string_view traceback);

}  // namespace sonde
