#include "analysis/advice_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/kernels.hpp"
#include "analysis/memcpy.hpp"

namespace sonde::advice {
namespace {

constexpr double kLowUtilization = 0.50;

}  // namespace

MaybeAdvice data_loading(const AdviceInput& input) {
  const double time = input.steps.average[StepRole::DataLoader];
  const double share = ratio(time, input.steps.average_total);
  if (share <= kNoticeable) return {};
  Advice out;
  out.id = "data_loader_bound";
  out.share = share;
  out.weight = weight_of(share);
  out.headline =
      fmt::format("Waiting for data takes {} of the {}", percent(share), step_word(input));
  out.why =
      fmt::format("For {} of {} the data loader ran and no kernel, no copy and no CUDA call did.",
                  duration(time), duration(input.steps.average_total));
  out.action =
      "Load in parallel and ahead: DataLoader(num_workers=N, pin_memory=True, "
      "persistent_workers=True, prefetch_factor=4). Move decoding and augmentation to the GPU or "
      "do them once, before training.";
  out.measures = {{"data_loader_ns", time}, {"step_ns", input.steps.average_total}};
  return out;
}

namespace {

// The role that takes most of the step beside kernels.
StepRole largest_other_role(const StepBreakdown& steps) {
  StepRole best = StepRole::Memcpy;
  for (std::size_t i = 1; i < kStepRoleCount; ++i) {
    const auto role = static_cast<StepRole>(i);
    if (steps.average[role] > steps.average[best]) best = role;
  }
  return best;
}

struct RoleAdvice {
  StepRole role;
  std::string_view what;
  std::string_view action;
};

constexpr std::array<RoleAdvice, 7> kRoleAdvice = {{
    {StepRole::Memcpy, "copies", "Copy less, from pinned memory, with non_blocking=True."},
    {StepRole::Memset, "memsets", "Reuse buffers instead of clearing new ones."},
    {StepRole::Communication, "communication",
     "Overlap communication with the backward pass: larger gradient buckets, fewer "
     "synchronising calls."},
    {StepRole::Runtime, "CUDA runtime calls",
     "Launch less often: a larger batch, torch.compile, CUDA graphs; avoid calls that wait."},
    {StepRole::DataLoader, "data loading", "Load data in parallel and ahead of its use."},
    {StepRole::CpuOp, "operators on the CPU",
     "Give the GPU more at a time: a larger batch, torch.compile or CUDA graphs; move what still "
     "runs on the CPU."},
    {StepRole::Other, "work outside of any operator",
     "Look at the Python code between operators; record with with_stack=True to see it."},
}};

}  // namespace

MaybeAdvice low_utilization(const AdviceInput& input) {
  const GpuUtilization* worst = nullptr;
  for (const GpuUtilization& gpu : input.gpus) {
    if (gpu.utilization < kLowUtilization && (!worst || gpu.utilization < worst->utilization)) {
      worst = &gpu;
    }
  }
  if (!worst) return {};
  const Nanos window = input.steps.window().length();
  if (window <= 0) return {};
  const StepRole role = largest_other_role(input.steps);
  const RoleAdvice* const other = std::find_if(kRoleAdvice.begin(), kRoleAdvice.end(),
                                               [role](const auto& a) { return a.role == role; });
  Advice out;
  out.id = "low_gpu_utilization";
  out.share = 1 - worst->utilization;
  out.weight = worst->utilization < kLowUtilization / 2 ? AdviceWeight::High : AdviceWeight::Medium;
  out.headline = fmt::format("GPU {} is idle for {} of the time", worst->device,
                             percent(1 - worst->utilization));
  out.why = fmt::format(
      "It ran kernels during {} of the {} {}. The largest part of the rest went to {}: "
      "{} of the {}.",
      percent(worst->utilization), duration(window),
      input.steps.has_steps ? "from the first step to the last" : "recorded", other->what,
      percent(ratio(input.steps.average[role], input.steps.average_total)), step_word(input));
  out.action = other->action;
  out.measures = {{"utilization_percent", 100 * worst->utilization},
                  {"window_ns", static_cast<double>(window)}};
  return out;
}

namespace {

// Calls in which the host waits for the device, whatever else they do.
bool is_waiting_call(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kCalls = {"cudaStreamSynchronize",
                                                             "cudaDeviceSynchronize",
                                                             "cudaEventSynchronize",
                                                             "hipStreamSynchronize",
                                                             "hipDeviceSynchronize",
                                                             "hipEventSynchronize",
                                                             "cudaMemcpy",
                                                             "hipMemcpy",
                                                             "hipMemcpyWithStream"};
  return std::find(kCalls.begin(), kCalls.end(), name) != kCalls.end();
}

}  // namespace

MaybeAdvice host_waits(const AdviceInput& input) {
  const SliceColumns& slices = input.trace.slices();
  const Interval window = input.steps.window();
  struct Waits {
    std::uint64_t count = 0;
    Nanos time = 0;
  };
  std::map<std::string_view, Waits> by_call;
  Waits all;
  Waits from_item;
  for (const SliceId slice : all_slices(input.trace)) {
    if (!is_launch_call(slices.kind(slice)) || !is_waiting_call(input.trace.name(slice))) continue;
    if (slices.start(slice) < window.start || slices.end(slice) > window.end) continue;
    for (Waits* waits : {&by_call[input.trace.name(slice)], &all}) {
      ++waits->count;
      waits->time += slices.duration(slice);
    }
    for (SliceId up = slices.parent(slice); up.valid(); up = slices.parent(up)) {
      if (input.trace.name(up) != "aten::_local_scalar_dense") continue;
      ++from_item.count;
      from_item.time += slices.duration(slice);
      break;
    }
  }
  const double share = ratio(all.time, window.length());
  if (share < kNoticeable) return {};
  const auto top =
      std::max_element(by_call.begin(), by_call.end(),
                       [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  Advice out;
  out.id = "host_waits_for_gpu";
  out.share = share;
  out.weight = weight_of(share);
  out.headline = fmt::format("The host waits for the GPU during {} of the time", percent(share));
  out.why = fmt::format("{} in {} synchronising calls, most of it in {} ({} calls, {}).",
                        duration(all.time), format_count(static_cast<std::int64_t>(all.count)),
                        top->first, format_count(static_cast<std::int64_t>(top->second.count)),
                        duration(top->second.time));
  if (from_item.count) {
    out.why += fmt::format(
        " {} of them ({}) read one number from the GPU, as item(), float() and "
        "print() of a tensor do.",
        format_count(static_cast<std::int64_t>(from_item.count)), duration(from_item.time));
    out.action = "Keep losses and metrics on the GPU and read them every N steps, not at each one.";
  } else {
    out.action =
        "Find what synchronises (copies to the host, torch.cuda.synchronize(), nonzero(), "
        "boolean masks) with torch.cuda.set_sync_debug_mode(\"warn\") and move it out of "
        "the step.";
  }
  out.measures = {{"waits", static_cast<double>(all.count)},
                  {"wait_ns", static_cast<double>(all.time)},
                  {"item_waits", static_cast<double>(from_item.count)},
                  {"item_wait_ns", static_cast<double>(from_item.time)}};
  return out;
}

}  // namespace sonde::advice
