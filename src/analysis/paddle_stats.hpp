#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/paddle_tree.hpp"

namespace sonde {

// Total, most and least of a number of times, in nanoseconds.
struct PaddleTimes {
  std::uint64_t calls = 0;
  Nanos total = 0;
  Nanos max = 0;
  Nanos min = std::numeric_limits<Nanos>::max();

  void add(Nanos time) {
    ++calls;
    total += time;
    max = time > max ? time : max;
    min = time < min ? time : min;
  }
  double average() const {
    return calls == 0 ? 0 : static_cast<double>(total) / static_cast<double>(calls);
  }
};

// Device work of one name.
struct PaddleDeviceItem {
  StringId name;
  PaddleTimes gpu;
};

// Host events of one name.
struct PaddleItem {
  StringId name;
  PaddleTimes cpu;
  PaddleTimes gpu;          // kernels
  PaddleTimes general_gpu;  // copies and memsets as well
  std::uint64_t flops = 0;
  std::vector<PaddleItem> inner;          // of an operator: its children that are none, by name
  std::vector<PaddleDeviceItem> devices;  // launched by the event itself
};

struct PaddleThreadItems {
  std::string thread;  // its title; empty where all threads are taken together
  std::vector<PaddleItem> items;
};

struct PaddleOverviewRow {
  std::string label;
  std::uint64_t calls = 0;
  Nanos time = 0;
};

struct PaddleDeviceUse {
  std::int64_t device = 0;
  Nanos kernel_time = 0;  // overlapping kernels once
};

struct PaddleDistribution {
  Nanos communication = 0;
  Nanos computation = 0;
  Nanos overlap = 0;
  bool any = false;
};

// The model's phases, each in full, without those inside of another.
struct PaddlePhases {
  PaddleTimes cpu[5];  // ProfileStep, Dataloader, Forward, Backward, Optimization
  PaddleTimes gpu[5];  // kernels
  Nanos step_general_gpu = 0;

  std::size_t count() const {
    std::size_t out = 0;
    for (const PaddleTimes& times : cpu) out += times.calls > 0 ? 1 : 0;
    return out;
  }
};

struct PaddleMemoryRow {
  std::string_view name;
  bool reserved = false;
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t freed_bytes = 0;
  std::int64_t increase() const;
};

struct PaddlePlace {
  std::string name;  // "Place(gpu:0)"
  std::int64_t peak_allocated = 0;
  std::int64_t peak_reserved = 0;
  std::vector<PaddleMemoryRow> allocated;  // by increase, the greatest first
  std::vector<PaddleMemoryRow> reserved;
};

// The numbers of PaddlePaddle's summary. Lists are in the order of first appearance unless said.
struct PaddleStats {
  Nanos total = 0;                    // of all steps, overlaps once
  std::optional<double> process_cpu;  // 1 is one core
  std::optional<double> system_cpu;   // 1 is the whole machine
  std::vector<PaddleDeviceUse> devices;
  std::vector<PaddleOverviewRow> host;  // the longest first
  std::vector<PaddleOverviewRow> device;
  PaddlePhases phases;
  PaddleDistribution distribution;
  std::vector<PaddleThreadItems> operators;
  std::vector<PaddleThreadItems> user_ranges;
  std::vector<PaddleItem> memory_manipulation;
  std::vector<PaddleDeviceItem> kernels;
  std::vector<PaddlePlace> places;
};

// `by_thread`: operators and user ranges of each thread by itself.
PaddleStats paddle_stats(const PaddleTree& tree, bool by_thread);

}  // namespace sonde
