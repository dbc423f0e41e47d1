#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace sonde::testing {

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Compares with the file of that name beside the golden tests. With SONDE_UPDATE_GOLDEN=1 in the
// environment the file is written instead: look at the difference before you commit it.
inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(SONDE_TEST_DATA) + "/../golden/" + name;
  if (std::getenv("SONDE_UPDATE_GOLDEN")) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  EXPECT_EQ(actual, read_file(path)) << "differs from tests/golden/" << name;
}

}  // namespace sonde::testing
