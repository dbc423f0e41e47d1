#pragma once

#include "import/importer.hpp"

namespace sonde {

// Kineto's Chrome traces of every age, from torch 1.8 to today.
bool looks_like_kineto(std::string_view head);
Result<Trace> import_kineto(const ImportInput& input);

}  // namespace sonde
