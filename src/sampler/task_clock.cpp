#include "sampler/task_clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "system/proc_files.hpp"

namespace sonde {
namespace {

constexpr std::size_t kMaxFiles = 400;

}  // namespace

bool parse_task_times(std::string_view text, TaskTimes& out) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint64_t* const number : {&out.cpu_nanos, &out.waited_nanos, &out.turns}) {
    while (at != end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, *number);
    if (error != std::errc()) return false;
    at = next;
  }
  return true;
}

bool parse_task_stat(std::string_view text, char& state, std::uint64_t& cpu_ticks) {
  // The name may hold blanks and parentheses, nothing behind it does.
  const std::size_t close = text.rfind(')');
  if (close == std::string_view::npos || close + 2 >= text.size()) return false;
  text.remove_prefix(close + 2);
  state = text[0];
  cpu_ticks = 0;
  for (int field = 3; field <= 15; ++field) {
    if (field >= 14) {
      std::uint64_t ticks = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), ticks).ec != std::errc()) {
        return false;
      }
      cpu_ticks += ticks;
    }
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return false;
    text.remove_prefix(blank + 1);
  }
  return true;
}

TaskClock::TaskClock(pid_t process)
    : folder_("/proc/" + std::to_string(process) + "/task/"),
      nanos_per_tick_(1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK))) {}

TaskClock::~TaskClock() {
  for (const auto& [thread, file] : files_) ::close(file);
}

bool TaskClock::read(pid_t thread, TaskTimes& out) {
  if (!exact_) return read_stat(thread, out);
  auto at = files_.find(thread);
  int file = at == files_.end() ? -1 : at->second;
  const bool keep = file < 0 && files_.size() < kMaxFiles;
  if (file < 0) {
    const std::string path = folder_ + std::to_string(thread) + "/schedstat";
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      // Kernels without schedstat count in ticks.
      if (errno != ENOENT || !read_stat(thread, out)) return false;
      exact_ = false;
      return true;
    }
    if (keep) files_.emplace(thread, file);
  }
  std::array<char, 128> text;
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  const bool read = got > 0 && parse_task_times({text.data(), static_cast<std::size_t>(got)}, out);
  if (!keep && at == files_.end()) ::close(file);
  if (!read) forget(thread);
  return read;
}

bool TaskClock::read_stat(pid_t thread, TaskTimes& out) const {
  char state = 0;
  std::uint64_t ticks = 0;
  const std::string path = folder_ + std::to_string(thread) + "/stat";
  if (!parse_task_stat(read_small_file(path), state, ticks)) return false;
  out = {ticks * nanos_per_tick_, 0, ticks};
  return true;
}

char TaskClock::state(pid_t thread) const {
  char state = 0;
  std::uint64_t ticks = 0;
  const std::string path = folder_ + std::to_string(thread) + "/stat";
  return parse_task_stat(read_small_file(path), state, ticks) ? state : 'X';
}

std::string TaskClock::name(pid_t thread) const {
  std::string out = read_small_file(folder_ + std::to_string(thread) + "/comm");
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

void TaskClock::forget(pid_t thread) {
  const auto at = files_.find(thread);
  if (at == files_.end()) return;
  ::close(at->second);
  files_.erase(at);
}

}  // namespace sonde
