#include "export/categories.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sonde {
namespace {

bool is_collective_name(std::string_view name) {
  return name.starts_with("nccl:") || name.starts_with("gloo:") || name.starts_with("mpi:") ||
         name.starts_with("ucc:");
}

// Of a plain trace-event file, whose words stay as they are; one that Sonde wrote of another source
// has Kineto's words already.
bool has_plain_words(const TraceMeta& meta) {
  if (meta.format != "chrome") return false;
  return std::none_of(meta.properties.begin(), meta.properties.end(), [](const auto& property) {
    return property.first == "otherData" && property.second.starts_with(kWrittenBySonde);
  });
}

}  // namespace

SliceCategories::SliceCategories(const Trace& trace)
    : trace_(trace),
      kineto_(trace.meta().format == "kineto"),
      old_(kineto_ && (trace.meta().version.starts_with("torch 1.8") ||
                       trace.meta().version.starts_with("torch 1.9"))) {
  const std::string& family = trace.meta().device_family;
  if (family == "XPU") {
    runtime_ = "xpu_runtime";
    driver_ = "xpu_driver";
    sync_ = "xpu_sync";
  } else if (family == "MTIA") {
    runtime_ = "mtia_runtime";
    kernel_ = "mtia_ccp_events";
  }
  if (has_plain_words(trace.meta())) {
    operators_ = "operator";
    runtime_ = "runtime";
  }
  if (old_) {
    operators_ = "Operator";
    runtime_ = "Runtime";
    kernel_ = "Kernel";
    memcpy_ = "Memcpy";
    memset_ = "Memset";
  }
}

std::string_view SliceCategories::of(SliceId slice) const {
  if (const std::string_view word = of_plain(trace_.slices().kind(slice)); !word.empty()) {
    return word;
  }
  return kineto_ ? of_kineto(slice) : of_others(slice);
}

std::string_view SliceCategories::of_plain(SliceKind kind) const {
  switch (kind) {
    case SliceKind::Kernel:
      return kernel_;
    case SliceKind::Memcpy:
      return memcpy_;
    case SliceKind::Memset:
      return memset_;
    case SliceKind::Runtime:
      return runtime_;
    case SliceKind::Driver:
      return driver_;
    case SliceKind::Sync:
      return sync_;
    case SliceKind::DeviceRange:
      return "gpu_user_annotation";
    case SliceKind::PythonFunction:
      return "python_function";
    case SliceKind::Overhead:
      return "overhead";
    case SliceKind::Span:
      return "Trace";
    default:
      return {};
  }
}

std::string_view SliceCategories::of_kineto(SliceId slice) const {
  const SliceKind kind = trace_.slices().kind(slice);
  const StringId* own = trace_.categories().find(slice);
  const OperatorRow* row = trace_.operators().find(slice);
  const bool annotation = row != nullptr && row->is_annotation;
  switch (kind) {
    case SliceKind::Module:
      return "python_function";
    case SliceKind::Communication:
      if (!is_collective_name(trace_.name(slice))) return "collective_comm";
      return annotation ? "user_annotation" : operators_;
    case SliceKind::Other:
      return own != nullptr ? trace_.text(*own) : std::string_view();
    default:
      return annotation ? "user_annotation" : operators_;
  }
}

std::string_view SliceCategories::of_others(SliceId slice) const {
  const SliceKind kind = trace_.slices().kind(slice);
  const StringId* own = trace_.categories().find(slice);
  switch (kind) {
    case SliceKind::Operator:
      return operators_;
    case SliceKind::UserRange:
    case SliceKind::Other:
      if (own != nullptr) return trace_.text(*own);
      return trace_.operators().find(slice) != nullptr ? "user_annotation" : "";
    default:
      break;
  }
  // The reader knows modules by their names.
  if (kind == SliceKind::Module && trace_.name(slice).starts_with("nn.Module: "))
    return "python_function";
  // Of a trace-event file, only names can have made such kinds.
  const OperatorRow* row = trace_.operators().find(slice);
  const bool by_name = trace_.meta().format == "chrome" && row != nullptr;
  if (kind == SliceKind::Communication && !(by_name && is_collective_name(trace_.name(slice))))
    return "collective_comm";
  if (by_name) return row->is_annotation ? "user_annotation" : operators_;
  static const std::array<std::string, kSliceKindCount> kOwn = [] {
    std::array<std::string, kSliceKindCount> words;
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = "sonde." + std::string(kSliceKindNames[i]);
    return words;
  }();
  return kOwn[static_cast<std::size_t>(kind)];
}

}  // namespace sonde
