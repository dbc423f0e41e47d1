#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/ids.hpp"

namespace sonde {

// Source with numbers beside it, row by row, as a file of a profiler holds it: the text is there
// even where the source is not, and the numbers are the printed ones.
struct SourceListing {
  struct Row {
    StringId text;          // the source; of a call, what it called: "file.py:12 name"
    std::int32_t line = 0;  // of a call, the line that made it
    bool is_call = false;
    std::int64_t hits = 0;
    double seconds = 0;
    double seconds_per_hit = 0;
    double percent = 0;  // of the listing's seconds
  };
  struct File {
    StringId name;
    double seconds = 0;
    double percent = 0;
    std::vector<Row> rows;
  };

  StringId command;  // invalid where the file has none
  double seconds = 0;
  std::vector<File> files;

  bool empty() const { return files.empty() && seconds == 0 && !command.valid(); }
  std::size_t bytes() const {
    std::size_t sum = files.size() * sizeof(File);
    for (const File& file : files) sum += file.rows.size() * sizeof(Row);
    return sum;
  }
};

}  // namespace sonde
