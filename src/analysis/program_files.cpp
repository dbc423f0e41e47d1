#include "analysis/program_files.hpp"

#include <algorithm>
#include <array>

namespace sonde {
namespace {

using std::string_view_literals::operator""sv;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// ".../lib/python3.12/..." with any prefix and version.
bool in_standard_library(std::string_view file) {
  constexpr std::string_view kFolder = "/python3";
  for (std::size_t at = file.find(kFolder); at != std::string_view::npos;
       at = file.find(kFolder, at + 1)) {
    const std::string_view before = file.substr(0, at);
    std::size_t end = at + kFolder.size();
    if (!before.ends_with("/lib") && !before.ends_with("/lib64")) continue;
    if (end < file.size() && file[end] == '.') ++end;
    while (end < file.size() && is_digit(file[end])) ++end;
    if (end < file.size() && file[end] == '/') return true;
  }
  return false;
}

// What torch.profiler leaves of the paths of packages and of the standard library.
bool is_known_module(std::string_view file) {
  constexpr std::array kPackages = {"torch/"sv,  "jax/"sv,   "jaxlib/"sv,   "cupy/"sv,
                                    "triton/"sv, "numpy/"sv, "importlib/"sv};
  constexpr std::array kModules = {"contextlib.py"sv, "functools.py"sv, "runpy.py"sv,
                                   "threading.py"sv, "typing.py"sv};
  return std::any_of(kPackages.begin(), kPackages.end(),
                     [&](std::string_view package) { return file.starts_with(package); }) ||
         std::find(kModules.begin(), kModules.end(), file) != kModules.end();
}

}  // namespace

bool is_program_file(std::string_view file) {
  if (file.empty() || file == "~") return false;
  if (file.front() == '<') {
    return file == "<stdin>" || file == "<string>" || file.starts_with("<ipython-input");
  }
  if (file.find("/site-packages/") != std::string_view::npos ||
      file.find("/dist-packages/") != std::string_view::npos) {
    return false;
  }
  if (file.front() != '/') return !is_known_module(file);
  return !in_standard_library(file);
}

}  // namespace sonde
