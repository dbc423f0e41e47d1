#include "cli/live_terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "sampler/thread_stopper.hpp"

namespace sonde {
namespace {

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the terminal is gone: SIGHUP ends the program
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

winsize size_now() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    size.ws_col = 80;
    size.ws_row = 24;
  }
  return size;
}

}  // namespace

LiveTerminal::LiveTerminal() {
  if (!::isatty(STDIN_FILENO) || !::isatty(STDOUT_FILENO)) return;
  if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios now = before_;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  if (::tcsetattr(STDIN_FILENO, TCSANOW, &now) != 0) return;
  ok_ = true;
  write_all("\x1b[?1049h\x1b[?25l");  // a screen of its own, no cursor
}

LiveTerminal::~LiveTerminal() {
  if (!ok_) return;
  write_all("\x1b[?25h\x1b[?1049l");
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::size_t LiveTerminal::width() const { return size_now().ws_col; }
std::size_t LiveTerminal::height() const { return std::max<std::size_t>(size_now().ws_row, 4); }

void LiveTerminal::draw(std::string_view text) const {
  std::string out = "\x1b[H";
  const std::size_t most = height();
  for (std::size_t row = 0; row < most && !text.empty(); ++row) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (row > 0) out += "\r\n";
    out += text.substr(0, end);
    out += "\x1b[K";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  write_all(out + "\x1b[J");
}

char LiveTerminal::key(std::uint64_t time) const {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const std::uint64_t now = monotonic_nanos();
  const std::uint64_t left = time > now ? time - now : 0;
  const timespec timeout{static_cast<time_t>(left / 1'000'000'000),
                         static_cast<long>(left % 1'000'000'000)};
  if (::ppoll(&input, 1, &timeout, nullptr) <= 0) return 0;
  char key = 0;
  const ssize_t got = ::read(STDIN_FILENO, &key, 1);
  return got == 1 ? key : got == 0 ? 'q' : '\0';
}

}  // namespace sonde
