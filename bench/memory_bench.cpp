// What the recording of memory costs: the time of Python programs under `sonde run --memory …`,
// next to that of the tools that people know, as a multiple of the time without any. The clock is
// the program's own, around its work: neither the start of the interpreter nor a report is part of
// it. All ways alternate, and the best round of each counts.

#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/scratch_folder.hpp"

namespace sonde::bench {
namespace {

constexpr int kRounds = 7;

struct Seconds {
  double wall;
  double cpu;
};

// What the command prints last; nothing where it fails.
std::optional<Seconds> printed_seconds(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (!pipe) return std::nullopt;
  std::string text;
  char buffer[4096];
  while (const std::size_t size = ::fread(buffer, 1, sizeof buffer, pipe))
    text.append(buffer, size);
  if (::pclose(pipe) != 0) return std::nullopt;
  const std::size_t at = text.rfind("seconds ");
  if (at == std::string::npos) return std::nullopt;
  char* rest = nullptr;
  const double wall = ::strtod(text.c_str() + at + 8, &rest);
  return Seconds{wall, ::strtod(rest, nullptr)};
}

struct Way {
  std::string name;
  std::string before;  // of the interpreter
  std::string options;
  std::string script;
  int rounds = kRounds;
  double limit = 0;  // the most that it may cost; 0: a peer
  std::vector<double> wall;
  std::vector<double> cpu;

  static double best(const std::vector<double>& rounds) {
    return *std::min_element(rounds.begin(), rounds.end());
  }
};

std::string python() {
  const char* const chosen = ::getenv("SONDE_BENCH_PYTHON");
  return chosen ? chosen : "/usr/bin/python3";
}

int run() {
  const ScratchFolder folder;
  if (folder.path().empty()) return 1;
  const std::string sonde =
      SONDE_BENCH_BINARY " run --quiet --python none --force -o " + folder.path() + "/run ";
  const std::string import =
      "import sys; sys.path.insert(0, '" SONDE_BENCH_PROGRAMS "'); import programs; ";
  bool within = true;
  fmt::print("Python programs under the recording of memory: {}, best of {} rounds\n\n", python(),
             kRounds);
  fmt::print("{:<12} {:<30} {:>9} {:>9} {:>9} {:>7}\n", "program", "", "seconds", "times",
             "CPU times", "limit");
  for (const std::string program : {"call_heavy", "typical"}) {
    const std::string timed =
        "import time; cpu = time.process_time(); wall = programs.timed(f); "
        "print('seconds', wall, time.process_time() - cpu)";
    const std::string plain = import + "f = programs." + program + "; " + timed;
    // memory_profiler traces the functions that it is told of: here the program's outermost one.
    const std::string profiled = import + "import memory_profiler; " +
                                 "f = memory_profiler.LineProfiler(backend='psutil')(programs." +
                                 program + "); " + timed;
    std::vector<Way> ways = {
        {"nothing", "", "", plain, kRounds, 0, {}, {}},
        {"sonde run", sonde + "-- ", "", plain, kRounds, 0, {}, {}},
        {"sonde run --memory curve",
         sonde + "--memory curve -- ",
         "",
         plain,
         kRounds,
         0,  // sample_bench.py measures it better
         {},
         {}},
        {"sonde run --memory lines", sonde + "--memory lines -- ", "", plain, kRounds, 1.3, {}, {}},
        {"sonde run --memory-exact",
         sonde + "--memory lines --memory-exact -- ",
         "",
         plain,
         2,
         0,
         {},
         {}},
        {"tracemalloc, 1 frame", "", "-X tracemalloc=1 ", plain, 2, 0, {}, {}},
        {"tracemalloc, 25 frames", "", "-X tracemalloc=25 ", plain, 2, 0, {}, {}},
        {"memory_profiler, 1 function", "", "", profiled, 1, 0, {}, {}},
    };
    for (int round = 0; round < kRounds; ++round) {
      for (Way& way : ways) {
        if (round >= way.rounds) continue;
        const std::optional<Seconds> seconds = printed_seconds(
            way.before + python() + " " + way.options + "-c \"" + way.script + "\"");
        if (!seconds) continue;
        way.wall.push_back(seconds->wall);
        way.cpu.push_back(seconds->cpu);
      }
    }
    if (ways.front().wall.empty()) {
      fmt::print("{:<12} {} does not run\n", program, python());
      return 1;
    }
    const double wall = Way::best(ways.front().wall);
    const double cpu = Way::best(ways.front().cpu);
    for (const Way& way : ways) {
      if (way.wall.empty()) {
        fmt::print("{:<12} {:<30} {:>9}\n", program, way.name, "missing");
        within = within && way.limit == 0;
        continue;
      }
      const double times = Way::best(way.wall) / wall;
      const std::string limit = way.limit > 0 ? fmt::format("{:.2f}", way.limit) : "";
      fmt::print("{:<12} {:<30} {:>9.4f} {:>9.3f} {:>9.3f} {:>7}{}\n", program, way.name,
                 Way::best(way.wall), times, Way::best(way.cpu) / cpu, limit,
                 way.limit > 0 && times > way.limit ? "  above it" : "");
      within = within && (way.limit == 0 || times <= way.limit);
    }
    fmt::print("\n");
  }
  fmt::print("{}\n", within ? "All within their limits." : "Not all are within their limits.");
  return 0;
}

}  // namespace
}  // namespace sonde::bench

int main() { return sonde::bench::run(); }
