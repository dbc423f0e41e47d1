#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/format.hpp"
#include "report/safe_text.hpp"

namespace sonde {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr std::size_t kBar = 30;

std::size_t stderr_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string progress_line(const LoadProgress& state, std::size_t width) {
  const std::string read = format_bytes(static_cast<double>(state.bytes_read));
  std::string rest;
  if (state.bytes_total > 0) {
    const double share = std::clamp(
        static_cast<double>(state.bytes_read) / static_cast<double>(state.bytes_total), 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(std::floor(share * kBar));
    rest = fmt::format("  [{}{}] {:3.0f}%  {}", std::string(filled, '#'),
                       std::string(kBar - filled, ' '), std::floor(100 * share), read);
  } else {
    rest = "  " + read;
  }
  const std::string name = state.path == "-" ? "standard input" : safe_text(state.path);
  const std::string head = "reading ";
  const std::size_t used = head.size() + rest.size() + 1;
  const std::size_t room = width > used + 8 ? width - used : 8;
  return head + shorten(name, room, Cut::Middle, "...") + rest;
}

Progress::Progress()
    : begin_(Clock::now()), drawn_(begin_), terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::update(const LoadProgress& state) {
  if (!terminal_) return;
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (now - begin_ < kPatience || (visible_ && now - drawn_ < kRedraw)) return;
  drawn_ = now;
  visible_ = true;
  fmt::print(stderr, "\r{}\x1b[K", progress_line(state, stderr_width()));
  std::fflush(stderr);
}

void Progress::finish() {
  const std::scoped_lock lock(mutex_);
  if (!visible_) return;
  visible_ = false;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace sonde
