#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "import/input/byte_source.hpp"
#include "import/loader.hpp"
#include "tests/support/files.hpp"
#include "tests/support/process.hpp"
#include "trace/trace.hpp"

namespace sonde::testing {

// A folder for a run, gone with the object.
class RunFolder {
 public:
  const std::string& path() const { return path_; }

  // The files with that ending, sorted.
  std::vector<std::string> files(const std::string& ending) const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (entry.path().extension() == ending) out.push_back(entry.path().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  test::ScratchFolder folder_;
  std::string path_ = folder_.path().string();
};

// The fake program under the fake driver and CUPTI, as `sonde run` would start it.
inline ProcessResult run_fake(const RunFolder& folder, std::vector<std::string> words,
                              Environment more = {}) {
  words.insert(words.begin(), SONDE_FAKE_PROGRAM);
  Environment environment = {{"SONDE_RUN_DIR", folder.path()},
                             {"LD_LIBRARY_PATH", SONDE_FAKE_FOLDER},
                             {"CUDA_INJECTION64_PATH", SONDE_CUDA_LIBRARY},
                             {"SONDE_CUDA_FLUSH_MS", "50"}};
  environment.insert(environment.end(), more.begin(), more.end());
  return run_process(words, {}, environment);
}

// The trace of the only process of a run.
inline Trace load_only(const RunFolder& folder) {
  const std::vector<std::string> files = folder.files(".sonde");
  EXPECT_EQ(files.size(), 1u);
  if (files.empty()) return {};
  Result<Trace> trace = load_trace(files.front(), {});
  EXPECT_TRUE(trace) << trace.error().text();
  return trace ? std::move(*trace) : Trace();
}

inline std::vector<SliceId> slices_of(const Trace& trace, SliceKind kind) {
  std::vector<SliceId> out;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) == kind) out.push_back(slice);
  }
  return out;
}

inline std::vector<SliceId> slices_named(const Trace& trace, std::string_view name) {
  std::vector<SliceId> out;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.name(slice) == name) out.push_back(slice);
  }
  return out;
}

}  // namespace sonde::testing
