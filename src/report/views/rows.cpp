#include "report/views/rows.hpp"

namespace sonde {

std::string trace_label(const NamedTrace& named) {
  if (named.trace.meta().rank >= 0) return "rank " + std::to_string(named.trace.meta().rank);
  if (!named.worker.empty()) return named.worker;
  return named.path;
}

std::string view_title(const std::string& what, RunTraces traces, const std::string& how) {
  std::string out = what + " of ";
  if (traces[0].run != "." && !traces[0].run.empty()) out += traces[0].run + ", ";
  if (traces.size() == 1) return out + (traces[0].worker.empty() ? traces[0].path : traces[0].worker);
  out += std::to_string(traces.size()) + " traces";
  return how.empty() ? out : out + " (" + how + ")";
}

}  // namespace sonde
