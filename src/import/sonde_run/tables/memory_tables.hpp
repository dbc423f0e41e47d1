#pragma once

#include "import/sonde_run/companions.hpp"
#include "import/sonde_run/tables/table_codes.hpp"
#include "import/sonde_run/tables/tables_file.hpp"

namespace sonde {

// Places of allocations, the process's memory by line, and snapshots of objects.
void add_process_memory(const TablesFile& file, TableCodes& codes, const CompanionContext& context);

}  // namespace sonde
