#include "trace/trace.hpp"

namespace sonde {

const OperatorInputs& Trace::inputs(InputsId id) const {
  static const OperatorInputs kNone{};
  return id.index() < inputs_.size() ? inputs_[id.index()] : kNone;
}

std::size_t Trace::bytes() const {
  const auto of = [](const auto& vector) { return vector.size() * sizeof(vector[0]); };
  return slices_.size() * SliceColumns::bytes_per_slice() + of(tracks_) + strings_.bytes() +
         operators_.bytes() + launches_.bytes() + device_work_.bytes() + python_.bytes() +
         collectives_.bytes() + categories_.bytes() + arguments_.bytes() +
         marker_arguments_.bytes() + counter_arguments_.bytes() + of(inputs_) +
         launch_to_device_.bytes() + operator_to_launch_.bytes() + forward_to_backward_.bytes() +
         flows_.bytes() + of(markers_) + of(counters_) + of(allocations_) + of(samples_) +
         of(sample_types_) + of(stacks_) + call_profile_.bytes();
}

}  // namespace sonde
