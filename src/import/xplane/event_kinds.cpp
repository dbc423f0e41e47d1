#include "import/xplane/event_kinds.hpp"

namespace sonde {

bool EventKinds::is_step(const EventType& type, const EventFacts& facts, TrackId track, Nanos start,
                         Nanos end) {
  const bool numbered = facts.step_number != kNoNumber;
  if (!numbered && (has_step_numbers_ || type.name_class != NameClass::RunRoot)) return false;
  if (!steps_track_.valid()) {
    steps_track_ = track;
  } else if (steps_track_ != track || start < last_step_end_) {
    return false;  // another thread's, or a step within a step
  }
  last_step_end_ = end;
  return true;
}

SliceKind EventKinds::of_host(const EventType& type, const EventFacts& facts, TrackId track,
                              Nanos start, Nanos end) {
  if (is_step(type, facts, track, start, end)) return SliceKind::Step;
  switch (type.name_class) {
    case NameClass::Python:
      return SliceKind::PythonFunction;
    case NameClass::Nvtx:
      return SliceKind::UserRange;
    case NameClass::DataOp:
      return SliceKind::DataLoader;
    case NameClass::TensorFlowOp:
    case NameClass::JitCall:
      return SliceKind::Operator;
    case NameClass::Runtime:
      return SliceKind::Runtime;
    case NameClass::Driver:
      return SliceKind::Driver;
    case NameClass::Plain:
    case NameClass::Allocation:
    case NameClass::Deallocation:
    case NameClass::RunRoot:
      break;
  }
  if (facts.correlation != kNoNumber) return SliceKind::Driver;
  // XLA runs its operations on threads of the host where there is no device.
  if (facts.hlo_op == type.name) return SliceKind::Operator;
  if (facts.step_number != kNoNumber) return SliceKind::UserRange;
  return SliceKind::Api;
}

SliceKind EventKinds::of(const EventType& type, const EventFacts& facts, LineType line,
                         TrackId track, Nanos start, Nanos end) {
  switch (line) {
    case LineType::Thread:
      return of_host(type, facts, track, start, end);
    case LineType::Stream: {
      const std::string_view name = builder_.text(type.name);
      if (name.starts_with("Memcpy") || name.starts_with("MEMCPY")) return SliceKind::Memcpy;
      if (name.starts_with("Memset")) return SliceKind::Memset;
      if (name.starts_with("Memory ")) return SliceKind::DeviceRange;
      return SliceKind::Kernel;
    }
    case LineType::Ops:
      return is_control_flow(builder_.text(facts.category)) ? SliceKind::DeviceRange
                                                            : SliceKind::Kernel;
    case LineType::Steps:
      if (!steps_track_.valid()) steps_track_ = track;
      return steps_track_ == track ? SliceKind::Step : SliceKind::DeviceRange;
    case LineType::Overhead:
      return SliceKind::Overhead;
    case LineType::AsyncOps:
    case LineType::Ranges:
    case LineType::Counters:
      break;
  }
  return SliceKind::DeviceRange;
}

}  // namespace sonde
