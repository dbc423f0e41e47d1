#include "trace/filter.hpp"

#include <algorithm>
#include <memory>

#include "trace/copier.hpp"

namespace sonde {

Trace filter_trace(const Trace& trace, const TraceFilter& filter) {
  TraceBuilder builder;
  builder.meta() = trace.meta();
  builder.losses() = trace.losses();
  TraceCopier copier(trace, filter, builder, {trace.meta().origin, {}, 0});
  copier.copy_slices();
  copier.copy_points();
  copier.copy_call_profile();
  copier.copy_process_memory();
  copier.copy_source_listing();
  builder.nest(1);
  copier.copy_links();
  return builder.finish();
}

Trace merge_traces(const std::vector<const Trace*>& traces,
                   const std::vector<std::string>& labels) {
  const TraceFilter all;
  TraceBuilder builder;
  TraceMeta& meta = builder.meta();
  meta = traces.front()->meta();
  meta.rank = -1;
  std::erase_if(meta.properties, [](const auto& property) {
    return property.first == "distributedInfo" || property.first == "baseTimeNanoseconds";
  });
  const bool clock = std::all_of(traces.begin(), traces.end(),
                                 [](const Trace* trace) { return trace->meta().wall_clock; });
  Nanos first = 0;  // wall-clock time of the merged trace's own time 0
  if (clock) {
    first = traces.front()->meta().base_time + traces.front()->meta().origin;
    for (const Trace* trace : traces)
      first = std::min(first, trace->meta().base_time + trace->meta().origin);
  }
  meta.wall_clock = clock;
  meta.base_time = first;
  std::vector<std::unique_ptr<TraceCopier>> copiers;
  std::vector<SampleType> sample_types;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const TraceMeta& own = traces[i]->meta();
    // Ids count within one file: of several files they mean nothing to a reader of PyTorch's
    // format.
    if (own.format != meta.format || meta.format == "kineto") meta.format = "merged";
    for (const Device& device : own.devices) {
      const bool known = std::any_of(meta.devices.begin(), meta.devices.end(),
                                     [&](const Device& d) { return d.id == device.id; });
      if (!known) meta.devices.push_back(device);
    }
    builder.losses().merge(traces[i]->losses());
    const Nanos shift = clock ? own.base_time + own.origin - first : 0;
    constexpr std::int64_t kIdsOfAFile = 1'000'000'000'000;
    copiers.push_back(std::make_unique<TraceCopier>(
        *traces[i], all, builder,
        TraceCopier::Changes{shift, labels[i], static_cast<std::int64_t>(i) * kIdsOfAFile,
                             &sample_types}));
    copiers.back()->copy_slices();
    copiers.back()->copy_points();
    copiers.back()->copy_call_profile();
    copiers.back()->copy_process_memory();
    copiers.back()->copy_source_listing();
  }
  builder.nest(1);
  for (const std::unique_ptr<TraceCopier>& copier : copiers) copier->copy_links();
  return builder.finish();
}

}  // namespace sonde
