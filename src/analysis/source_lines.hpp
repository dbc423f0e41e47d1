#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// The lines of source files, read when they are asked for and kept. A trace may name any file of
// the machine and its reader may pass the report on: only regular files are opened, and only source
// is read, which is known by the end of its name or, of a script, by its "#!".
class SourceFiles {
 public:
  // Without their line ends; nothing where there is no such file, it is no source, or it is longer
  // than anybody writes. Python in an encoding that cannot be read is a file without lines, as
  // Python's tools have it; in other languages bytes that are no UTF-8 become U+FFFD.
  const std::vector<std::string>* lines(std::string_view path);

 private:
  std::map<std::string, std::optional<std::vector<std::string>>, std::less<>> files_;
};

// The lines of one file for a table: tabs as spaces, and empty where SourceFiles has nothing.
std::vector<std::string> read_source(std::string_view path);

// The lines of a text of Python: a byte order mark goes, a comment that says "latin-1" is obeyed,
// and each of the three line ends ends a line. Nothing where it is not valid UTF-8 otherwise.
std::optional<std::vector<std::string>> split_python_source(std::string_view text);

// How many of `lines` the function or class takes that begins on the first of them, decorators
// included: as many as Python's inspect.getblock() gives.
std::size_t python_block_length(std::span<const std::string> lines);

}  // namespace sonde
