#include "analysis/forward_operators.hpp"

namespace sonde {

ForwardOperators::ForwardOperators(const Trace& trace) : trace_(trace) {
  constexpr std::string_view kNode = "autograd::engine::evaluate_function";
  const Links& links = trace.forward_to_backward();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const SliceId around = trace.slices().parent(links.to(i));
    if (around.valid() && trace.name(around).starts_with(kNode)) {
      nodes_.get_or_insert(around.value, links.from(i));
    }
  }
}

SliceId ForwardOperators::of(SliceId slice) const {
  if (!is_host_operator(trace_.slices().kind(slice))) return {};
  const SliceId forward = trace_.forward_to_backward().source(slice);
  if (forward.valid()) return forward;
  const SliceId* const node = nodes_.find(slice.value);
  return node != nullptr ? *node : SliceId();
}

}  // namespace sonde
