#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "tests/support/process.hpp"

namespace sonde::testing {

struct Interpreter {
  std::string path;  // without links: what the process will be
  int minor = 0;
  std::string name() const { return "Python3_" + std::to_string(minor); }
};

// CPython 3.8 and newer on this machine, one of each minor version: on the PATH and below
// $PYENV_ROOT/versions.
inline std::vector<Interpreter> interpreters() {
  namespace fs = std::filesystem;
  std::vector<std::string> places;
  const char* const path = std::getenv("PATH");
  std::string list = path ? path : "";
  list += ":/usr/bin";
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    const std::string folder = list.substr(at, end - at);
    at = end + 1;
    if (folder.empty() || folder.ends_with("/shims")) continue;
    for (int minor = 8; minor <= 14; ++minor) {
      places.push_back(folder + "/python3." + std::to_string(minor));
    }
  }
  const char* const root = std::getenv("PYENV_ROOT");
  const char* const home = std::getenv("HOME");
  const std::string versions =
      (root ? std::string(root) : std::string(home ? home : "") + "/.pyenv") + "/versions";
  std::error_code error;
  for (fs::directory_iterator it(versions, error), end; !error && it != end; it.increment(error)) {
    places.push_back(it->path().string() + "/bin/python3");
  }
  std::map<int, Interpreter> found;
  for (const std::string& place : places) {
    if (!fs::exists(place, error)) continue;
    const ProcessResult result = run_process(
        {place, "-c",
         "import sys, os; print(os.path.realpath(sys.executable), sys.version_info[1], "
         "sys.version_info[0], hasattr(sys, 'gettotalrefcount'), sys.implementation.name)"});
    char real[4096];
    int minor = 0;
    int major = 0;
    if (std::sscanf(result.out.c_str(), "%4095s %d %d False cpython", real, &minor, &major) != 3 ||
        major != 3 || minor < 8) {
      continue;
    }
    found.try_emplace(minor, Interpreter{real, minor});
  }
  std::vector<Interpreter> out;
  for (auto& [minor, interpreter] : found) out.push_back(std::move(interpreter));
  return out;
}

}  // namespace sonde::testing
