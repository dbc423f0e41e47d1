#pragma once

#include "import/sonde_run/companions.hpp"
#include "import/sonde_run/tables/table_codes.hpp"
#include "import/sonde_run/tables/tables_file.hpp"

namespace sonde {

// What is said of the recording as a whole, and the names of its threads.
void add_properties(const TablesFile& file, TableCodes& codes, const CompanionContext& context);

// Functions, calls and lines; the rows of several threads are added up.
void add_call_profile(const TablesFile& file, TableCodes& codes, const CompanionContext& context);

// Samples of the types "wall" and "cpu"; where they are told, also "gil" (wall time of the thread
// that held the interpreter's lock) and "idle" (wall time in which a thread waited).
void add_samples(const TablesFile& file, TableCodes& codes, const CompanionContext& context);

}  // namespace sonde
