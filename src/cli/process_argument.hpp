#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sonde {

// "1234" -> 1234; an error that says what is wrong for everything that is no process's number.
Result<pid_t> parse_process(const std::string& text);

// The command line of a process; its name where there is none.
std::vector<std::string> command_of(pid_t process);

// The same as one line for people.
std::string command_text(pid_t process);

// From now on Ctrl-C, SIGTERM and SIGHUP set this instead of ending the program.
const std::atomic<bool>& stop_on_signals();

// "2.5" -> 2.5; an error where it is no number above 0.
Result<double> parse_seconds(const std::string& option, const std::string& text);

}  // namespace sonde
