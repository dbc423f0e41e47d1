#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace sonde::bench {

// A folder for what a benchmark writes; gone with the object. Its path is empty where none can be
// made.
class ScratchFolder {
 public:
  ScratchFolder() {
    // mkdtemp() puts letters of its own in place of the six at the end.
    std::string name = (std::filesystem::temp_directory_path() / "sonde-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sonde::bench
