#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trace/kind.hpp"

namespace sonde {

// A type of Paddle's events: its name is the category in JSON, its number the enum of the dump.
struct PaddleEventType {
  std::string_view name;
  SliceKind kind = SliceKind::UserRange;
  bool keeps_name = false;  // the kind alone does not tell the type
};

inline constexpr std::array<PaddleEventType, 17> kPaddleEventTypes = {{
    {"Operator", SliceKind::Operator},
    {"Dataloader", SliceKind::DataLoader},
    {"ProfileStep", SliceKind::Step},
    {"CudaRuntime", SliceKind::Runtime},
    {"Kernel", SliceKind::Kernel},
    {"Memcpy", SliceKind::Memcpy},
    {"Memset", SliceKind::Memset},
    {"UserDefined", SliceKind::UserRange, true},
    {"OperatorInner", SliceKind::OperatorInner},
    {"Forward", SliceKind::Forward},
    {"Backward", SliceKind::Backward},
    {"Optimization", SliceKind::Optimizer},
    {"Communication", SliceKind::Communication},
    {"PythonOp", SliceKind::UserRange, true},
    {"PythonUserDefined", SliceKind::UserRange, true},
    {"DygraphKernelLaunch", SliceKind::OperatorInner, true},
    {"StaticKernelLaunch", SliceKind::OperatorInner, true},
}};

inline constexpr std::array<std::string_view, 4> kPaddleMemoryTypes = {
    "Allocate", "Free", "ReservedAllocate", "ReservedFree"};

}  // namespace sonde
