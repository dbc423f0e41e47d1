#pragma once

#include <filesystem>
#include <optional>

namespace sonde {

// A file or folder that belongs to this program, by its place in the library folder beside the
// program's own, as it was built or installed.
std::optional<std::filesystem::path> find_beside(const std::filesystem::path& name);

}  // namespace sonde
