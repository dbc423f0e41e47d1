#include "import/kineto/categories.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sonde {
namespace {

struct KnownCategory {
  std::string_view name;
  KinetoCategory category;
};

constexpr KinetoCategory known(SliceKind kind, bool annotation = false) {
  return {kind, true, annotation};
}

constexpr std::array kCategories = {
    KnownCategory{"operator", known(SliceKind::Operator)},
    KnownCategory{"cpu_op", known(SliceKind::Operator)},
    KnownCategory{"hpu_op", known(SliceKind::Operator)},
    KnownCategory{"user_annotation", known(SliceKind::UserRange, true)},
    KnownCategory{"user", known(SliceKind::DeviceRange, true)},
    KnownCategory{"gpu_user_annotation", known(SliceKind::DeviceRange, true)},
    KnownCategory{"kernel", known(SliceKind::Kernel)},
    KnownCategory{"mtia_ccp_events", known(SliceKind::Kernel)},
    KnownCategory{"memcpy", known(SliceKind::Memcpy)},
    KnownCategory{"gpu_memcpy", known(SliceKind::Memcpy)},
    KnownCategory{"memset", known(SliceKind::Memset)},
    KnownCategory{"gpu_memset", known(SliceKind::Memset)},
    KnownCategory{"runtime", known(SliceKind::Runtime)},
    KnownCategory{"cuda_runtime", known(SliceKind::Runtime)},
    KnownCategory{"mtia_runtime", known(SliceKind::Runtime)},
    KnownCategory{"glow_runtime", known(SliceKind::Runtime)},
    KnownCategory{"xpu_runtime", known(SliceKind::Runtime)},
    KnownCategory{"privateuse1_runtime", known(SliceKind::Runtime)},
    KnownCategory{"cuda_driver", known(SliceKind::Driver)},
    KnownCategory{"xpu_driver", known(SliceKind::Driver)},
    KnownCategory{"privateuse1_driver", known(SliceKind::Driver)},
    KnownCategory{"python_function", known(SliceKind::PythonFunction)},
    KnownCategory{"python", known(SliceKind::PythonFunction)},
    KnownCategory{"overhead", known(SliceKind::Overhead)},
    KnownCategory{"cuda_sync", known(SliceKind::Sync)},
    KnownCategory{"xpu_sync", known(SliceKind::Sync)},
    KnownCategory{"cuda_event", known(SliceKind::Sync)},
    KnownCategory{"collective_comm", known(SliceKind::Communication)},
    KnownCategory{"trace", known(SliceKind::Span)},
    KnownCategory{"net", known(SliceKind::Other)},
    KnownCategory{"cuda_profiler_range", known(SliceKind::Other)},
    KnownCategory{"external_correlation", known(SliceKind::Other)},
    KnownCategory{"mtia_insight", known(SliceKind::Other)},
    KnownCategory{"mtia_counters", known(SliceKind::Other)},
    KnownCategory{"xpu_scope_profiler", known(SliceKind::Other)},
    KnownCategory{"hardware_counters", known(SliceKind::Other)},
};

// "sonde.forward": what Sonde writes for kinds that no profiler has a category for.
constexpr std::string_view kOwnKinds = "sonde.";

bool is_data_loader(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

}  // namespace

KinetoCategory kineto_category(std::string_view category) {
  std::string lower(category.substr(0, 40));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const KnownCategory& entry : kCategories) {
    if (entry.name == lower) return entry.category;
  }
  if (lower.starts_with(kOwnKinds)) {
    const std::string_view word = std::string_view(lower).substr(kOwnKinds.size());
    const auto kind = std::find(kSliceKindNames.begin(), kSliceKindNames.end(), word);
    if (kind != kSliceKindNames.end())
      return known(static_cast<SliceKind>(kind - kSliceKindNames.begin()));
  }
  return {};
}

SliceKind kineto_kind_by_name(SliceKind kind, std::string_view name) {
  if (kind == SliceKind::PythonFunction) {
    return name.starts_with("nn.Module: ") ? SliceKind::Module : kind;
  }
  if (kind != SliceKind::Operator && kind != SliceKind::UserRange) return kind;
  if (name.starts_with("ProfilerStep#")) return SliceKind::Step;
  if (is_data_loader(name)) return SliceKind::DataLoader;
  if (name.starts_with("Optimizer.")) return SliceKind::Optimizer;
  if (name.starts_with("nccl:") || name.starts_with("gloo:") || name.starts_with("mpi:") ||
      name.starts_with("ucc:")) {
    return SliceKind::Communication;
  }
  return kind;
}

}  // namespace sonde
