#include <array>

#include "import/sonde_run/companions.hpp"
#include "import/sonde_run/cupti/cupti_companion.hpp"

namespace sonde {

// One line for each kind of file that an agent leaves beside a recording.
std::span<const CompanionType> companion_types() {
  static const std::array kTypes = {
      cupti_companion(),
  };
  return kTypes;
}

}  // namespace sonde
