#include "cli/beside.hpp"

namespace sonde {
namespace fs = std::filesystem;

std::optional<fs::path> find_beside(const fs::path& name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  const fs::path prefix = program.parent_path().parent_path();
  for (const char* const folder : {"lib", "lib64", SONDE_LIBRARY_FOLDER}) {
    const fs::path path = prefix / folder / name;
    if (fs::exists(path, error)) return path;
  }
  return std::nullopt;
}

}  // namespace sonde
