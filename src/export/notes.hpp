#pragma once

#include <cstdint>
#include <string_view>

#include "export/exporter.hpp"

namespace sonde {

// "WHAT: COUNT left out", where there were any.
void note_left_out(ExportNotes& notes, std::string_view what, std::uint64_t count);

}  // namespace sonde
