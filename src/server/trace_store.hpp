#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "import/loader.hpp"

namespace sonde {

// The traces under one folder, each read when it is first asked for and kept while there is room.
// All members may be called from many threads at once.
class TraceStore {
 public:
  explicit TraceStore(std::string folder);

  // Looks at the folder again. Files that lie outside of it (behind symbolic links) are no part of
  // it. A folder without traces gives an empty list.
  Result<std::vector<TraceFile>> discover();
  // What the last discovery found; discovers at the first call.
  Result<std::vector<TraceFile>> files();

  // The trace of a file that files() has listed. Read again when the file has changed.
  Result<std::shared_ptr<const Trace>> load(const TraceFile& file);

  // Whether `path`, symbolic links followed, lies in the folder.
  bool contains(const std::string& path) const;

 private:
  // What tells whether a file has changed.
  struct Stamp {
    std::uintmax_t size = 0;
    std::filesystem::file_time_type time;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct Entry {
    std::mutex reading;  // held by the thread that reads the file; others wait for it
    Stamp stamp;
    std::shared_ptr<const Trace> trace;
    std::uint64_t last_use = 0;
  };

  static std::optional<Stamp> stamp_of(const std::string& path);
  void make_room(const Entry& keep);

  const std::string folder_;
  std::mutex mutex_;  // guards what follows, entries too; never held while a file is read
  std::optional<std::vector<TraceFile>> files_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace sonde
