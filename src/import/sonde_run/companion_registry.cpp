#include <array>

#include "import/sonde_run/companions.hpp"
#include "import/sonde_run/cupti/cupti_companion.hpp"
#include "import/sonde_run/tables/tables.hpp"

namespace sonde {

// One line for each kind of file that an agent leaves beside a recording.
std::span<const CompanionType> companion_types() {
  static const std::array kTypes = {
      cupti_companion(),
      CompanionType{".tables", "Sums and samples", looks_like_tables, make_tables_reader},
      CompanionType{".samples", "Samples", looks_like_tables, make_samples_reader},
      CompanionType{".memory", "Memory by place", looks_like_tables, make_samples_reader},
  };
  return kTypes;
}

}  // namespace sonde
