#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "import/loader.hpp"

namespace sonde {

// A line on standard error that tells how far reading has come: only on a terminal, only once it
// has taken a second, and gone when reading ends.
class Progress {
 public:
  Progress();
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // May be called from any thread.
  void update(const LoadProgress& state);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  Clock::time_point begin_;
  Clock::time_point drawn_;
  bool terminal_;
  bool visible_ = false;
};

// The line without its end: "reading trace.json.gz  [#######       ]  48%  120.4 MiB".
std::string progress_line(const LoadProgress& state, std::size_t width);

}  // namespace sonde
