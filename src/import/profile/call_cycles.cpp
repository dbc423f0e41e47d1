#include "import/profile/call_cycles.hpp"

#include <algorithm>
#include <numeric>

namespace sonde {

// Tarjan's algorithm, with a list of its own in place of the call stack: a profile may be deep.
std::vector<std::uint32_t> call_cycles(const CallProfile& profile) {
  const std::size_t count = profile.functions.size();
  std::vector<std::uint32_t> first(count + 1);
  for (const CallProfile::Call& call : profile.calls) ++first[call.caller.index() + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> callees(profile.calls.size());
  std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
  for (const CallProfile::Call& call : profile.calls) {
    callees[fill[call.caller.index()]++] = call.callee.value;
  }

  constexpr std::uint32_t kNone = UINT32_MAX;
  struct Visit {
    std::uint32_t function;
    std::uint32_t next;  // in callees
  };
  std::vector<std::uint32_t> number(count, kNone);
  std::vector<std::uint32_t> lowest(count, kNone);
  std::vector<std::uint32_t> cycle(count, kNone);
  std::vector<std::uint32_t> open;
  std::vector<Visit> path;
  std::uint32_t numbers = 0;
  std::uint32_t cycles = 0;
  const auto enter = [&](std::uint32_t function) {
    number[function] = lowest[function] = numbers++;
    open.push_back(function);
    path.push_back({function, first[function]});
  };
  for (std::uint32_t root = 0; root < count; ++root) {
    if (number[root] != kNone) continue;
    enter(root);
    while (!path.empty()) {
      const std::uint32_t function = path.back().function;
      if (path.back().next < first[function + 1]) {
        const std::uint32_t callee = callees[path.back().next++];
        if (number[callee] == kNone) {
          enter(callee);
        } else if (cycle[callee] == kNone) {
          lowest[function] = std::min(lowest[function], number[callee]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        std::uint32_t& caller = lowest[path.back().function];
        caller = std::min(caller, lowest[function]);
      }
      if (lowest[function] != number[function]) continue;
      while (true) {
        const std::uint32_t member = open.back();
        open.pop_back();
        cycle[member] = cycles;
        if (member == function) break;
      }
      ++cycles;
    }
  }
  return cycle;
}

}  // namespace sonde
