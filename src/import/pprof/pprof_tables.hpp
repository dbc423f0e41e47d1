#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/loss_ledger.hpp"

namespace sonde {

// The tables of a profile.proto, as they lie in the message. Texts are numbers of strings.
struct PprofTables {
  struct ValueType {
    std::int64_t type = 0;
    std::int64_t unit = 0;
  };
  struct Line {
    std::uint64_t function = 0;
    std::int64_t line = 0;
  };
  struct Location {
    std::uint64_t mapping = 0;
    std::uint64_t address = 0;
    std::uint32_t first_line = 0;  // in lines; the innermost inlined function first
    std::uint32_t line_count = 0;
  };
  struct Function {
    std::int64_t name = 0;
    std::int64_t system_name = 0;
    std::int64_t file = 0;
  };

  std::vector<ValueType> types;
  std::vector<std::string_view> samples;  // messages, read once everything else is known
  std::vector<std::string_view> strings;
  std::vector<Line> lines;
  std::unordered_map<std::uint64_t, Location> locations;
  std::unordered_map<std::uint64_t, Function> functions;
  std::unordered_map<std::uint64_t, std::int64_t> mappings;  // file name
  std::vector<std::int64_t> comments;
  std::int64_t time_nanos = 0;
  std::int64_t duration_nanos = 0;
  std::int64_t period = 0;
  ValueType period_type;

  std::string_view text(std::int64_t index) const {
    return index >= 0 && static_cast<std::uint64_t>(index) < strings.size()
               ? strings[static_cast<std::size_t>(index)]
               : std::string_view();
  }
};

// Reads all fields of the message. False where it breaks off: the tables hold what came before.
bool read_pprof_tables(std::string_view message, PprofTables& out);

// One sample: locations from the leaf to the root, and a value for each type.
struct PprofSample {
  std::vector<std::uint64_t> locations;
  std::vector<std::int64_t> values;
  std::int64_t thread_id = 0;
  std::int64_t pid = 0;
  std::string_view thread_name;
  std::uint64_t other_labels = 0;
};

bool read_pprof_sample(std::string_view message, const PprofTables& tables, PprofSample& out);

}  // namespace sonde
