#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "import/perfetto/sequence.hpp"
#include "trace/arguments.hpp"

namespace sonde::perfetto_import {

// What an event says about itself, before its owner has a number.
struct PendingArgument {
  StringId key;
  ArgType type = ArgType::Integer;
  std::uint64_t bits = 0;
};

// Appends the argument that a DebugAnnotation stands for. False where its sort is not known.
bool read_annotation(std::string_view message, const Sequence& sequence, NamePool& names,
                     TraceBuilder& builder, std::vector<PendingArgument>& out);

PendingArgument integer_argument(StringId key, std::int64_t value);
PendingArgument text_argument(StringId key, StringId text, ArgType type = ArgType::Text);

}  // namespace sonde::perfetto_import
