#pragma once

#include <memory>
#include <string_view>

#include "import/importer.hpp"
#include "import/sonde_run/companions.hpp"

namespace sonde {

// The sums, samples and lists that an agent left beside a recording: src/trace/tables/format.hpp.
bool looks_like_tables(std::string_view head);
// Of the file whose frames the recording itself speaks of, and of those with frames of their own.
std::unique_ptr<Companion> make_tables_reader();
std::unique_ptr<Companion> make_samples_reader();

// Alone they have no clock.
Result<Trace> refuse_tables(const ImportInput& input);

}  // namespace sonde
