#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/files.hpp"

namespace sonde::test {

// How a program ended and what it said.
struct Ran {
  int exit_code = -1;  // -1 where a signal ended it
  int signal = 0;
  bool timed_out = false;
  std::string out;
  std::string err;

  std::string all() const { return out + err; }
};

struct RunOptions {
  std::string input;       // a file for standard input; /dev/null where empty
  bool as_nobody = false;  // gives up root's rights first; exit code 126 where that fails
  std::chrono::seconds limit{60};
};

// Runs a program to its end and kills it when that takes longer than the limit.
inline Ran run_program(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
  const ScratchFolder folder;
  const std::string out = folder.write("out", "");
  const std::string err = folder.write("err", "");
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const pid_t child = ::fork();
  if (child == 0) {
    const std::string input = options.input.empty() ? "/dev/null" : options.input;
    if (::dup2(::open(input.c_str(), O_RDONLY), STDIN_FILENO) < 0 ||
        ::dup2(::open(out.c_str(), O_WRONLY), STDOUT_FILENO) < 0 ||
        ::dup2(::open(err.c_str(), O_WRONLY), STDERR_FILENO) < 0) {
      ::_exit(125);
    }
    constexpr uid_t kNobody = 65534;
    if (options.as_nobody && ::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0))
      ::_exit(126);
    ::execv(argv[0], argv.data());
    ::_exit(126);
  }

  Ran ran;
  if (child < 0) return ran;
  const auto deadline = std::chrono::steady_clock::now() + options.limit;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline && !ran.timed_out) {
      ran.timed_out = true;
      ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (WIFEXITED(status)) ran.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ran.signal = WTERMSIG(status);
  ran.out = read_bytes(out);
  ran.err = read_bytes(err);
  return ran;
}

}  // namespace sonde::test
