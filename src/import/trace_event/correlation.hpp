#pragma once

#include <vector>

#include "trace/builder.hpp"

namespace sonde {

// Draws launch -> device work (by correlation id) and operator -> launch (by external id, or by
// enclosure where the file's external ids are missing or known to be wrong). After nest(). Slices
// that are `launched` have their link already.
void link_by_correlation(TraceBuilder& builder, const std::vector<bool>& launched = {});

// Draws forward -> backward by sequence number, for files without arrows of that kind: for each
// (forward thread, sequence number) the forward operator that starts last, and the first backward
// operator to end.
void link_by_sequence(TraceBuilder& builder);

}  // namespace sonde
