#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "import/xplane/stat.hpp"

namespace sonde {

enum class PlaneType : std::uint8_t { Host, Gpu, Tpu, Custom, Other };

enum class LineType : std::uint8_t {
  Thread,    // of the host
  Stream,    // kernels and copies
  Ops,       // XLA operations of a TPU, one after the other and nested
  AsyncOps,  // XLA operations that go on beside the others
  Steps,
  Ranges,  // modules, name scopes and the like: what the work belongs to
  Counters,
  Overhead,
};

struct PlaneKind {
  PlaneType type = PlaneType::Other;
  std::int32_t device = -1;
};
PlaneKind plane_kind(std::string_view plane);
LineType line_type(PlaneType plane, std::int64_t id, std::string_view name);

// What the name of an event tells.
enum class NameClass : std::uint8_t {
  Plain,
  TensorFlowOp,  // node:Type
  DataOp,        // Iterator::…, or an operator that waits for input
  JitCall,       // PjitFunction(f)
  Python,        // $file.py:12 function
  Nvtx,
  Runtime,
  Driver,
  Allocation,
  Deallocation,
  RunRoot,  // FunctionRun, SessionRun, RunGraph: a step where nothing else says what a step is
};
NameClass name_class(std::string_view name);

// "node:Type" as TensorFlow writes its operators: both parts, or nothing where it is none.
struct TensorFlowOp {
  std::string_view node;
  std::string_view type;
};
TensorFlowOp tensorflow_op(std::string_view name);

// XLA operations that consist of others on the same line.
bool is_control_flow(std::string_view hlo_category);
bool is_collective(std::string_view hlo_category);

// All events of one name: what is read once for them.
struct EventType {
  StringId name;       // the short name where there is one
  StringId long_name;  // the other; invalid where there is only one
  NameClass name_class = NameClass::Plain;
  std::vector<Stat> stats;  // the same for every event
};

}  // namespace sonde
