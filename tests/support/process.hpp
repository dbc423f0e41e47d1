#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace sonde::testing {

struct ProcessResult {
  int status = -1;  // exit status, or 128 + the signal
  std::string out;
  std::string err;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

inline int exit_status(int raw) {
  return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

[[noreturn]] inline void execute(const std::vector<std::string>& arguments,
                                 const Environment& environment) {
  for (const auto& [name, value] : environment) {
    if (value.empty()) {
      ::unsetenv(name.c_str());
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  ::_exit(127);
}

// Runs a program to its end, with `input` as its standard input.
inline ProcessResult run_process(const std::vector<std::string>& arguments,
                                 const std::string& input = {},
                                 const Environment& environment = {}) {
  int in[2];
  int out[2];
  int err[2];
  if (::pipe(in) || ::pipe(out) || ::pipe(err)) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    for (const int fd : {in[0], in[1], out[0], out[1], err[0], err[1]}) ::close(fd);
    execute(arguments, environment);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  std::signal(SIGPIPE, SIG_IGN);
  ProcessResult result;
  std::size_t written = 0;
  bool feeding = true;
  bool out_open = true;
  bool err_open = true;
  ::fcntl(in[1], F_SETFL, O_NONBLOCK);
  while (out_open || err_open) {
    if (feeding && written == input.size()) {
      ::close(in[1]);
      feeding = false;
    }
    pollfd polled[3] = {{out_open ? out[0] : -1, POLLIN, 0},
                        {err_open ? err[0] : -1, POLLIN, 0},
                        {feeding ? in[1] : -1, POLLOUT, 0}};
    if (::poll(polled, 3, 60'000) <= 0) break;
    char buffer[65536];
    if (polled[0].revents) {
      const ssize_t got = ::read(out[0], buffer, sizeof buffer);
      if (got > 0) result.out.append(buffer, static_cast<std::size_t>(got));
      out_open = got > 0;
    }
    if (polled[1].revents) {
      const ssize_t got = ::read(err[0], buffer, sizeof buffer);
      if (got > 0) result.err.append(buffer, static_cast<std::size_t>(got));
      err_open = got > 0;
    }
    if (polled[2].revents) {
      const ssize_t put = ::write(in[1], input.data() + written, input.size() - written);
      if (put > 0) {
        written += static_cast<std::size_t>(put);
      } else {
        ::close(in[1]);
        feeding = false;
      }
    }
  }
  if (feeding) ::close(in[1]);
  ::close(out[0]);
  ::close(err[0]);
  int raw = 0;
  ::waitpid(child, &raw, 0);
  result.status = exit_status(raw);
  return result;
}

// Runs a program on a terminal of `columns` columns; both of its outputs are in `out`.
inline ProcessResult run_on_terminal(const std::vector<std::string>& arguments, int columns,
                                     const Environment& environment = {}) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 40;
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) execute(arguments, environment);
  ProcessResult result;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(terminal, buffer, sizeof buffer);
    if (got <= 0) break;
    result.out.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(terminal);
  int raw = 0;
  ::waitpid(child, &raw, 0);
  result.status = exit_status(raw);
  return result;
}

}  // namespace sonde::testing
