#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// Picoseconds: what devices count in, and what sums of short operations need.
using Picos = std::int64_t;

// How long slices took, on the clock of their device where the file has that, else as they lie in
// the trace.
class PicoLengths {
 public:
  explicit PicoLengths(const Trace& trace);
  Picos of(SliceId slice) const;

 private:
  const Trace& trace_;
  StringId device_duration_;
  StringId duration_;
};

// The full name of an operator, "node:Type", in its two parts.
struct FrameworkOpName {
  std::string_view name;
  std::string_view type;  // "Unknown" where nothing tells
};
// `full` may be "scope/node:Type", "Iterator::…" (type Dataset), a JAX path "jit(f)/add:" (the type
// is its last part), or any other name.
FrameworkOpName framework_op_name(std::string_view full);

struct FrameworkOp {
  bool on_device = false;
  std::string_view type;
  std::string_view name;
  std::uint64_t occurrences = 0;
  Picos total = 0;
  Picos self = 0;  // without the operators that lie inside
  double flops = 0;
  double bytes = 0;
};

struct FrameworkOps {
  std::vector<FrameworkOp> ops;  // by self time, greatest first
  Picos device_self = 0;
  Picos host_self = 0;
  Picos device_idle = 0;  // from the first to the last work of each device, less the work
  Picos host_idle = 0;    // the same for each thread with operators
};

// The operators of a framework: on host threads, and on devices as the work that was done for them.
FrameworkOps framework_ops(const Trace& trace);

// The operators of the framework on host threads, in the order of the trace.
std::vector<SliceId> host_framework_ops(const Trace& trace);
// The full name of such an operator.
std::string_view host_framework_op_name(const Trace& trace, SliceId op);

struct HloOp {
  std::string program;
  std::string_view category;
  std::string_view name;
  std::string_view text;
  std::string_view framework_op;
  std::string_view source;
  std::uint64_t occurrences = 0;
  Picos total = 0;
  Picos self = 0;
  double flops = 0;
  double model_flops = 0;
  double bytes = 0;
};

struct HloOps {
  std::vector<HloOp> ops;  // by self time, greatest first
  Picos self = 0;
  Picos idle = 0;
  // Of the device, per second; 0 where the trace does not tell.
  double peak_flops = 0;
  double peak_bytes = 0;
};

// The operations of compiled programs (XLA), on devices or, where there is none, on the host.
HloOps hlo_ops(const Trace& trace);

// "HBM" or "Compute": what an operation waits for, or "Unknown".
std::string_view bound_by(double flops, double bytes, double peak_flops, double peak_bytes);

}  // namespace sonde
