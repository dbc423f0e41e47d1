#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/golden.hpp"
#include "tests/support/render.hpp"
#include "trace/builder.hpp"

// What the tests of the styles of Python's profilers share.

namespace sonde::test {

inline const std::string kStylesFolder = std::string(SONDE_TEST_DATA) + "/python_styles";

// The tools name their files as they were when the program ran: beside it.
class InFolder {
 public:
  explicit InFolder(const std::filesystem::path& path) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  ~InFolder() { std::filesystem::current_path(before_); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  std::filesystem::path before_;
};

inline NamedTrace load(const std::string& name) {
  Result<LoadedSet> loaded = load_traces({kStylesFolder + "/" + name});
  EXPECT_TRUE(loaded.ok()) << (loaded ? "" : loaded.error().text());
  if (!loaded || loaded->traces.size() != 1) return {};
  NamedTrace out = std::move(loaded->traces.front());
  out.path = name;
  return out;
}

inline NamedTrace made(TraceBuilder& builder) {
  builder.nest(1);
  NamedTrace out;
  out.path = "made";
  out.trace = builder.finish();
  return out;
}

inline ReportRequest in_style(const std::string& style, const std::string& view = {}) {
  ReportRequest request;
  request.style = style;
  request.view = view;
  return request;
}

inline TraceSet one(NamedTrace named) {
  TraceSet out;
  out.push_back(std::move(named));
  return out;
}

inline std::string expected(const std::string& name) {
  const std::string text = sonde::testing::read_file(kStylesFolder + "/" + name);
  EXPECT_FALSE(text.empty()) << name;
  return text;
}

}  // namespace sonde::test
