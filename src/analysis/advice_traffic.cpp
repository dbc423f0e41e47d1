#include "analysis/advice_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/advice_wording.hpp"
#include "analysis/memcpy.hpp"

namespace sonde::advice {

MaybeAdvice pageable_copies(const AdviceInput& input) {
  CopyStats pageable;
  CopyStats pinned;
  for (const CopyStats& stats : copy_stats(input.trace)) {
    CopyStats* const into = stats.pageable()                                       ? &pageable
                            : stats.source == "Pinned" || stats.target == "Pinned" ? &pinned
                                                                                   : nullptr;
    if (!into) continue;
    into->count += stats.count;
    into->time += stats.time;
    into->bytes += stats.bytes;
    into->sized_time += stats.sized_time;
  }
  const double share = ratio(pageable.time, input.steps.window().length());
  if (pageable.count == 0 || share < 0.01) return {};
  Advice out;
  out.id = "pageable_copies";
  out.share = share;
  out.weight = weight_of(share);
  out.headline = fmt::format("{} copies use pageable host memory",
                             format_count(static_cast<std::int64_t>(pageable.count)));
  out.why = fmt::format("They took {}, {} of the time", duration(pageable.time), percent(share));
  if (const auto bandwidth = pageable.mean_bandwidth()) {
    out.why +=
        fmt::format(", and moved {} at {} GB/s", format_bytes(static_cast<double>(pageable.bytes)),
                    format_real(*bandwidth));
    if (const auto better = pinned.mean_bandwidth(); better && *better > *bandwidth) {
      out.why += fmt::format("; copies from pinned memory reached {} GB/s", format_real(*better));
    }
  }
  out.why += ". Such copies go through a staging buffer and make the host wait.";
  out.action = wording_for(input.trace).pin_memory;
  out.measures = {{"copies", static_cast<double>(pageable.count)},
                  {"time_ns", static_cast<double>(pageable.time)},
                  {"bytes", static_cast<double>(pageable.bytes)}};
  return out;
}

MaybeAdvice copies_in_the_way(const AdviceInput& input) {
  const double time = input.steps.average[StepRole::Memcpy];
  const double share = ratio(time, input.steps.average_total);
  if (share < 2 * kNoticeable) return {};
  Advice out;
  out.id = "memcpy_share";
  out.share = share;
  out.weight = weight_of(share);
  out.headline = fmt::format("Copies that hide behind no kernel take {} of the {}", percent(share),
                             step_word(input));
  out.why = fmt::format("For {} of {} the device only copied.", duration(time),
                        duration(input.steps.average_total));
  out.action =
      "Prefetch the next batch on a stream of its own, keep data on the GPU between steps, "
      "and copy in a smaller type.";
  out.measures = {{"memcpy_ns", time}, {"step_ns", input.steps.average_total}};
  return out;
}

MaybeAdvice exposed_communication(const AdviceInput& input) {
  Nanos total = 0;
  Nanos communication = 0;
  Nanos exposed = 0;
  for (const Step& step : input.steps.steps) {
    total += step.total();
    communication += step.communication;
    exposed += step.communication - step.overlap;
  }
  const double share = ratio(exposed, total);
  if (communication <= 0 || share < 2 * kNoticeable) return {};
  Advice out;
  out.id = "exposed_communication";
  out.share = share;
  out.weight = weight_of(share);
  out.headline =
      fmt::format("Communication without computation takes {} of the time", percent(share));
  out.why = fmt::format(
      "Of {} of communication in {} of steps, {} ({}) overlap with no "
      "computation. Waiting for a slower rank counts as communication.",
      duration(communication), duration(total), duration(exposed),
      percent(ratio(exposed, communication)));
  out.action = wording_for(input.trace).overlap_communication;
  out.measures = {{"communication_ns", static_cast<double>(communication)},
                  {"exposed_ns", static_cast<double>(exposed)},
                  {"step_time_ns", static_cast<double>(total)}};
  return out;
}

}  // namespace sonde::advice
