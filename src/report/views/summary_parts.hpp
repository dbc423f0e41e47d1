#pragma once

#include <vector>

#include "analysis/advice.hpp"
#include "analysis/gpu_utilization.hpp"
#include "analysis/steps.hpp"
#include "analysis/trace_facts.hpp"
#include "report/report.hpp"

// The blocks of the summary that several files share the work on.
namespace sonde {

// One trace, looked at once for all parts of the summary.
struct TraceSummary {
  const NamedTrace* named;
  TraceFacts facts;
  StepBreakdown steps;
  std::vector<GpuUtilization> gpus;
  std::vector<Advice> advice;
  bool timed = true;  // whether lengths are times

  const Trace& trace() const { return named->trace; }
};

// What the traces are.
Block trace_block(const std::vector<TraceSummary>& all);
// Where the average step goes.
Block breakdown_block(const std::vector<TraceSummary>& all, const ReportRequest& request);
// The traces of a run side by side.
Block ranks_block(const std::vector<TraceSummary>& all);
Block gpu_block(const std::vector<TraceSummary>& all);
// What the allocators did.
Block memory_block(const std::vector<TraceSummary>& all);

}  // namespace sonde
