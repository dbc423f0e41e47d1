#include "cli/output.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/output_file.hpp"
#include "cli/usage.hpp"

namespace sonde {
namespace {

constexpr std::size_t kPlainWidth = 100;
constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kWidest = 200;

// 0, or the errno of the write that failed.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::size_t terminal_width(int file) {
  winsize size{};
  if (::ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kPlainWidth;
  return std::min(std::max<std::size_t>(size.ws_col, kNarrowest), kWidest);
}

bool utf8_terminal() {
  // As the C library decides it, without setting the locale: no number must depend on that.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string text = value;
    return text.find("UTF-8") != std::string::npos || text.find("utf8") != std::string::npos ||
           text.find("utf-8") != std::string::npos;
  }
  return false;
}

}  // namespace

int write_output(std::string_view text, const std::string& path) {
  Result<std::unique_ptr<OutputFile>> output = OutputFile::open(path);
  std::optional<Error> failure;
  if (!output) {
    failure = output.error();
  } else if (const int code = write_all((*output)->file(), text)) {
    // A reader of standard output who has seen enough is no failure.
    if (code != EPIPE || !is_standard_output(path)) failure = (*output)->cannot_write(code);
  } else {
    failure = (*output)->commit();
  }
  if (!failure) return kExitOk;
  print_error(failure->text());
  return kExitFailure;
}

namespace {

RenderOptions options_for(const std::string& color, bool terminal, int file) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool allowed = !(no_color && *no_color) && !(term && std::string_view(term) == "dumb");
  RenderOptions out;
  out.width = terminal ? terminal_width(file) : kPlainWidth;
  out.color = color == "always" || (color != "never" && terminal && allowed);
  out.unicode = terminal && utf8_terminal();
  return out;
}

}  // namespace

void define_output(Options& options, std::string& path, std::string& color) {
  Option& output =
      options.text(path, "-o,--output", "FILE", "write to this file instead of standard output");
  output.hint = ValueHint::File;
  Option& colours = options.text(color, "--color", "WHEN", "colours");
  colours.choices = {"auto", "always", "never"};
  colours.only_choices = true;
  colours.default_text = "auto: on a terminal, unless NO_COLOR is set";
}

RenderOptions render_options(const std::string& color, const std::string& path) {
  const bool terminal = is_standard_output(path) && ::isatty(STDOUT_FILENO) == 1;
  return options_for(color, terminal, STDOUT_FILENO);
}

RenderOptions error_render_options() {
  return options_for("auto", ::isatty(STDERR_FILENO) == 1, STDERR_FILENO);
}

void write_error_output(std::string_view text) { write_all(STDERR_FILENO, text); }

}  // namespace sonde
