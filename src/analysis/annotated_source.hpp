#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// All source that ran, line by line with hits, time and calls.
struct AnnotatedSource {
  struct Row {
    std::int32_t line = 0;
    bool is_call = false;  // made on the line before it
    std::int64_t hits = 0;
    double seconds = 0;
    double seconds_per_hit = 0;
    double percent = 0;
    std::string text;  // the source; of a call, "file.py:12 name"
  };
  struct File {
    std::string name;
    double seconds = 0;
    double percent = 0;
    std::vector<Row> rows;
  };
  // What the numbers are.
  enum class Origin : std::uint8_t {
    Listing,      // what a file of such text says
    Counted,      // times without what was called
    WithCallees,  // times with it
    Samples,      // hits are samples and there are no times
  };

  Origin origin = Origin::Counted;
  std::optional<std::string> command;
  double seconds = 0;
  std::vector<File> files;  // the dearest first
};

// Reads the source files of the trace where it does not hold their text itself. Nothing where the
// trace knows nothing of lines.
std::optional<AnnotatedSource> annotate_source(const Trace& trace);

}  // namespace sonde
