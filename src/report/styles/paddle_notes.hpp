#pragma once

#include <string_view>

namespace sonde {

// The notes below the tables of PaddlePaddle's summary, word for word.

inline constexpr std::string_view kPaddleDeviceNotes =
    "CPU(Process) Utilization = Current process CPU time over all cpu cores / elapsed time, so max "
    "utilization can be reached 100% * number of cpu cores.\n"
    "CPU(System) Utilization = All processes CPU time over all cpu cores(busy time) / (busy time + "
    "idle time).\n"
    "GPU Utilization = Current process GPU time / elapsed time.\n";

inline constexpr std::string_view kPaddleOverviewNotes =
    "In this table, We sum up all collected events in terms of event type.\n"
    "The time of events collected on host are presented as CPU Time, and as GPU Time if on "
    "device.\n"
    "Events with different types may overlap or inclusion, e.g. Operator includes OperatorInner, "
    "so the sum of ratios is not 100%.\n"
    "The time of events in the same type with overlap will not calculate twice, and all time is "
    "summed after merged.\n"
    "Example:\n"
    "Thread 1:\n"
    "  Operator: |___________|     |__________|\n"
    "Thread 2:\n"
    "  Operator:   |____________|     |___|\n"
    "After merged:\n"
    "  Result:   |______________|  |__________|\n"
    "\n";

inline constexpr std::string_view kPaddleModelNotes =
    "In this table, GPU time is the sum of all device(GPU) events called in the phase.\n"
    "Unlike overview summary, if two device(GPU) events execute on different streams with overlap "
    "time, we sum them directly here.\n"
    "\n";

inline constexpr std::string_view kPaddleDistributionNotes =
    "Communication time: Communication Event time, Communication Op time and its kernel time on "
    "gpu.\n"
    "Computation time: Kernel time, except kernels belong to communication(nccl kernels).\n"
    "Overlap time: Communication time intersects with computation time.\n"
    "Example:\n"
    "Communication:\n"
    "  CPU:              |_________________|\n"
    "  GPU:                                  |______________|\n"
    "  Total:            |_________________| |______________|\n"
    "Computation time(Kernel):\n"
    "  GPU:         |________________|\n"
    "Overlap time:       |___________|\n"
    "\n";

}  // namespace sonde
