#pragma once

#include <vector>

#include "report/registry.hpp"

namespace sonde {

// The views of the styles of the frameworks' profilers: torch, mxnet, tfprof, tensorboard and
// paddle.
std::vector<ReportView> framework_style_views();

}  // namespace sonde
