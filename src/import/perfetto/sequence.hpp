#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/text/utf8.hpp"

namespace sonde::perfetto_import {

// The lists of texts that a writer sends once and refers to by number.
enum class InternTable : std::uint8_t {
  Categories,
  EventNames,
  AnnotationNames,
  FunctionNames,
  SourcePaths,
  AnnotationTexts,
};
inline constexpr std::size_t kInternTables = 6;

// A line of a program, interned.
struct SourceLocation {
  StringId file;
  StringId function;
  std::int64_t line = 0;
};

struct Frame {
  std::uint64_t function = 0;  // in FunctionNames
  std::uint64_t file = 0;      // in SourcePaths
  std::int64_t line = 0;
};

// What holds for the packets of one writer (one thread of it) until it says otherwise.
struct Sequence {
  bool valid = false;  // whether a packet has begun the state afresh
  std::uint32_t clock = 0;
  std::optional<std::uint64_t> track;
  std::vector<std::uint64_t> counter_tracks;
  std::vector<std::uint64_t> double_counter_tracks;

  std::array<std::unordered_map<std::uint64_t, StringId>, kInternTables> texts;
  std::unordered_map<std::uint64_t, SourceLocation> locations;
  std::unordered_map<std::uint64_t, Frame> frames;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> stacks;  // outermost first

  StringId text(InternTable table, std::uint64_t iid) const {
    const auto& list = texts[static_cast<std::size_t>(table)];
    const auto found = list.find(iid);
    return found == list.end() ? StringId() : found->second;
  }
  // The frames of a stack as one text, innermost first; invalid where the stack is unknown.
  StringId stack_text(std::uint64_t iid, TraceBuilder& builder) const;

  void add_interned(std::string_view message, NamePool& names);
  void set_defaults(std::string_view message);
};

// Numbers of a repeated field, packed or one by one.
void append_varints(std::string_view packed, std::vector<std::uint64_t>& out);

}  // namespace sonde::perfetto_import
