#pragma once

#include <string_view>

#include "analysis/step_parts.hpp"

namespace sonde {

inline std::string_view step_part_name(StepPart part) {
  switch (part) {
    case StepPart::DeviceCompute:
      return "Device compute";
    case StepPart::DeviceToDevice:
      return "Device to device";
    case StepPart::DeviceCollectives:
      return "Device collectives";
    case StepPart::HostCompute:
      return "Host compute";
    case StepPart::KernelLaunch:
      return "Kernel launch";
    case StepPart::Input:
      return "Input";
    case StepPart::Output:
      return "Output";
    case StepPart::Compile:
      return "Compilation";
    case StepPart::Other:
      break;
  }
  return "All others";
}

}  // namespace sonde
