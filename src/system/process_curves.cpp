#include "system/process_curves.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "trace/system_counters.hpp"

namespace sonde {
namespace {

namespace names = system_counters;

constexpr unsigned kProportionalEvery = 10;
// The kernel looks at every page of the process for it: one that takes long is asked seldom.
constexpr std::chrono::microseconds kLong{2000};
constexpr unsigned kSeldom = 100;

}  // namespace

ProcessCurves::ProcessCurves(RunFileWriter& writer, RunFileWriter::NameId resident)
    : writer_(writer), resident_(resident), proportional_(writer.add_name(names::kProportional)) {}

// All of a sample together: they share a chunk.
void ProcessCurves::add_domains(const ProcessTree& tree) {
  for (const ProcessMemoryUse& use : tree.memory()) {
    const auto found = curves_.find({use.pid, use.start_ticks});
    if (found == curves_.end() || found->second.domain != 0) continue;
    if (domains_ == names::kMostProcesses) return;
    found->second.domain = writer_.add_domain(std::string(names::kProcessPrefix) +
                                              std::to_string(use.pid) + " " + use.name);
    ++domains_;
  }
}

void ProcessCurves::add(const ProcessTree& tree, std::int64_t now) {
  add_domains(tree);
  for (const ProcessMemoryUse& use : tree.memory()) {
    Curve& curve = curves_[{use.pid, use.start_ticks}];
    if (++curve.samples == 1) {
      curve.first_time = now;
      curve.first_resident = use.resident_bytes;
      continue;
    }
    if (curve.domain == 0) continue;
    if (curve.samples == 2) {
      writer_.add_counter(curve.first_time, resident_, curve.domain, curve.first_resident);
    }
    writer_.add_counter(now, resident_, curve.domain, use.resident_bytes);
    if (tree.memory().size() > 1) add_proportional(tree, use.pid, curve, now);
  }
  end_all(now, &tree);
}

void ProcessCurves::add_proportional(const ProcessTree& tree, pid_t pid, Curve& curve,
                                     std::int64_t now) {
  if (curve.samples < curve.next_proportional) return;
  const auto start = std::chrono::steady_clock::now();
  const std::optional<std::int64_t> bytes = tree.proportional_bytes(pid);
  const bool slow = std::chrono::steady_clock::now() - start > kLong;
  curve.next_proportional = curve.samples + (slow || !bytes ? kSeldom : kProportionalEvery);
  if (bytes) writer_.add_counter(now, proportional_, curve.domain, *bytes);
}

void ProcessCurves::end_all(std::int64_t now, const ProcessTree* tree) {
  for (auto at = curves_.begin(); at != curves_.end();) {
    const bool lives =
        tree && std::any_of(tree->memory().begin(), tree->memory().end(), [&](const auto& use) {
          return Identity(use.pid, use.start_ticks) == at->first;
        });
    if (lives) {
      ++at;
      continue;
    }
    if (at->second.domain != 0) {
      writer_.add_counter(now, resident_, at->second.domain, std::int64_t{0});
    }
    at = curves_.erase(at);
  }
}

}  // namespace sonde
