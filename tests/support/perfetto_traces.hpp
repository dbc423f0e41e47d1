#pragma once

#include <gtest/gtest.h>

#include "import/perfetto/perfetto.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/perfetto_file.hpp"

namespace sonde::test {

inline Trace read_perfetto(const PerfettoFile& file) {
  EXPECT_TRUE(looks_like_perfetto(file.bytes()));
  return import_or_fail(file.bytes(), import_perfetto);
}

// A process with a thread and a stream.
inline PerfettoFile with_threads() {
  PerfettoFile file;
  file.process(10, 77, "train").thread(11, 10, 77, 78, "main").named_track(12, 10, "GPU 1");
  file.named_track(13, 12, "stream 7");
  return file;
}

}  // namespace sonde::test
