#include "import/xplane/event_types.hpp"

#include <algorithm>
#include <charconv>

#include "trace/tensorflow_names.hpp"

namespace sonde {
namespace {

// "cuLaunchKernel" with "cu" but not "cudaLaunchKernel".
bool is_call_of(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] >= 'A' &&
         name[prefix.size()] <= 'Z';
}

std::int32_t number_behind(std::string_view text, std::string_view prefix) {
  text.remove_prefix(prefix.size());
  std::int32_t number = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? number : -1;
}

}  // namespace

PlaneKind plane_kind(std::string_view plane) {
  if (plane.starts_with("/device:GPU:")) {
    return {PlaneType::Gpu, number_behind(plane, "/device:GPU:")};
  }
  if (plane.starts_with("/device:TPU:")) {
    return {PlaneType::Tpu, number_behind(plane, "/device:TPU:")};
  }
  if (plane.starts_with("/device:CUSTOM:")) return {PlaneType::Custom, -1};
  for (const std::string_view host :
       {"/host:CPU", "/host:CUPTI", "/host:ROCTRACER", "/host:TPU-runtime", "/host:python-tracer",
        "/host:NVTX-CUPTI", "Host CPUs", "Syscalls"}) {
    if (plane == host) return {PlaneType::Host, -1};
  }
  return {PlaneType::Other, -1};
}

LineType line_type(PlaneType plane, std::int64_t id, std::string_view name) {
  // Lines that a viewer computes and some writers keep in the file.
  constexpr std::int64_t kFirstDerived = 0xdeadbeef;
  constexpr std::int64_t kLastDerived = kFirstDerived + 388;
  if (name == "_counters_") return LineType::Counters;
  if (plane == PlaneType::Host || plane == PlaneType::Other) return LineType::Thread;
  if (name == "CUPTI overhead") return LineType::Overhead;
  if (name == "Steps") return LineType::Steps;
  if (id >= kFirstDerived && id <= kLastDerived) return LineType::Ranges;
  if (plane == PlaneType::Gpu) return LineType::Stream;
  if (name == "XLA Ops" || name == "Sparse Core Ops") return LineType::Ops;
  if (name == "Async XLA Ops") return LineType::AsyncOps;
  if (plane == PlaneType::Custom && name.starts_with("Stream")) return LineType::Stream;
  return LineType::Ranges;
}

TensorFlowOp tensorflow_op(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view node = name.substr(0, colon);
  const std::string_view type = name.substr(colon + 1);
  if (!is_node_name(node) || !is_op_type(type)) return {};
  return {node, type};
}

NameClass name_class(std::string_view name) {
  if (name.starts_with("$")) return NameClass::Python;
  if (name.starts_with("NVTX:")) return NameClass::Nvtx;
  if (name.starts_with("Iterator::")) return NameClass::DataOp;
  if (name.starts_with("PjitFunction(")) return NameClass::JitCall;
  if (name == "MemoryAllocation") return NameClass::Allocation;
  if (name == "MemoryDeallocation") return NameClass::Deallocation;
  if (name == "FunctionRun" || name == "SessionRun" || name == "RunGraph")
    return NameClass::RunRoot;
  if (is_call_of(name, "cuda") || is_call_of(name, "hip")) return NameClass::Runtime;
  if (is_call_of(name, "cu")) return NameClass::Driver;
  if (const TensorFlowOp op = tensorflow_op(name); !op.type.empty()) {
    return op.type.starts_with("IteratorGetNext") ? NameClass::DataOp : NameClass::TensorFlowOp;
  }
  return NameClass::Plain;
}

bool is_control_flow(std::string_view category) {
  return category == "while" || category == "conditional" || category == "call";
}

bool is_collective(std::string_view category) {
  for (const std::string_view word :
       {"all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute",
        "collective-broadcast", "ragged-all-to-all", "collective fusion"}) {
    if (category.starts_with(word)) return true;
  }
  return false;
}

}  // namespace sonde
