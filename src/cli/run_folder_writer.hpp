#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sonde {

// The folder that one `sonde run` fills: made before the program starts, with a run.json that is
// there from the start and complete at the end.
class RunFolderWriter {
 public:
  // `path` empty: a new folder below sonde-runs/, named after the program and the time. A folder
  // that holds something is refused, unless `force`: then an older run in it is removed. run.json
  // is there afterwards.
  static Result<RunFolderWriter> begin(const std::string& path,
                                       const std::vector<std::string>& command, bool force);

  const std::string& path() const { return path_; }  // as the user would write it
  const std::string& full_path() const { return full_path_; }
  std::int64_t start() const { return start_; }

  // What run.json says from now on. False where it cannot be written; errno tells why.
  bool write_end(int exit_code, std::optional<int> signal) const {
    return write(exit_code, signal);
  }

  // Takes everything back that was made, where the program could not be started.
  void remove() const;

 private:
  RunFolderWriter() = default;
  static Result<RunFolderWriter> make(const std::string& path,
                                      const std::vector<std::string>& command, bool force);
  bool write(std::optional<int> exit_code, std::optional<int> signal) const;

  std::string path_;
  std::string full_path_;
  std::string made_;  // the outermost folder that is new; empty where the folder was there
  std::vector<std::string> command_;
  std::int64_t start_ = 0;
};

}  // namespace sonde
