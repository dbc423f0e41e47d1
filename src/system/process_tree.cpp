#include "system/process_tree.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include "system/proc_files.hpp"

namespace sonde {
namespace {

// Beyond this many threads their own files are looked at less often: reading them costs time that
// the program may need.
constexpr std::int64_t kManyThreads = 64;
constexpr unsigned kSeldom = 10;

std::vector<std::int64_t> numbers(std::string_view text) {
  std::vector<std::int64_t> out;
  for (std::size_t at = 0; at < text.size();) {
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (code == std::errc()) out.push_back(number);
    const auto next = static_cast<std::size_t>(end - text.data());
    at = std::max(next, at) + 1;
  }
  return out;
}

}  // namespace

bool parse_process_stat(std::string_view text, ProcessStat& out) {
  // "12 (a name) S 1 …": the name may hold blanks and parentheses, nothing behind it does.
  const std::size_t close = text.rfind(')');
  if (close == std::string_view::npos || close + 3 >= text.size()) return false;
  std::from_chars(text.data(), text.data() + text.size(), out.pid);
  out.state = text[close + 2];
  const std::size_t open = text.find('(');
  if (open < close) out.name = text.substr(open + 1, close - open - 1);
  // The fields from the parent on, which is the fourth.
  const std::vector<std::int64_t> fields = numbers(text.substr(close + 4));
  const auto field = [&](std::size_t number) { return fields[number - 4]; };
  if (fields.size() < 24 - 3) return false;
  out.parent = static_cast<pid_t>(field(4));
  for (const std::size_t i : {14u, 15u, 16u, 17u}) {
    out.cpu_ticks += static_cast<std::uint64_t>(std::max<std::int64_t>(0, field(i)));
  }
  out.threads = field(20);
  out.start_ticks = static_cast<std::uint64_t>(field(22));
  out.resident_pages = field(24);
  return true;
}

ProcessTree::ProcessTree(pid_t root, std::string proc)
    : proc_(std::move(proc)),
      page_bytes_(::sysconf(_SC_PAGESIZE)),
      ticks_per_second_(std::max(1L, ::sysconf(_SC_CLK_TCK))) {
  ProcessStat stat;
  if (read_stat(root, stat)) members_[root] = stat.start_ticks;
}

bool ProcessTree::read_stat(pid_t pid, ProcessStat& out) const {
  out = {};
  return parse_process_stat(read_small_file(proc_ + "/" + std::to_string(pid) + "/stat"), out);
}

TreeTotals ProcessTree::sample() {
  if (latest_.threads <= kManyThreads || samples_ % kSeldom == 0) find_children();
  ++samples_;
  TreeTotals now;
  memory_.clear();
  std::uint64_t ticks = 0;
  for (auto at = members_.begin(); at != members_.end();) {
    ProcessStat stat;
    if (!read_stat(at->first, stat) || stat.start_ticks != at->second) {
      at = members_.erase(at);
      continue;
    }
    ticks += stat.cpu_ticks;
    if (stat.state != 'Z' && stat.state != 'X') {
      ++now.processes;
      now.threads += stat.threads;
      const std::int64_t resident = std::max<std::int64_t>(0, stat.resident_pages) * page_bytes_;
      now.resident_bytes += resident;
      memory_.push_back({at->first, at->second, stat.name, resident});
      add_io(at->first, now);
      add_switches(at->first, stat.threads, now);
    }
    ++at;
  }
  now.cpu_nanos = static_cast<std::int64_t>(ticks) * (1'000'000'000 / ticks_per_second_);
  // A process that nobody waited for takes its numbers with it.
  now.cpu_nanos = std::max(now.cpu_nanos, latest_.cpu_nanos);
  now.context_switches = std::max(now.context_switches, latest_.context_switches);
  now.bytes_read = std::max(now.bytes_read, latest_.bytes_read);
  now.bytes_written = std::max(now.bytes_written, latest_.bytes_written);
  latest_ = now;
  return now;
}

std::vector<pid_t> ProcessTree::processes() {
  find_children();
  std::vector<pid_t> out;
  for (auto at = members_.begin(); at != members_.end();) {
    ProcessStat stat;
    const bool there = read_stat(at->first, stat) && stat.start_ticks == at->second;
    if (there && stat.state != 'Z' && stat.state != 'X') out.push_back(at->first);
    at = there ? std::next(at) : members_.erase(at);
  }
  return out;
}

std::optional<std::int64_t> ProcessTree::proportional_bytes(pid_t pid) const {
  constexpr std::int64_t kNone = -1;
  const std::int64_t kilobytes = number_after(
      read_small_file(proc_ + "/" + std::to_string(pid) + "/smaps_rollup"), "Pss", kNone);
  if (kilobytes == kNone) return std::nullopt;
  return kilobytes * 1024;
}

void ProcessTree::find_children() {
  std::vector<pid_t> waiting;
  for (const auto& [pid, start] : members_) waiting.push_back(pid);
  bool any_file = false;
  while (!waiting.empty()) {
    const pid_t pid = waiting.back();
    waiting.pop_back();
    const std::string tasks = proc_ + "/" + std::to_string(pid) + "/task";
    each_numbered(tasks, [&](std::int64_t task) {
      const std::string path = tasks + "/" + std::to_string(task) + "/children";
      any_file = any_file || ::access(path.c_str(), R_OK) == 0;
      for (const std::int64_t child : numbers(read_small_file(path))) {
        ProcessStat stat;
        const auto id = static_cast<pid_t>(child);
        if (members_.contains(id) || !read_stat(id, stat)) continue;
        members_[id] = stat.start_ticks;
        waiting.push_back(id);
      }
    });
  }
  // Not every kernel has these files.
  if (!any_file && !members_.empty()) find_children_by_scan();
}

void ProcessTree::find_children_by_scan() {
  std::vector<ProcessStat> all;
  each_numbered(proc_, [&](std::int64_t pid) {
    ProcessStat stat;
    if (read_stat(static_cast<pid_t>(pid), stat)) all.push_back(stat);
  });
  for (bool found = true; found;) {
    found = false;
    for (const ProcessStat& stat : all) {
      if (!members_.contains(stat.parent) || members_.contains(stat.pid)) continue;
      members_[stat.pid] = stat.start_ticks;
      found = true;
    }
  }
}

void ProcessTree::add_io(pid_t pid, TreeTotals& totals) const {
  const std::string text = read_small_file(proc_ + "/" + std::to_string(pid) + "/io");
  totals.bytes_read += number_after(text, "rchar");
  totals.bytes_written += number_after(text, "wchar");
}

void ProcessTree::add_switches(pid_t pid, std::int64_t threads, TreeTotals& totals) const {
  if (threads > kManyThreads && samples_ % kSeldom != 1) return;
  const std::string tasks = proc_ + "/" + std::to_string(pid) + "/task";
  each_numbered(tasks, [&](std::int64_t task) {
    const std::string text = read_small_file(tasks + "/" + std::to_string(task) + "/status");
    totals.context_switches += number_after(text, "voluntary_ctxt_switches") +
                               number_after(text, "nonvoluntary_ctxt_switches");
  });
}

}  // namespace sonde
