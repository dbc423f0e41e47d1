#include "trace/trace.hpp"

#include <charconv>
#include <cmath>

namespace sonde {

const OperatorInputs& Trace::inputs(InputsId id) const {
  static const OperatorInputs kNone{};
  return id.index() < inputs_.size() ? inputs_[id.index()] : kNone;
}

std::size_t Trace::bytes() const {
  const auto of = [](const auto& vector) { return vector.size() * sizeof(vector[0]); };
  return slices_.size() * SliceColumns::bytes_per_slice() + of(tracks_) + strings_.bytes() +
         operators_.bytes() + launches_.bytes() + device_work_.bytes() + python_.bytes() +
         collectives_.bytes() + categories_.bytes() + places_.bytes() + arguments_.bytes() +
         shared_arguments_.bytes() + marker_arguments_.bytes() + counter_arguments_.bytes() +
         of(inputs_) + launch_to_device_.bytes() + operator_to_launch_.bytes() +
         forward_to_backward_.bytes() + flows_.bytes() + of(markers_) + of(counters_) +
         of(allocations_) + of(samples_) + of(sample_types_) + of(stacks_) + call_profile_.bytes() +
         process_memory_.bytes() + source_listing_.bytes();
}

double ArgumentValue::number(const Trace& trace, double otherwise) const {
  if (!found_) return otherwise;
  if (type_ == ArgType::Integer) return static_cast<double>(integer_);
  if (type_ == ArgType::Real) return real_;
  const std::string_view text = trace.text(text_);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : otherwise;
}

std::int64_t ArgumentValue::integer(const Trace& trace, std::int64_t otherwise) const {
  if (!found_) return otherwise;
  if (type_ == ArgType::Integer) return integer_;
  if (type_ == ArgType::Real) {
    constexpr double kLimit = 9.2e18;
    return std::abs(real_) < kLimit ? static_cast<std::int64_t>(real_) : otherwise;
  }
  const std::string_view text = trace.text(text_);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : otherwise;
}

ArgumentValue find_argument(const Trace& trace, SliceId slice, StringId key) {
  if (!key.valid()) return {};
  for (const SliceArg& arg : trace.arguments().of(slice)) {
    if (arg.key() == key) return ArgumentValue(arg);
  }
  for (const SetArg& arg : trace.shared_arguments().of(slice)) {
    if (arg.key() == key) return ArgumentValue(arg);
  }
  return {};
}

}  // namespace sonde
