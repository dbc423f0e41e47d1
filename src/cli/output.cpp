#include "cli/output.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/command.hpp"
#include "cli/usage.hpp"

namespace sonde {
namespace {

constexpr std::size_t kPlainWidth = 100;
constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kWidest = 200;

bool to_standard_output(const std::string& path) { return path.empty() || path == "-"; }

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

int fail(const std::string& path, int code) {
  print_error(fmt::format("{}: cannot write: {}", path, std::strerror(code)));
  return kExitFailure;
}

// A device, pipe or terminal cannot be replaced by a rename.
bool is_special(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

int write_in_place(std::string_view text, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (!file) return fail(path, errno);
  const int code = write_all(fileno(file), text);
  std::fclose(file);
  return code ? fail(path, code) : kExitOk;
}

int replace_file(std::string_view text, const std::string& path) {
  std::string scratch = path + ".XXXXXX";
  const int file = ::mkstemp(scratch.data());
  if (file < 0) return fail(path, errno);
  int code = write_all(file, text);
  // mkstemp() makes files for the owner alone; the result is an ordinary file.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (!code && ::fchmod(file, 0666 & ~mask) != 0) code = errno;
  if (::close(file) != 0 && !code) code = errno;
  if (!code && std::rename(scratch.c_str(), path.c_str()) != 0) code = errno;
  if (!code) return kExitOk;
  ::unlink(scratch.c_str());
  return fail(path, code);
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
  if (to_standard_output(path)) {
    const int code = write_all(STDOUT_FILENO, text);
    if (code && code != EPIPE) return fail("standard output", code);
    return kExitOk;
  }
  return is_special(path) ? write_in_place(text, path) : replace_file(text, path);
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

RenderOptions render_options(const std::string& color, const std::string& path) {
  const bool terminal = to_standard_output(path) && ::isatty(STDOUT_FILENO) == 1;
  return options_for(color, terminal, STDOUT_FILENO);
}

RenderOptions error_render_options() {
  return options_for("auto", ::isatty(STDERR_FILENO) == 1, STDERR_FILENO);
}

void write_error_output(std::string_view text) { write_all(STDERR_FILENO, text); }

}  // namespace sonde
