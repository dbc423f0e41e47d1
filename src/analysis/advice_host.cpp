#include "analysis/advice_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/advice_wording.hpp"

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
      fmt::format("For {} of {} the data loader ran and no kernel, no copy and no {} call did.",
                  duration(time), duration(input.steps.average_total), runtime_word(input.trace));
  if (!input.steps.has_device) {
    out.why = fmt::format("The data loader ran for {} of {}.", duration(time),
                          duration(input.steps.average_total));
  }
  out.action = wording_for(input.trace).load_data;
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

// What takes the time beside kernels, and what to do about it.
struct RoleAdvice {
  std::string what;
  std::string action;
};

RoleAdvice role_advice(StepRole role, const Trace& trace) {
  const Wording& words = wording_for(trace);
  const std::string_view device = device_word(trace);
  switch (role) {
    case StepRole::Kernel:  // is what is missing
    case StepRole::Other:
      break;
    case StepRole::Memcpy:
      return {"copies", std::string(words.copy_less)};
    case StepRole::Memset:
      return {"memsets", "Reuse buffers instead of clearing new ones."};
    case StepRole::Communication:
      return {"communication",
              "Overlap communication with the backward pass: larger gradient buckets, fewer "
              "synchronising calls."};
    case StepRole::Runtime:
      return {fmt::format("{} calls", runtime_word(trace) == "runtime"
                                          ? "runtime"
                                          : fmt::format("{} runtime", runtime_word(trace))),
              fmt::format("Launch less often: a larger batch, {}; avoid calls that wait.",
                          words.launch_less)};
    case StepRole::DataLoader:
      return {"data loading", "Load data in parallel and ahead of its use."};
    case StepRole::CpuOp:
      return {"operators on the CPU",
              fmt::format("Give the {} more at a time: a larger batch, {}; move what still runs on "
                          "the CPU.",
                          device, words.launch_less)};
  }
  return {"work outside of any operator", std::string(words.see_host_code)};
}

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
  RoleAdvice other = role_advice(role, input.trace);
  Advice out;
  out.id = "low_gpu_utilization";
  out.share = 1 - worst->utilization;
  out.weight = worst->utilization < kLowUtilization / 2 ? AdviceWeight::High : AdviceWeight::Medium;
  out.headline = fmt::format("{} {} is idle for {} of the time", device_word(input.trace),
                             worst->device, percent(1 - worst->utilization));
  out.why = fmt::format(
      "It ran kernels during {} of the {} {}. The largest part of the rest went to {}: "
      "{} of the {}.",
      percent(worst->utilization), duration(window),
      input.steps.has_steps ? "from the first step to the last" : "recorded", other.what,
      percent(ratio(input.steps.average[role], input.steps.average_total)), step_word(input));
  out.action = std::move(other.action);
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
  out.headline = fmt::format("The host waits for the {} during {} of the time",
                             device_word(input.trace), percent(share));
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
    out.action = wording_for(input.trace).find_waits;
  }
  out.measures = {{"waits", static_cast<double>(all.count)},
                  {"wait_ns", static_cast<double>(all.time)},
                  {"item_waits", static_cast<double>(from_item.count)},
                  {"item_wait_ns", static_cast<double>(from_item.time)}};
  return out;
}

}  // namespace sonde::advice
