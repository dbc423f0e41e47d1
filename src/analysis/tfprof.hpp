#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// All operators of one type, as tfprof's op view counts them.
struct TfprofOp {
  std::string type;
  std::int64_t requested_bytes = 0;
  std::int64_t accelerator_us = 0;
  std::int64_t cpu_us = 0;
  std::int64_t run = 0;      // how often operators of the type ran
  std::int64_t defined = 0;  // how many different ones there are

  std::int64_t total_us() const { return accelerator_us + cpu_us; }
};

// The operators of a trace by type. An operator that tells no type is a type of its own. Times are
// without the operators that lie inside.
std::vector<TfprofOp> tfprof_ops(const Trace& trace);

enum class TfprofOrder : std::uint8_t {
  Name,
  Bytes,
  Micros,
  AcceleratorMicros,
  CpuMicros,
  Occurrence,
};

// A type and what it and all types behind it in the list have in sum.
struct TfprofRow {
  TfprofOp op;
  TfprofOp accumulated;
};

// Sorted, greatest first (names ascending), with the sums.
std::vector<TfprofRow> tfprof_rows(std::vector<TfprofOp> ops, TfprofOrder order);

}  // namespace sonde
