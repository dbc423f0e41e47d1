#include "analysis/kernel_variants.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/framework_ops.hpp"

namespace sonde {
namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

std::string_view op_of(const Trace& trace, SliceId kernel, StringId tf_op) {
  const std::string_view named = trace.text(find_argument(trace, kernel, tf_op).text());
  if (!named.empty()) return named;
  const SliceId launch = trace.launch_to_device().source(kernel);
  const SliceId op = launch.valid() ? trace.operator_to_launch().source(launch) : SliceId();
  return op.valid() ? trace.name(op) : std::string_view();
}

}  // namespace

bool kernel_uses_tensor_core(std::string_view kernel) {
  return contains_any(
      kernel, {"16816", "c1688", "conv1x1", "conv2d_c1_k1", "dgrad_1x1_stride_2x2", "direct_group",
               "first_layer_wgrad_kernel", "h1688", "h884", "hmma", "i16832", "i8816", "s884",
               "s1688", "xmma_gemm", "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_sparse_gemm",
               "xmma_warp_specialized_implicit_gemm"});
}

bool op_may_use_tensor_core(std::string_view op) {
  return contains_any(op, {"Conv2D", "Conv3D", "MatMul", "Einsum", "CudnnRNN", "XlaDot"});
}

std::vector<KernelVariant> kernel_variants(const Trace& trace) {
  using Key = std::tuple<StringId, std::string_view, std::int32_t, std::int32_t,
                         std::array<std::int32_t, 3>, std::array<std::int32_t, 3>>;
  const StringId tf_op = trace.strings().find("tf_op");
  const PicoLengths lengths(trace);
  std::map<Key, KernelVariant> groups;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) != SliceKind::Kernel) continue;
    const Picos length = lengths.of(slice);
    if (length == 0) continue;
    const DeviceRow* row = trace.device_work().find(slice);
    const DeviceRow none;
    if (row == nullptr) row = &none;
    const std::string_view full = op_of(trace, slice, tf_op);
    const FrameworkOpName op = framework_op_name(full);
    KernelVariant& variant = groups[{trace.slices().name(slice), op.name, row->registers,
                                     row->shared_memory, row->grid, row->block}];
    if (variant.occurrences == 0) {
      variant.name = trace.name(slice);
      variant.op = op.name;
      variant.registers = row->registers;
      variant.shared_memory = row->shared_memory;
      variant.grid = row->grid;
      variant.block = row->block;
      variant.occupancy = row->occupancy;
      variant.op_may_use_tensor_core = op_may_use_tensor_core(full);
      variant.uses_tensor_core = kernel_uses_tensor_core(variant.name);
      variant.min_ps = length;
    }
    ++variant.occurrences;
    variant.total_ps += length;
    variant.min_ps = std::min(variant.min_ps, length);
    variant.max_ps = std::max(variant.max_ps, length);
  }
  std::vector<KernelVariant> out;
  for (auto& [key, variant] : groups) out.push_back(variant);
  std::stable_sort(out.begin(), out.end(), [](const KernelVariant& a, const KernelVariant& b) {
    return a.total_ps > b.total_ps;
  });
  return out;
}

}  // namespace sonde
