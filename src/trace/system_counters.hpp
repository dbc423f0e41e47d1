#pragma once

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

// The whole machine.
inline constexpr std::string_view kMachine = "machine";
inline constexpr std::string_view kBusyTime = "busy time (ns)";   // of all cores, since the start
inline constexpr std::string_view kTotalTime = "core time (ns)";  // busy and idle, since the start
inline constexpr std::string_view kMemoryUsed = "memory used";

}  // namespace sonde::system_counters
