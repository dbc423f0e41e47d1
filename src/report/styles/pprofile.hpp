#pragma once

#include <string>

#include "base/result.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

// The annotated source that pprofile prints, of a deterministic or a statistic profile.
Result<std::string> pprofile_text(const NamedTrace& named);

}  // namespace sonde
