#include "system/machine.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "system/proc_files.hpp"

namespace sonde {

MachineTimes parse_machine_times(std::string_view text, std::int64_t ticks_per_second) {
  MachineTimes out;
  if (!text.starts_with("cpu ")) return out;
  const std::int64_t nanos_per_tick = 1'000'000'000 / std::max<std::int64_t>(1, ticks_per_second);
  // user nice system idle iowait irq softirq steal; what follows is part of user and nice.
  constexpr int kFields = 8;
  constexpr int kIdle = 3;
  constexpr int kWaiting = 4;
  const char* at = text.data() + 4;
  const char* const end = text.data() + text.size();
  for (int i = 0; i < kFields; ++i) {
    while (at != end && *at == ' ') ++at;
    std::int64_t ticks = 0;
    const auto [next, code] = std::from_chars(at, end, ticks);
    if (code != std::errc()) break;
    at = next;
    out.total_nanos += ticks * nanos_per_tick;
    if (i != kIdle && i != kWaiting) out.busy_nanos += ticks * nanos_per_tick;
  }
  return out;
}

MachineTimes read_machine_times(const std::string& proc) {
  return parse_machine_times(read_small_file(proc + "/stat"), ::sysconf(_SC_CLK_TCK));
}

std::int64_t read_memory_used(const std::string& proc) {
  const std::string text = read_small_file(proc + "/meminfo");
  return 1024 * (number_after(text, "MemTotal") - number_after(text, "MemAvailable"));
}

MachineFacts machine_facts(const std::string& proc) {
  MachineFacts out;
  utsname names{};
  if (::uname(&names) == 0) {
    out.host = names.nodename;
    out.system = std::string(names.sysname) + " " + names.release;
    out.architecture = names.machine;
  }
  cpu_set_t cores;
  CPU_ZERO(&cores);
  out.cores = ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores)
                                                                : ::sysconf(_SC_NPROCESSORS_ONLN);
  out.memory_bytes = 1024 * number_after(read_small_file(proc + "/meminfo"), "MemTotal");
  const std::string cpus = read_small_file(proc + "/cpuinfo");
  if (const std::size_t at = cpus.find("model name"); at != std::string::npos) {
    const std::size_t colon = cpus.find(": ", at);
    const std::size_t end = cpus.find('\n', at);
    if (colon < end) out.cpu = cpus.substr(colon + 2, end - colon - 2);
  }
  return out;
}

}  // namespace sonde
