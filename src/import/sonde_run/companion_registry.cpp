#include "import/sonde_run/companions.hpp"

namespace sonde {

// One line for each kind of file that an agent leaves beside a recording.
std::span<const CompanionType> companion_types() { return {}; }

}  // namespace sonde
