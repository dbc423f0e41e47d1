#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace sonde::testing {

struct ProcessResult {
  int status = -1;  // exit status; 128 and the signal where one ended it
  std::string out;
  std::string err;
};

// Variables set on top of the test's own environment.
using Environment = std::vector<std::pair<std::string, std::string>>;

namespace detail {

[[noreturn]] inline void start(const std::vector<std::string>& command,
                               const Environment& environment) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline std::string content(std::FILE* file) {
  std::string text;
  char buffer[4096];
  std::rewind(file);
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file))
    text.append(buffer, got);
  return text;
}

}  // namespace detail

// Runs a command to its end, with `input` as its standard input.
inline ProcessResult run_process(const std::vector<std::string>& command,
                                 const std::string& input = {},
                                 const Environment& environment = {}) {
  // Files, not pipes: neither side can wait for the other.
  std::FILE* in = std::tmpfile();
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  ProcessResult result;
  if (in && out && err) {
    std::fwrite(input.data(), 1, input.size(), in);
    std::rewind(in);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(::fileno(in), STDIN_FILENO);
      ::dup2(::fileno(out), STDOUT_FILENO);
      ::dup2(::fileno(err), STDERR_FILENO);
      detail::start(command, environment);
    }
    if (child > 0) result.status = detail::wait_for(child);
    result.out = detail::content(out);
    result.err = detail::content(err);
  }
  for (std::FILE* file : {in, out, err}) {
    if (file) std::fclose(file);
  }
  return result;
}

// Runs a command on a terminal of its own, `width` columns wide. What it writes to either stream is
// in `out`, with the terminal's line ends.
inline ProcessResult run_on_terminal(const std::vector<std::string>& command, int width,
                                     const Environment& environment = {}) {
  winsize size{};
  size.ws_row = 50;
  size.ws_col = static_cast<unsigned short>(width);
  ProcessResult result;
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) detail::start(command, environment);
  if (child < 0) return result;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(terminal, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // EIO: nobody holds the other end any more
    result.out.append(buffer, static_cast<std::size_t>(got));
  }
  result.status = detail::wait_for(child);
  ::close(terminal);
  return result;
}

}  // namespace sonde::testing
