#include "sampler/task_ids.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <set>
#include <string>

#include "system/proc_files.hpp"

namespace sonde {
namespace {

std::string task_folder(pid_t process) { return "/proc/" + std::to_string(process) + "/task"; }

// The last number of "NSpid: 4711 17": what the thread itself sees.
std::uint64_t innermost_id(const std::string& status, std::uint64_t fallback) {
  constexpr std::string_view kKey = "\nNSpid:";
  const std::size_t at = status.find(kKey);
  if (at == std::string::npos) return fallback;
  const std::size_t start = at + kKey.size();
  std::string_view line(status);
  line = line.substr(start, status.find('\n', start) - start);
  const std::size_t last = line.find_last_of(" \t");
  if (last == std::string_view::npos) return fallback;
  line.remove_prefix(last + 1);
  std::uint64_t out = fallback;
  std::from_chars(line.data(), line.data() + line.size(), out);
  return out;
}

}  // namespace

TaskIds::TaskIds(pid_t process, const Memory& memory) : process_(process), memory_(memory) {
  const std::string theirs = link_target("/proc/" + std::to_string(process) + "/ns/pid");
  own_namespace_ = theirs.empty() || theirs == link_target("/proc/self/ns/pid");
}

std::vector<pid_t> TaskIds::tasks() const {
  std::vector<pid_t> out;
  each_numbered(task_folder(process_),
                [&](std::int64_t id) { out.push_back(static_cast<pid_t>(id)); });
  return out;
}

void TaskIds::read_namespace() {
  outer_.clear();
  for (const pid_t task : tasks()) {
    std::uint64_t inner = static_cast<std::uint64_t>(task);
    if (!own_namespace_) {
      inner = innermost_id(
          read_small_file(task_folder(process_) + "/" + std::to_string(task) + "/status"), inner);
    }
    outer_[inner] = task;
  }
}

pid_t TaskIds::find(const PythonThread& thread, const std::vector<PythonThread>& all) {
  const std::uint64_t inner = inner_id(thread, all);
  if (inner == 0) return 0;
  if (own_namespace_) return static_cast<pid_t>(inner);
  if (const auto at = outer_.find(inner); at != outer_.end()) return at->second;
  read_namespace();
  const auto at = outer_.find(inner);
  return at == outer_.end() ? 0 : at->second;
}

std::uint64_t TaskIds::inner_id(const PythonThread& thread, const std::vector<PythonThread>& all) {
  if (thread.native_id != 0) return thread.native_id <= INT32_MAX ? thread.native_id : 0;
  constexpr unsigned kMostTries = 100;
  if (offset_ < 0 && tries_++ < kMostTries) find_offset(all);
  std::uint32_t id = 0;
  if (offset_ < 0 || !memory_.get(thread.handle + static_cast<std::uint32_t>(offset_), id)) {
    return 0;
  }
  return id <= INT32_MAX ? id : 0;
}

// The place in struct pthread that holds a different number for each thread, each of them the
// number of a thread that the process has.
void TaskIds::find_offset(const std::vector<PythonThread>& all) {
  constexpr std::size_t kWords = 256;
  read_namespace();
  std::vector<bool> possible(kWords, true);
  std::vector<std::set<std::uint32_t>> seen(kWords);
  std::size_t read = 0;
  for (const PythonThread& thread : all) {
    std::array<std::uint32_t, kWords> words;
    std::size_t count = kWords;
    // The stack's end may lie right behind the structure.
    while (count > 0 && !memory_.read(thread.handle, words.data(), count * 4)) count /= 2;
    if (count == 0) continue;
    ++read;
    for (std::size_t i = 0; i < kWords; ++i) {
      possible[i] =
          possible[i] && i < count && outer_.contains(words[i]) && seen[i].insert(words[i]).second;
    }
  }
  if (read == 0) return;
  const auto found = std::find(possible.begin(), possible.end(), true);
  if (found != possible.end()) offset_ = static_cast<int>(found - possible.begin()) * 4;
}

}  // namespace sonde
