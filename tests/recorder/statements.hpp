#pragma once

#include <bit>
#include <cstdint>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// What random_program.cpp says, and how its words are made.

namespace sonde::testing {

// The lines of each thread, in its order, without their level.
using Statements = std::map<std::string, std::vector<std::string>>;

// `level`: F for what a file holds, T for what a trace does.
inline Statements statements(const std::string& output, char level) {
  Statements said;
  std::istringstream stream(output);
  std::string thread;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("thread ")) {
      thread = line.substr(7);
    } else if (line[0] == level || line[0] == 'B') {
      said[thread].push_back(line.substr(2));
    }
  }
  return said;
}

inline std::string join(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) (line += field) += '\t';
  line.pop_back();
  return line;
}

// A double to the last bit.
inline std::string hex(double value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(value)));
  return text;
}

}  // namespace sonde::testing
