#include "analysis/advice_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/advice_wording.hpp"
#include "analysis/kernels.hpp"

namespace sonde::advice {
namespace {

constexpr double kBusyUtilization = 0.80;
constexpr Nanos kShortKernel = 10'000;
constexpr std::uint64_t kManyKernels = 100;
constexpr double kManyShort = 0.30;
constexpr double kLowOccupancy = 50;  // per cent
constexpr double kSimtShare = 0.10;

}  // namespace

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
  out.action = wording_for(input.trace).fuse_kernels;
  out.measures = {{"kernels", static_cast<double>(kernels)},
                  {"short_kernels", static_cast<double>(slow_launches)},
                  {"short_kernel_time_ns", static_cast<double>(kernel_time)},
                  {"launch_time_ns", static_cast<double>(launch_time)}};
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

namespace {

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

}  // namespace

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
  const Wording& words = wording_for(input.trace);
  out.action = capable->compute_major >= 8 ? words.use_tensor_cores : words.use_older_tensor_cores;
  out.measures = {{"simt_kernel_ns", static_cast<double>(simt)},
                  {"kernel_ns", static_cast<double>(all)}};
  return out;
}

}  // namespace sonde::advice
