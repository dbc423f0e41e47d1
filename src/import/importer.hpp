#pragma once

#include <span>
#include <string_view>

#include "base/result.hpp"
#include "import/input/byte_source.hpp"
#include "import/loader.hpp"
#include "trace/trace.hpp"

namespace sonde {

// What an importer is asked to read. The source still holds the head.
struct ImportInput {
  ByteSource& source;
  std::uint64_t disk_bytes = 0;
  std::string path;
  const LoadOptions& options;
};

// A format: how to know it and how to read it. Formats are asked in the order of the registry;
// the first that knows the head reads the file.
struct Importer {
  std::string_view name;
  std::string_view description;
  bool (*sniff)(std::string_view head);
  Result<Trace> (*import)(const ImportInput& input);
  bool has_magic = false;  // the first bytes leave no doubt
  bool refuses = false;    // known only to tell the user what it is
  // In a folder: whether reading another file brings this one along. Null: never.
  bool (*is_brought_along)(const std::string& path) = nullptr;
};

std::span<const Importer> importers();

}  // namespace sonde
