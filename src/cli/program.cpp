#include "cli/program.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "system/proc_files.hpp"
#include "system/process_tree.hpp"

namespace sonde {
namespace {

constexpr std::int64_t kTickNanos = 100'000'000;

constexpr std::array kForwarded = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP};

// main() ignores SIGPIPE, which a program would inherit: it must get what Sonde itself got.
struct InitialPipeAction {
  struct sigaction action {};
  InitialPipeAction() { ::sigaction(SIGPIPE, nullptr, &action); }
};
const InitialPipeAction kInitialPipe;

std::int64_t monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The words and the environment as exec() wants them; made before fork(), behind which nothing may
// be allocated.
struct ExecArguments {
  std::vector<std::string> variables;
  std::vector<char*> words;
  std::vector<char*> environment;
};

ExecArguments exec_arguments(const std::vector<std::string>& command,
                             const Program::Environment& changes) {
  ExecArguments out;
  for (const std::string& word : command) out.words.push_back(const_cast<char*>(word.c_str()));
  out.words.push_back(nullptr);
  for (char** at = environ; *at; ++at) {
    const std::string_view variable = *at;
    const std::string_view name = variable.substr(0, variable.find('='));
    const bool changed = std::any_of(changes.begin(), changes.end(),
                                     [&](const auto& change) { return change.first == name; });
    if (!changed) out.environment.push_back(*at);
  }
  for (const auto& [name, value] : changes) {
    if (value) out.variables.push_back(name + "=" + *value);
  }
  for (std::string& variable : out.variables) out.environment.push_back(variable.data());
  out.environment.push_back(nullptr);
  return out;
}

Error start_error(const std::string& program, int code, int& status) {
  status = code == ENOENT || code == ENOTDIR ? 127 : 126;
  std::string reason = std::string("cannot be run: ") + std::strerror(code);
  std::string hint;
  struct stat info {};
  const bool is_path = program.find('/') != std::string::npos;
  const bool is_python = program.ends_with(".py");
  const bool there = is_path && ::stat(program.c_str(), &info) == 0;
  if (code == ENOENT && there) {
    status = 126;
    reason = "cannot be run: the interpreter that it names is not there";
    hint = "look at its first line (#!)";
  } else if (code == ENOENT) {
    reason = is_path ? "no such program" : "no such program in $PATH";
    hint = "check the spelling";
    if (!is_path && ::access(program.c_str(), F_OK) == 0) {
      hint = (is_python ? "did you mean python3 " : "did you mean ./") + program + "?";
    }
  } else if (code == EACCES && there && S_ISDIR(info.st_mode)) {
    reason = "is a folder";
    hint = "name a program in it";
  } else if (code == EACCES) {
    reason = "is not executable";
    if (there) hint = is_python ? "did you mean python3 " + program + "?" : "chmod +x " + program;
  }
  return {ErrorCode::IoError, reason, program, {}, hint};
}

// While the program runs, its streams are its own: a reader must see the end of a pipe when the
// program closes it, not when Sonde ends.
void let_go_of_streams() {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) return;
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  if (nothing > STDERR_FILENO) ::close(nothing);
}

}  // namespace

Result<Program> Program::start(const std::vector<std::string>& command,
                               const Environment& environment, int& status) {
  Program out;
  ExecArguments arguments = exec_arguments(command, environment);
  int failure[2];
  if (::pipe2(failure, O_CLOEXEC) != 0) {
    status = 126;
    return Error{ErrorCode::IoError,
                 std::string("cannot start: ") + std::strerror(errno),
                 command[0],
                 {},
                 {}};
  }

  ::sigemptyset(&out.watched_);
  ::sigaddset(&out.watched_, SIGCHLD);
  ::sigaddset(&out.watched_, SIGCONT);
  for (const int signal : kForwarded) ::sigaddset(&out.watched_, signal);
  ::pthread_sigmask(SIG_BLOCK, &out.watched_, &out.before_);
  // Where SIGCHLD is ignored, nobody can be waited for.
  struct sigaction plain {};
  struct sigaction child_before {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &plain, &child_before);

  out.witness_ = GroupWitness::start();
  out.pid_ = ::fork();
  if (out.pid_ == 0) {
    ::sigaction(SIGCHLD, &child_before, nullptr);
    ::sigaction(SIGPIPE, &kInitialPipe.action, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &out.before_, nullptr);
    ::execvpe(arguments.words[0], arguments.words.data(), arguments.environment.data());
    const int code = errno;
    // Nothing more can be done where even this fails.
    if (::write(failure[1], &code, sizeof code) < 0) ::_exit(126);
    ::_exit(127);
  }
  int code = out.pid_ < 0 ? errno : 0;
  ::close(failure[1]);
  if (out.pid_ > 0) {
    while (::read(failure[0], &code, sizeof code) < 0 && errno == EINTR) {
    }
  }
  ::close(failure[0]);
  if (code != 0) {
    if (out.pid_ > 0) ::waitpid(out.pid_, nullptr, 0);
    out.restore_signals();
    return start_error(command[0], code, status);
  }
  let_go_of_streams();
  return out;
}

ProgramEnd Program::wait(const std::function<void()>& tick) {
  ProgramEnd end;
  std::int64_t next_tick = monotonic_now();
  for (;;) {
    int raw = 0;
    const pid_t ended = ::wait4(pid_, &raw, WNOHANG | WUNTRACED, &end.usage);
    if (ended == pid_ && WIFSTOPPED(raw)) {
      follow_stop(WSTOPSIG(raw));
    } else if (ended == pid_) {
      if (WIFSIGNALED(raw)) end.signal = WTERMSIG(raw);
      end.exit_code = end.signal ? 128 + *end.signal : WEXITSTATUS(raw);
      return end;
    } else if (ended < 0 && errno != EINTR) {
      end.exit_code = 1;  // cannot happen: the program is our child
      return end;
    }
    const std::int64_t now = monotonic_now();
    if (now >= next_tick) {
      tick();
      // A tick that took long, or a stop, is not made up for.
      next_tick = std::max(next_tick + kTickNanos, monotonic_now());
    }
    const std::int64_t left = std::max<std::int64_t>(0, next_tick - monotonic_now());
    const timespec timeout{static_cast<time_t>(left / 1'000'000'000),
                           static_cast<long>(left % 1'000'000'000)};
    siginfo_t info{};
    if (::sigtimedwait(&watched_, &info, &timeout) > 0) forward(info);
  }
}

void Program::forward(const siginfo_t& info) const {
  const int signal = info.si_signo;
  if (signal == SIGCHLD || signal == SIGCONT) return;
  // What goes to the whole process group, from the terminal or by kill(), the program has already.
  const bool to_group = witness_.saw(signal);
  const bool from_terminal = info.si_code == SI_KERNEL;
  if (!to_group && !from_terminal && info.si_pid != pid_) ::kill(pid_, signal);
  // Stopped from the terminal, the whole job stops; follow_stop() does so when the program did.
}

void Program::follow_stop(int signal) const {
  if (signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU) return;
  // The shell may be waking the job up just now: the program first, or Sonde.
  const timespec moment{0, 20'000'000};
  ::nanosleep(&moment, nullptr);
  ProcessStat stat;
  const std::string path = "/proc/" + std::to_string(pid_) + "/stat";
  if (!parse_process_stat(read_small_file(path), stat) || stat.state != 'T') return;
  ::raise(SIGSTOP);
  // Woken up: the program too, where it was not woken up with the group.
  ::kill(pid_, SIGCONT);
}

void Program::restore_signals() {
  // What came while the program was ending was meant for it.
  const timespec at_once{0, 0};
  siginfo_t info{};
  while (::sigtimedwait(&watched_, &info, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace sonde
