#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/recorder/recording.hpp"
#include "tests/support/process.hpp"

namespace sonde::testing {

// A folder of its own for each test.
class Folder {
 public:
  explicit Folder(const std::string& below = std::filesystem::temp_directory_path()) {
    std::string path = below + "/sonde-recorder-XXXXXX";
    path_ = ::mkdtemp(path.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline ProcessResult record(const std::string& folder, std::vector<std::string> arguments,
                            Environment environment = {},
                            const char* program = SONDE_RECORDER_CHILD) {
  environment.emplace_back("SONDE_RUN_DIR", folder);
  arguments.insert(arguments.begin(), program);
  return run_process(arguments, {}, environment);
}

// The only file of the run, without a complaint.
inline Recording read_only_file(const std::string& folder) {
  const auto files = recordings(folder);
  EXPECT_EQ(files.size(), 1u);
  if (files.size() != 1) return {};
  Recording file = read_recording(files[0]);
  EXPECT_TRUE(file.complaints.empty()) << file.complaints[0] << ", " << file.complaints.size();
  return file;
}

// The numbers that child.cpp recorded, in the order of their times.
inline std::vector<std::uint64_t> numbers_in(const Recording& file) {
  auto records = file.named("number");
  std::stable_sort(records.begin(), records.end(),
                   [](const ReadRecord& x, const ReadRecord& y) { return x.a < y.a; });
  std::vector<std::uint64_t> numbers;
  for (const ReadRecord& record : records) numbers.push_back(record.c);
  return numbers;
}

inline std::vector<std::uint64_t> count_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = first + i;
  return numbers;
}

inline bool sanitized() { return std::string(SONDE_SANITIZED) != ""; }

}  // namespace sonde::testing
