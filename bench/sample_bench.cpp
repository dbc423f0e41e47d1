// What sampling costs a Python program: the time of the same work alone, in `sonde run`, and with
// `sonde attach`, one after the other in turns. The smallest of each counts. Bars: a sampled run at
// most 1.01 times, attaching at most 1.02 times the time alone, both at 100 samples a second.

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "support/scratch_folder.hpp"

namespace sonde::bench {
namespace {

constexpr int kRounds = 9;

// Prints the seconds that the work took, and its CPU time; start of the interpreter and imports are
// not counted.
constexpr const char* kCalls = R"py(
import sys, time
def one(x):
    return x + 1
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def work():
    total = 0
    for i in range(1000000):
        total = one(total)
    fib(24); fib(22); fib(21)
    table = {str(i): {"value": i} for i in range(100000)}
    return total + len(table)
)py";

constexpr const char* kTypical = R"py(
import sys, time, json, re
words = re.compile(r"([a-z]+)(\d+)")
rows = [{"id": i, "name": "row%d" % i, "values": [i * j for j in range(8)]} for i in range(300)]
def work():
    total = 0
    for _ in range(60):
        text = json.dumps(rows)
        for row in json.loads(text):
            match = words.match(row["name"])
            total += int(match.group(2)) + sum(v * v for v in row["values"])
    return total
)py";

constexpr const char* kMain = R"py(
if len(sys.argv) > 2:
    print("ready", flush=True)
    sys.stdin.readline()
begin, cpu = time.perf_counter(), time.process_time()
for _ in range(int(sys.argv[1])):
    work()
print(time.perf_counter() - begin, time.process_time() - cpu, flush=True)
)py";

std::string real_python() {
  std::FILE* const pipe =
      ::popen("python3 -c 'import os, sys; print(os.path.realpath(sys.executable))'", "r");
  if (!pipe) return {};
  char text[4096] = {};
  if (!std::fgets(text, sizeof text, pipe)) text[0] = 0;
  ::pclose(pipe);
  std::string out = text;
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

struct Seconds {
  double wall = -1;
  double cpu = -1;
};

Seconds parse(const char* text) {
  Seconds out;
  if (std::sscanf(text, "%lf %lf", &out.wall, &out.cpu) != 2) return {};
  return out;
}

Seconds seconds_of(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (!pipe) return {};
  char text[256] = {};
  const bool read = std::fgets(text, sizeof text, pipe) != nullptr;
  const int status = ::pclose(pipe);
  return read && status == 0 ? parse(text) : Seconds{};
}

// Starts the program, attaches, and lets it begin.
Seconds attached_seconds(const std::string& python, const std::string& program, int times,
                         const std::string& folder) {
  int in[2];
  int out[2];
  if (::pipe(in) != 0 || ::pipe(out) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    for (const int file : {in[0], in[1], out[0], out[1]}) ::close(file);
    ::execl(python.c_str(), python.c_str(), program.c_str(), std::to_string(times).c_str(), "wait",
            nullptr);
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  std::FILE* const lines = ::fdopen(out[0], "r");
  char text[256] = {};
  Seconds seconds;
  if (std::fgets(text, sizeof text, lines)) {
    const pid_t sampler = ::fork();
    if (sampler == 0) {
      ::execl(SONDE_BINARY, SONDE_BINARY, "attach", std::to_string(child).c_str(), "-q", "--idle",
              "-o", folder.c_str(), nullptr);
      ::_exit(127);
    }
    ::usleep(300'000);
    if (::write(in[1], "go\n", 3) == 3 && std::fgets(text, sizeof text, lines)) {
      seconds = parse(text);
    }
    int status = 0;
    ::waitpid(child, nullptr, 0);
    ::waitpid(sampler, &status, 0);  // ends with the program
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) seconds = {};
  }
  std::fclose(lines);
  ::close(in[1]);
  return seconds;
}

struct Times {
  std::vector<Seconds> alone;
  std::vector<Seconds> run;
  std::vector<Seconds> attached;
};

Seconds smallest(const std::vector<Seconds>& values) {
  Seconds out = values.front();
  for (const Seconds& one : values) {
    out.wall = std::min(out.wall, one.wall);
    out.cpu = std::min(out.cpu, one.cpu);
  }
  return out;
}

bool measure(const std::string& python, const std::string& name, const std::string& text,
             int times) {
  const ScratchFolder scratch;
  const std::string program = scratch.path() + "/program.py";
  std::ofstream(program) << text << kMain;
  Times all;
  for (int i = 0; i < kRounds; ++i) {
    const std::string run = scratch.path() + "/run" + std::to_string(i);
    const std::string attach = scratch.path() + "/attach" + std::to_string(i);
    all.alone.push_back(seconds_of(fmt::format("'{}' '{}' {}", python, program, times)));
    all.run.push_back(seconds_of(fmt::format("'{}' run -q -o '{}' -- '{}' '{}' {}", SONDE_BINARY,
                                             run, python, program, times)));
    all.attached.push_back(attached_seconds(python, program, times, attach));
  }
  const Seconds alone = smallest(all.alone);
  const Seconds run = smallest(all.run);
  const Seconds attached = smallest(all.attached);
  if (alone.cpu <= 0 || run.cpu <= 0 || attached.cpu <= 0) {
    fmt::print("sample_bench: {}: a program failed\n", name);
    return false;
  }
  const auto show = [&](const char* how, const Seconds& seconds, double bar) {
    const double wall = seconds.wall / alone.wall;
    fmt::print(
        "{:<12} {:<12} {:.3f} times the time alone, bar {:.2f}{}; its CPU time {:.3f} times\n",
        name, how, wall, bar, wall > bar ? " ABOVE" : "", seconds.cpu / alone.cpu);
  };
  fmt::print("{:<12} {:<12} {:.3f} s, CPU {:.3f} s\n", name, "alone", alone.wall, alone.cpu);
  show("sampled run", run, 1.01);
  show("attached", attached, 1.02);
  return true;
}

}  // namespace
}  // namespace sonde::bench

int main() {
  using namespace sonde::bench;
  const std::string python = real_python();
  if (python.empty()) {
    fmt::print("sample_bench: no python3: left out\n");
    return 0;
  }
  fmt::print("Cost of sampling at 100 Hz, {}, smallest of {}\n", python, kRounds);
  const bool good =
      measure(python, "call-heavy", kCalls, 8) && measure(python, "typical", kTypical, 8);
  return good ? 0 : 1;
}
