#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "analysis/function_profile.hpp"
#include "import/importer.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"

namespace sonde::test {

// A file of tests/data/profiles.
inline std::string profile_bytes(const std::string& name) {
  return read_bytes(std::string(SONDE_TEST_DATA) + "/profiles/" + name);
}

// The name of the format that claims these bytes; empty where none does.
inline std::string format_of(std::string_view bytes) {
  for (const Importer& importer : importers()) {
    if (importer.sniff(bytes)) return std::string(importer.name);
  }
  return {};
}

// The function of that name; fails the test where there is none or more than one.
inline std::size_t function_named(const FunctionProfile& profile, std::string_view name) {
  std::size_t found = SIZE_MAX;
  for (std::size_t i = 0; i < profile.functions.size(); ++i) {
    if (profile.functions[i].name != name) continue;
    EXPECT_EQ(found, SIZE_MAX) << "twice: " << name;
    found = i;
  }
  EXPECT_NE(found, SIZE_MAX) << "no function " << name;
  return found == SIZE_MAX ? 0 : found;
}

// "root;caller;leaf weight" for each sample, in the order of the file.
inline std::vector<std::string> sample_lines(const Trace& trace, std::uint32_t type = 0) {
  std::vector<std::string> out;
  for (const Sample& sample : trace.samples()) {
    if (sample.type != type) continue;
    std::string line;
    for (StackId at = sample.stack; at.valid(); at = trace.stacks()[at.index()].caller) {
      const StackFrame& frame = trace.stacks()[at.index()];
      line = std::string(trace.text(frame.function)) + (line.empty() ? "" : ";" + line);
    }
    std::string weight = std::to_string(sample.weight);
    weight.erase(weight.find_last_not_of('0') + 1);
    if (weight.ends_with('.')) weight.pop_back();
    out.push_back(line + " " + weight);
  }
  return out;
}

}  // namespace sonde::test
