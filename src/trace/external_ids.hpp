#pragma once

#include "trace/trace.hpp"

namespace sonde {

// Some versions of PyTorch (late 2021 to early 2024) wrote a call's own correlation id in place of
// the external id that leads to its operator. Such ids must not be looked up: they hit operators
// by accident. True where most ids equal the correlation and lead to no operator that encloses the
// call.
bool external_ids_are_correlations(const SliceColumns& slices,
                                   const SideTable<OperatorRow>& operators,
                                   const SideTable<LaunchRow>& calls);
bool external_ids_are_correlations(const Trace& trace);

}  // namespace sonde
