#include "cli/process_argument.hpp"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "cli/usage.hpp"
#include "report/safe_text.hpp"
#include "system/proc_files.hpp"

namespace sonde {
namespace {

std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void ask_to_stop(int) { asked_to_stop = true; }

}  // namespace

Result<pid_t> parse_process(const std::string& text) {
  pid_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out <= 0) {
    return usage_error("'" + text + "' is no number of a process");
  }
  if (out == ::getpid()) return usage_error("that is Sonde itself");
  return out;
}

std::vector<std::string> command_of(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  const std::string text = read_small_file(folder + "/cmdline");
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (out.empty() || out.front().empty()) {
    std::string name = read_small_file(folder + "/comm");
    if (!name.empty() && name.back() == '\n') name.pop_back();
    out = {name.empty() ? "process-" + std::to_string(process) : name};
  }
  return out;
}

std::string command_text(pid_t process) {
  std::string out;
  for (const std::string& word : command_of(process)) (out += out.empty() ? "" : " ") += word;
  return shorten(safe_text(out), 200, Cut::End, "...");
}

const std::atomic<bool>& stop_on_signals() {
  // Without SA_RESTART: a pause ends at once.
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  return asked_to_stop;
}

Result<double> parse_seconds(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !std::isfinite(value) || value <= 0 || value > 1e9) {
    return usage_error(option + " needs a number of seconds above 0, not '" + text + "'");
  }
  return value;
}

}  // namespace sonde
