#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/input/byte_reader.hpp"

namespace sonde {

// The rows of a CSV file, one at a time: commas, fields in quotes where they need them, two quotes
// for one, line ends of any sort. Blank lines are passed over.
class CsvReader {
 public:
  explicit CsvReader(ByteSource& source) : bytes_(source) {}

  // Fills fields(); false at the end. A field keeps its first megabyte, a row its first 512 fields.
  Result<bool> next();
  const std::vector<std::string>& fields() const { return fields_; }

  std::uint64_t offset() const { return row_offset_; }  // where the row begins
  std::uint64_t bytes_read() const { return bytes_.consumed(); }
  bool ended_in_quotes() const { return ended_in_quotes_; }

 private:
  void append(char c);
  bool end_field();

  static constexpr std::size_t kMaxField = std::size_t{1} << 20;
  static constexpr std::size_t kMaxFields = 512;

  ByteReader bytes_;
  std::uint64_t row_offset_ = 0;
  std::vector<std::string> fields_;
  std::string field_;
  bool ended_in_quotes_ = false;
};

// The fields of a header in the text before the first line end; empty where there is none.
std::vector<std::string> csv_header(std::string_view head);

}  // namespace sonde
