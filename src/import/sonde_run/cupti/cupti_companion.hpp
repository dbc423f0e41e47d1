#pragma once

#include "import/sonde_run/companions.hpp"

namespace sonde {

// NAME.cupti: what libsonde_cuda recorded of a process's GPUs.
CompanionType cupti_companion();

}  // namespace sonde
