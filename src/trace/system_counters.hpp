#pragma once

#include <cstddef>
#include <string_view>

// What the system agent counts, by domain and name: written by system/, read by analysis/.
namespace sonde::system_counters {

// The recorded program with all its children.
inline constexpr std::string_view kProcesses = "processes";
inline constexpr std::string_view kCpuTime = "cpu time (ns)";  // since the start
inline constexpr std::string_view kCpuPercent = "cpu (%)";  // since the last sample; both domains
inline constexpr std::string_view kResident =
    "resident bytes";  // shared pages count in each process
inline constexpr std::string_view kPeakResident = "peak resident bytes";  // told at the end
inline constexpr std::string_view kProcessCount = "processes";
inline constexpr std::string_view kThreads = "threads";
inline constexpr std::string_view kContextSwitches = "context switches";  // since the start
inline constexpr std::string_view kBytesRead = "bytes read";              // since the start
inline constexpr std::string_view kBytesWritten = "bytes written";        // since the start

// Each process by itself: a domain "process PID NAME" with these counters. Not for those that lived
// between two samples only, and for the first kMostProcesses.
inline constexpr std::string_view kProcessPrefix = "process ";
inline constexpr std::size_t kMostProcesses = 256;
// Shared pages are divided among those who share them, so that the processes' numbers may be added
// up; told seldom, and only where there are several processes.
inline constexpr std::string_view kProportional = "proportional bytes";

// The whole machine.
inline constexpr std::string_view kMachine = "machine";
inline constexpr std::string_view kBusyTime = "busy time (ns)";   // of all cores, since the start
inline constexpr std::string_view kTotalTime = "core time (ns)";  // busy and idle, since the start
inline constexpr std::string_view kMemoryUsed = "memory used";

// Each GPU has a domain of its own: "gpu 0: NVIDIA H200".
inline constexpr std::string_view kGpu = "gpu ";         // what it begins with
inline constexpr std::string_view kGpuUse = "busy (%)";  // of the time, since about the last sample
inline constexpr std::string_view kGpuMemoryUse = "memory busy (%)";
inline constexpr std::string_view kGpuMemory = "memory used";
inline constexpr std::string_view kGpuPower = "power (W)";
inline constexpr std::string_view kGpuClock = "clock (MHz)";
inline constexpr std::string_view kGpuMemoryClock = "memory clock (MHz)";
inline constexpr std::string_view kGpuTemperature = "temperature (C)";

// What a process took from CUDA for a framework that hands it out itself; the GPU's number follows.
inline constexpr std::string_view kTakenFromCuda = "memory taken from CUDA, GPU ";

}  // namespace sonde::system_counters
