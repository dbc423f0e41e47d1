#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sonde {

// What a slice is, whatever framework wrote it.
enum class SliceKind : std::uint8_t {
  Other,  // a category that no importer knows; its name is kept in Trace::categories
  Step,
  Operator,
  OperatorInner,
  UserRange,
  Module,
  PythonFunction,
  Runtime,  // CUDA/HIP runtime API
  Driver,   // CUDA driver API
  Api,      // a framework's own API
  Kernel,
  Memcpy,
  Memset,
  Communication,
  DataLoader,
  Forward,
  Backward,
  Optimizer,
  Overhead,
  DeviceRange,  // a user range as seen on a device stream
  Sync,         // CUDA synchronisation and event records
  Span,         // the profiler's own recording window
};

inline constexpr std::size_t kSliceKindCount = static_cast<std::size_t>(SliceKind::Span) + 1;

inline constexpr std::array<std::string_view, kSliceKindCount> kSliceKindNames = {
    "other",      "step",          "operator",        "operator inner",
    "user range", "module",        "python function", "runtime",
    "driver",     "api",           "kernel",          "memcpy",
    "memset",     "communication", "data loader",     "forward",
    "backward",   "optimizer",     "overhead",        "device range",
    "sync",       "span",
};

constexpr std::string_view kind_name(SliceKind kind) {
  return kSliceKindNames[static_cast<std::size_t>(kind)];
}

// Work that ran on an accelerator.
constexpr bool is_device_work(SliceKind kind) {
  return kind == SliceKind::Kernel || kind == SliceKind::Memcpy || kind == SliceKind::Memset;
}

// A call on the host by which device work is asked for.
constexpr bool is_launch_call(SliceKind kind) {
  return kind == SliceKind::Runtime || kind == SliceKind::Driver;
}

// What a framework's operator list is made of: operators and the ranges that users and the
// framework put around them. Steps are not among them.
constexpr bool is_host_operator(SliceKind kind) {
  switch (kind) {
    case SliceKind::Operator:
    case SliceKind::OperatorInner:
    case SliceKind::UserRange:
    case SliceKind::Communication:
    case SliceKind::DataLoader:
    case SliceKind::Forward:
    case SliceKind::Backward:
    case SliceKind::Optimizer:
      return true;
    default:
      return false;
  }
}

}  // namespace sonde
