#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "export/byte_sink.hpp"
#include "trace/trace.hpp"

namespace sonde {

// What an exporter is asked to write.
struct ExportInput {
  const Trace& trace;
  std::string title;          // what graphs call it: the name of the file that was read
  std::string weight = {};    // of stacks: "time", "memory" or a type of samples; empty: the best
  std::int64_t width = 1200;  // of pictures, in pixels
};

// What the format has no room for: one sentence each, for the user.
using ExportNotes = std::vector<std::string>;

// A format: how its files are called and how one is written.
struct Exporter {
  std::string_view name;
  std::string_view description;           // lower case, no full stop
  std::vector<std::string_view> endings;  // of file names, with the dot; the first is the usual one
  bool binary = false;                    // nothing for a terminal
  bool stacks = false;                    // made of stacks with weights: --weight tells which
  // One of the two. A format that is no stream of bytes needs a file, which does not exist yet or
  // is empty.
  Result<ExportNotes> (*write)(const ExportInput& input, BufferedOutput& out) = nullptr;
  Result<ExportNotes> (*write_file)(const ExportInput& input, const std::string& path) = nullptr;
};

// In the order of help texts.
std::span<const Exporter> exporters();

// Null where there is none of that name.
const Exporter* find_exporter(std::string_view name);

// The format that a file's name asks for, and how the file is packed; no exporter where the name
// says nothing. "out.json.gz" is a packed "out.json"; a profile of pprof is packed in itself.
struct NamedFormat {
  const Exporter* exporter = nullptr;
  Packing packing = Packing::None;
};
NamedFormat format_of_name(std::string_view path);

}  // namespace sonde
