#include "cli/usage.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "cli/command.hpp"
#include "report/safe_text.hpp"

namespace sonde {

Error usage_error(std::string reason) {
  Error error;
  error.code = ErrorCode::UsageError;
  error.reason = std::move(reason);
  return error;
}

void print_error(const std::string& message) {
  fmt::print(stderr, "sonde: {}\n", safe_text(message));
}

void print_warning(const std::string& message) {
  fmt::print(stderr, "sonde: warning: {}\n", safe_text(message));
}

void print_note(const std::string& message) {
  fmt::print(stderr, "sonde: note: {}\n", safe_text(message));
}

int report_failure(const Error& error, const std::string& command) {
  if (error.code != ErrorCode::UsageError) {
    print_error(error.text());
    return kExitFailure;
  }
  const std::string help = command.empty() ? "sonde --help" : "sonde " + command + " --help";
  print_error(fmt::format("{} (see '{}')", error.text(), help));
  return kExitUsage;
}

}  // namespace sonde
