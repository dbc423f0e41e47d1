#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/torch/abi.hpp"

namespace sonde::capture::torch {

// Finds out where things lie in libtorch's objects, by operators of known sequence, name and
// inputs that the caller runs between arm() and the next step. Nothing of libtorch is read but
// through the kernel, which refuses what is not there.
class Probe {
 public:
  enum Step : int { First = 0, Second = 1, WithoutGradient = 2, Check = 3, kSteps = 4 };

  void arm(Step step) { step_ = step; }
  // From the callback: takes a picture of the operator that runs. Only the first one after arm().
  void take(const void* record);

  // After the first three steps: where the sequence number is.
  bool find_sequence(Places& places) const;
  std::int64_t second_sequence(const Places& places) const;
  // After the fourth: whether name and inputs are where they should be. `tensor` is the TensorImpl
  // that was the only input.
  bool check_name(const char* expected, const Functions& functions, const Places& places) const;
  bool check_inputs(const void* tensor, Places& places) const;
  // Finds the sizes (3, 5, 7) in a TensorImpl.
  static bool find_sizes(const void* tensor, Places& places);

 private:
  static constexpr std::size_t kBytes = 640;
  int step_ = -1;
  std::size_t taken_[kSteps] = {};
  alignas(8) char picture_[kSteps][kBytes] = {};
  Value input_{};
};

}  // namespace sonde::capture::torch
