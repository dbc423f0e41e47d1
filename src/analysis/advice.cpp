#include "analysis/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>

#include "analysis/kernels.hpp"
#include "analysis/memcpy.hpp"
#include "base/format.hpp"

namespace sonde {
namespace {

using MaybeAdvice = std::optional<Advice>;

// Shares of the step time from which on something is worth a word, and worth it loudly.
constexpr double kNoticeable = 0.05;
constexpr double kLarge = 0.20;

constexpr double kLowUtilization = 0.50;
constexpr double kBusyUtilization = 0.80;
constexpr Nanos kShortKernel = 10'000;
constexpr std::uint64_t kManyKernels = 100;
constexpr double kManyShort = 0.30;
constexpr double kLowOccupancy = 50;  // per cent
constexpr double kSimtShare = 0.10;

AdviceWeight weight_of(double share) {
  if (share >= kLarge) return AdviceWeight::High;
  return share >= kNoticeable ? AdviceWeight::Medium : AdviceWeight::Low;
}

std::string percent(double share) { return format_percent(100 * share); }

std::string duration(double nanos) { return format_duration(nanos); }
std::string duration(Nanos nanos) { return format_duration(static_cast<double>(nanos)); }

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double ratio(Nanos part, Nanos whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

// Names of kernels can be longer than a page.
std::string short_name(std::string_view name) {
  constexpr std::size_t kLongest = 60;
  if (name.size() <= kLongest) return std::string(name);
  return std::string(name.substr(0, kLongest - 3)) + "...";
}

std::string step_word(const AdviceInput& input) {
  return input.steps.has_steps ? "average step" : "recording";
}

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

MaybeAdvice short_kernels(const AdviceInput& input) {
  const SliceColumns& slices = input.trace.slices();
  std::uint64_t kernels = 0;
  std::uint64_t slow_launches = 0;
  Nanos kernel_time = 0;
  Nanos launch_time = 0;
  for (const LaunchNode& launch : input.tree.launches()) {
    for (const SliceId work : input.tree.device_of(launch)) {
      if (slices.kind(work) != SliceKind::Kernel) continue;
      ++kernels;
      const Nanos ran = slices.duration(work);
      const Nanos launched = slices.duration(launch.slice);
      // A launch of many kernels at once (a graph) is not held against any one of them.
      if (launch.device_count != 1 || ran >= kShortKernel || launched <= ran) continue;
      ++slow_launches;
      kernel_time += ran;
      launch_time += launched;
    }
  }
  const double share = ratio(static_cast<double>(slow_launches), static_cast<double>(kernels));
  if (kernels < kManyKernels || share < kManyShort) return {};
  // With the GPU busy anyhow, launches are hidden behind kernels.
  const bool busy = std::all_of(input.gpus.begin(), input.gpus.end(), [](const auto& gpu) {
    return gpu.utilization >= kBusyUtilization;
  });
  if (busy) return {};
  Advice out;
  out.id = "short_kernels";
  out.share = share;
  out.weight = AdviceWeight::Medium;
  out.headline = fmt::format("{} of the kernels take less time than their launch", percent(share));
  out.why = fmt::format(
      "{} of {} kernels ran for less than 10 us and for less than the call that "
      "launched them: {} a kernel, {} a launch on average.",
      format_count(static_cast<std::int64_t>(slow_launches)),
      format_count(static_cast<std::int64_t>(kernels)),
      duration(ratio(static_cast<double>(kernel_time), static_cast<double>(slow_launches))),
      duration(ratio(static_cast<double>(launch_time), static_cast<double>(slow_launches))));
  out.action =
      "Fuse small kernels (torch.compile; optimizers with fused=True or foreach=True), capture the "
      "step in a CUDA graph, or raise the batch size.";
  out.measures = {{"kernels", static_cast<double>(kernels)},
                  {"short_kernels", static_cast<double>(slow_launches)},
                  {"short_kernel_time_ns", static_cast<double>(kernel_time)},
                  {"launch_time_ns", static_cast<double>(launch_time)}};
  return out;
}

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
  out.action =
      "Use pinned memory (DataLoader(pin_memory=True), tensor.pin_memory()) and copy with "
      "tensor.to(device, non_blocking=True).";
  out.measures = {{"copies", static_cast<double>(pageable.count)},
                  {"time_ns", static_cast<double>(pageable.time)},
                  {"bytes", static_cast<double>(pageable.bytes)}};
  return out;
}

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
  out.action =
      "Start communication earlier and in larger pieces (DDP bucket_cap_mb, "
      "gradient_as_bucket_view, FSDP prefetch), accumulate gradients over several steps "
      "(no_sync()), and look for the slowest rank.";
  out.measures = {{"communication_ns", static_cast<double>(communication)},
                  {"exposed_ns", static_cast<double>(exposed)},
                  {"step_time_ns", static_cast<double>(total)}};
  return out;
}

MaybeAdvice low_occupancy(const AdviceInput& input) {
  const GpuUtilization* worst = nullptr;
  for (const GpuUtilization& gpu : input.gpus) {
    if (gpu.occupancy <= 0 || gpu.occupancy >= kLowOccupancy) continue;
    if (!worst || gpu.occupancy < worst->occupancy) worst = &gpu;
  }
  if (!worst) return {};
  // The kernel that would gain most: much time at a low occupancy.
  const KernelStats* top = nullptr;
  const std::vector<KernelStats> kernels = kernel_stats(input.trace);
  const auto waste = [](const KernelStats& kernel) {
    return static_cast<double>(kernel.total) * (100 - kernel.occupancy.value_or(100));
  };
  for (const KernelStats& kernel : kernels) {
    if (kernel.occupancy && (!top || waste(kernel) > waste(*top))) top = &kernel;
  }
  Advice out;
  out.id = "low_occupancy";
  out.share = 0;  // what could be gained is unknown
  out.weight = AdviceWeight::Low;
  out.headline = fmt::format("Kernels of GPU {} fill {} of the warps it can hold", worst->device,
                             percent(worst->occupancy / 100));
  out.why = "This is the estimated occupancy, averaged over kernels by their time.";
  if (top) {
    out.why += fmt::format(" {} stands out with {} at {}.", short_name(input.trace.text(top->name)),
                           duration(top->total), percent(*top->occupancy / 100));
  }
  out.action =
      "Larger batches and tensor sizes give kernels more blocks. Matrix kernels are often "
      "fast at low occupancy: compare before and after.";
  out.measures = {{"occupancy_percent", worst->occupancy}};
  return out;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

// Matrix kernels of cuBLAS, cuDNN and CUTLASS that say in their name that they compute in single
// precision on the ordinary cores.
bool is_simt_matrix_kernel(std::string_view name) {
  return contains_any(name, {"sgemm", "scudnn", "simt_s"}) &&
         !contains_any(name, {"tf32", "tensorop", "xmma", "s884", "s1688", "s16816", "h884"});
}

MaybeAdvice unused_tensor_cores(const AdviceInput& input) {
  const auto& devices = input.trace.meta().devices;
  const bool cuda =
      input.trace.meta().device_family.empty() || input.trace.meta().device_family == "CUDA";
  const auto capable = std::find_if(devices.begin(), devices.end(),
                                    [](const Device& d) { return d.compute_major >= 7; });
  if (!cuda || capable == devices.end()) return {};
  Nanos all = 0;
  Nanos simt = 0;
  StringId top;
  Nanos top_time = -1;
  for (const KernelStats& kernel : kernel_stats(input.trace)) {
    all += kernel.total;
    if (!is_simt_matrix_kernel(input.trace.text(kernel.name))) continue;
    simt += kernel.total;
    if (kernel.total > top_time) {
      top = kernel.name;
      top_time = kernel.total;
    }
  }
  const double share = ratio(simt, all);
  if (share < kSimtShare) return {};
  Advice out;
  out.id = "tensor_cores_unused";
  out.share = share;
  out.weight = share >= kLarge ? AdviceWeight::High : AdviceWeight::Medium;
  out.headline = fmt::format("{} of the kernel time goes to matrix kernels without tensor cores",
                             percent(share));
  out.why = fmt::format(
      "{} of {} in single-precision kernels such as {}, though {} (compute {}.{}) "
      "has tensor cores.",
      duration(simt), duration(all), short_name(input.trace.text(top)), capable->name,
      capable->compute_major, capable->compute_minor);
  out.action = capable->compute_major >= 8
                   ? "Train in mixed precision (torch.autocast, bfloat16), or allow TF32: "
                     "torch.set_float32_matmul_precision(\"high\")."
                   : "Train in mixed precision: torch.autocast with float16 and a GradScaler.";
  out.measures = {{"simt_kernel_ns", static_cast<double>(simt)},
                  {"kernel_ns", static_cast<double>(all)}};
  return out;
}

using Rule = MaybeAdvice (*)(const AdviceInput&);

constexpr std::array<Rule, 9> kRules = {
    data_loading,      low_utilization,       short_kernels, host_waits,          pageable_copies,
    copies_in_the_way, exposed_communication, low_occupancy, unused_tensor_cores,
};

void order(std::vector<Advice>& advice) {
  std::stable_sort(advice.begin(), advice.end(), [](const Advice& a, const Advice& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.share > b.share;
  });
}

}  // namespace

std::string_view advice_weight_name(AdviceWeight weight) {
  switch (weight) {
    case AdviceWeight::High:
      return "high";
    case AdviceWeight::Medium:
      return "medium";
    case AdviceWeight::Low:
      break;
  }
  return "low";
}

std::vector<Advice> give_advice(const AdviceInput& input) {
  std::vector<Advice> out;
  for (const Rule rule : kRules) {
    if (MaybeAdvice advice = rule(input)) out.push_back(std::move(*advice));
  }
  order(out);
  return out;
}

std::vector<Advice> merge_advice(const std::vector<std::vector<Advice>>& by_rank,
                                 const std::vector<std::string>& names) {
  std::vector<Advice> out;
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    for (const Advice& advice : by_rank[i]) {
      const auto at = std::find_if(out.begin(), out.end(),
                                   [&](const Advice& other) { return other.id == advice.id; });
      if (at == out.end()) {
        out.push_back(advice);
        out.back().subjects = {names[i]};
        continue;
      }
      std::vector<std::string> subjects = std::move(at->subjects);
      if (advice.share > at->share) {
        *at = advice;
        // The rank that the numbers are of stands first.
        subjects.insert(subjects.begin(), names[i]);
      } else {
        subjects.push_back(names[i]);
      }
      at->subjects = std::move(subjects);
    }
  }
  order(out);
  return out;
}

}  // namespace sonde
