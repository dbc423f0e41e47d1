#include "report/views/rows.hpp"

#include "analysis/system_use.hpp"

namespace sonde {

std::string trace_label(const NamedTrace& named) {
  if (named.trace.meta().rank >= 0) return "rank " + std::to_string(named.trace.meta().rank);
  if (!named.worker.empty()) return named.worker;
  return named.path;
}

std::string view_title(const std::string& what, RunTraces traces, const std::string& how) {
  std::string out = what + " of ";
  if (traces[0].run != "." && !traces[0].run.empty()) out += traces[0].run + ", ";
  // What was seen from outside belongs to the traces of the programs.
  const NamedTrace* first = nullptr;
  std::size_t programs = 0;
  for (const NamedTrace& named : traces) {
    if (traces.size() > 1 && is_system_trace(named.trace)) continue;
    if (!first) first = &named;
    ++programs;
  }
  if (programs == 1 && is_system_trace(first->trace) && !first->trace.tracks().empty()) {
    return out + std::string(first->trace.text(first->trace.tracks()[0].process));
  }
  if (programs == 1) return out + (first->worker.empty() ? first->path : first->worker);
  out += std::to_string(programs) + " traces";
  return how.empty() ? out : out + " (" + how + ")";
}

}  // namespace sonde
