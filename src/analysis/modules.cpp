#include "analysis/modules.hpp"

#include <algorithm>

#include "analysis/forward_operators.hpp"
#include "base/flat_map.hpp"

namespace sonde {
namespace {

class Modules {
 public:
  explicit Modules(const Trace& trace) : trace_(trace), slices_(trace.slices()), forward_(trace) {}

  std::vector<ModuleStats> run() {
    for (const SliceId slice : all_slices(trace_)) {
      if (is_module(slice)) add_call(slice);
    }
    const Links& launches = trace_.launch_to_device();
    for (std::size_t i = 0; i < launches.size(); ++i) {
      add_work(launches.from(i), slices_.duration(launches.to(i)));
    }
    return std::move(stats_);
  }

 private:
  bool is_module(SliceId slice) const { return slices_.kind(slice) == SliceKind::Module; }

  // The slice itself or the innermost one around it; invalid where there is none.
  SliceId module_of(SliceId slice) const {
    while (slice.valid() && !is_module(slice)) slice = slices_.parent(slice);
    return slice;
  }

  // The forward operator that the work below this call goes back on; invalid in a forward pass.
  SliceId forward_of(SliceId slice) const {
    for (; slice.valid(); slice = slices_.parent(slice)) {
      const SliceId forward = forward_.of(slice);
      if (forward.valid()) return forward;
    }
    return {};
  }

  ModuleStats& stats_of(SliceId module) {
    const StringId name = slices_.name(module);
    std::uint32_t& index =
        index_.get_or_insert(name.value, static_cast<std::uint32_t>(stats_.size()));
    if (index == stats_.size()) {
      stats_.emplace_back();
      stats_.back().name = name;
    }
    return stats_[index];
  }

  bool has_namesake_above(SliceId module) const {
    for (SliceId above = module_of(slices_.parent(module)); above.valid();
         above = module_of(slices_.parent(above))) {
      if (slices_.name(above) == slices_.name(module)) return true;
    }
    return false;
  }

  void add_call(SliceId module) {
    ModuleStats& stats = stats_of(module);
    ++stats.calls;
    stats.host_self += slices_.duration(module);
    if (!has_namesake_above(module)) stats.host_total += slices_.duration(module);
    const SliceId above = module_of(slices_.parent(module));
    if (above.valid()) stats_of(above).host_self -= slices_.duration(module);
  }

  void add_work(SliceId launch, Nanos duration) {
    SliceId module = module_of(launch);
    const bool backward = !module.valid();
    if (backward) module = module_of(forward_of(launch));
    if (!module.valid()) return;
    stats_of(module).device_self += duration;
    for (; module.valid(); module = module_of(slices_.parent(module))) {
      if (has_namesake_above(module)) continue;
      ModuleStats& stats = stats_of(module);
      stats.device_total += duration;
      if (backward) stats.device_backward += duration;
    }
  }

  const Trace& trace_;
  const SliceColumns& slices_;
  ForwardOperators forward_;
  std::vector<ModuleStats> stats_;
  FlatMap<std::uint32_t> index_;
};

}  // namespace

std::vector<ModuleStats> module_stats(const Trace& trace) { return Modules(trace).run(); }

}  // namespace sonde
