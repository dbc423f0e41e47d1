#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/bounded_run.hpp"

namespace sonde::test {

inline std::string events(const std::string& list) {
  return R"({"schemaVersion": 1, "traceEvents": [)" + list + "]}";
}

inline std::string operation(const std::string& name,
                             const std::string& more = R"("ts":10,"dur":5)") {
  return R"({"ph":"X","cat":"cpu_op","name":")" + name + R"(","pid":1,"tid":1,)" + more + "}";
}

// One good event, so that there is something to show.
inline const std::string kGood = operation("good");

// Control characters that would do something to a terminal.
inline bool harmless(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F) return false;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0)
      return false;
  }
  return true;
}

// What holds for every input, good or bad.
inline void expect_well_behaved(const Ran& ran, const std::string& path) {
  EXPECT_FALSE(ran.timed_out);
  EXPECT_EQ(ran.signal, 0) << ran.err;
  EXPECT_TRUE(harmless(ran.all()));
  if (ran.exit_code == 0) {
    EXPECT_FALSE(ran.out.empty());
  } else {
    EXPECT_EQ(ran.exit_code, 1) << ran.err;
    EXPECT_TRUE(ran.out.empty()) << ran.out;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << "one clear line: " << ran.err;
    EXPECT_NE(ran.err.find(path), std::string::npos) << "the line names the file: " << ran.err;
  }
}

// The text without line breaks and indents, for sentences that the report wraps.
inline std::string unwrapped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != '\n' && c != ' ')
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return out;
}

}  // namespace sonde::test
