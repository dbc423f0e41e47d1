// Nanoseconds a scope, with the recorder on and off, on one thread and on all, next to the floor:
// two readings of the raw counter and one 32-byte store into memory that is there. A round of the
// recorder holds everything: new chunks, their space on the disk, and the kernel's page faults.

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sonde/sonde.hpp"

#include "support/scratch_folder.hpp"

namespace sonde::bench {
namespace {

constexpr std::size_t kScopes = 1 << 20;
constexpr int kRounds = 15;
constexpr std::size_t kFloorBytes = 64 * 1024;

double now() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void run_scopes() {
  for (std::size_t i = 0; i < kScopes; ++i) {
    SONDE_SCOPE("scope");
    __asm__ volatile("" ::: "memory");
  }
}

// The loop alone: what the disabled scopes are compared with.
void run_empty() {
  for (std::size_t i = 0; i < kScopes; ++i) __asm__ volatile("" ::: "memory");
}

void run_floor() {
  alignas(64) static thread_local char memory[kFloorBytes];
  std::memset(memory, 1, sizeof memory);
  for (std::size_t i = 0; i < kScopes; ++i) {
    const std::uint64_t start = sonde_ticks();
    __asm__ volatile("" ::: "memory");
    const std::uint64_t end = sonde_ticks();
    auto* const at = reinterpret_cast<std::uint64_t*>(memory + i * 32 % kFloorBytes);
    at[0] = start;
    at[1] = end;
    at[2] = 0;
    at[3] = i;
    __asm__ volatile("" ::: "memory");
  }
}

// Nanoseconds for one pass of the loop, the mean over the threads, which begin together.
double time_on(unsigned threads, const std::function<void()>& body) {
  std::atomic<unsigned> waiting{0};
  std::vector<double> spent(threads);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      ++waiting;
      while (waiting < threads) {
      }
      const double start = now();
      body();
      spent[t] = now() - start;
    });
  }
  for (std::thread& worker : workers) worker.join();
  double sum = 0;
  for (const double one : spent) sum += one;
  return sum / threads / kScopes;
}

struct Row {
  std::string name;
  unsigned threads;
  std::function<double(unsigned)> measure;
  std::vector<double> rounds;

  double best() const { return *std::min_element(rounds.begin(), rounds.end()); }
  double median() {
    std::sort(rounds.begin(), rounds.end());
    return rounds[rounds.size() / 2];
  }
};

double recorded(unsigned threads, const std::string& folder, std::uint64_t limit) {
  sonde_set_limit(limit, SONDE_LIMIT_KEEP_LAST);
  if (sonde_start(folder.c_str()) != 0) return 0;
  // The ring is measured when it turns.
  if (limit) time_on(threads, run_scopes);
  const double spent = time_on(threads, run_scopes);
  sonde_stop();
  std::filesystem::remove_all(folder);
  return spent;
}

int run() {
  const unsigned all = std::max(2u, std::thread::hardware_concurrency());
  const ScratchFolder folder;
  if (folder.path().empty()) return 1;
  const std::string run = folder.path() + "/run";
  std::vector<Row> rows;
  for (const unsigned threads : {1u, all}) {
    rows.push_back({"empty loop", threads, [](unsigned n) { return time_on(n, run_empty); }, {}});
    rows.push_back({"floor", threads, [](unsigned n) { return time_on(n, run_floor); }, {}});
    rows.push_back({"disabled", threads, [](unsigned n) { return time_on(n, run_scopes); }, {}});
    rows.push_back({"enabled", threads, [&](unsigned n) { return recorded(n, run, 0); }, {}});
    rows.push_back({"enabled, keep last 16M",
                    threads,
                    [&](unsigned n) { return recorded(n, run, 16 << 20); },
                    {}});
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Row& row : rows) row.rounds.push_back(row.measure(row.threads));
  }
  fmt::print("Nanoseconds a scope; {} rounds of {} scopes a thread, files in {}\n\n", kRounds,
             kScopes, std::filesystem::temp_directory_path().string());
  fmt::print("{:<24} {:>7} {:>9} {:>9} {:>14} {:>14}\n", "", "threads", "best", "median",
             "best / floor", "median / floor");
  for (Row& row : rows) {
    Row& floor = row.threads == 1 ? rows[1] : rows[6];
    fmt::print("{:<24} {:>7} {:>9.2f} {:>9.2f} {:>14.2f} {:>14.2f}\n", row.name, row.threads,
               row.best(), row.median(), row.best() / floor.best(), row.median() / floor.median());
  }
  fmt::print("\nA thread among {} to one alone: enabled {:.2f}, floor {:.2f} (best rounds)\n", all,
             rows[8].best() / rows[3].best(), rows[6].best() / rows[1].best());
  return 0;
}

}  // namespace
}  // namespace sonde::bench

int main() { return sonde::bench::run(); }
