#include "import/xprof_tool/xprof_tool.hpp"

#include <algorithm>
#include <string>

namespace sonde {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view without_space(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// Whether `text` begins with a quoted key behind an opening brace, such as {"cols": or [{"cols":.
bool begins_with_key(std::string_view text, std::string_view key) {
  text = without_space(text);
  while (text.starts_with("[") || text.starts_with("{")) text = without_space(text.substr(1));
  return text.starts_with(key);
}

// The length-prefixed message behind a tag at the start of `text`, as far as the head has it.
std::string_view message_behind(std::string_view text, char tag) {
  if (text.empty() || text[0] != tag) return {};
  std::uint64_t size = 0;
  std::size_t i = 1;
  for (unsigned shift = 0; i < text.size() && shift < 35; shift += 7) {
    const auto byte = static_cast<unsigned char>(text[i++]);
    size |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return text.substr(i, static_cast<std::size_t>(size));
}

// A row of operator statistics: rank, then "Host" or "Device".
bool is_op_stats(std::string_view head) {
  std::string_view table = message_behind(head, '\x22');
  if (table.empty()) table = message_behind(head, '\x0A');
  const std::string_view row = message_behind(table, '\x0A');
  const std::string_view start = row.substr(0, 16);
  return row.starts_with("\x08") && (contains(start,
                                              "\x12\x06"
                                              "Device") ||
                                     contains(start,
                                              "\x12\x04"
                                              "Host"));
}

constexpr std::string_view kAnyMessage = "type.googleapis.com/tensorflow.profiler.";

// What the answer is about; empty where it is none.
std::string_view subject(std::string_view head) {
  const std::string_view begin = head.substr(0, 4096);
  if (contains(begin, kAnyMessage)) {
    // The overview holds the analysis of the input pipeline as its second field.
    const std::string_view inner = message_behind(head, '\x12');
    return inner.size() > 1000 ? "the overview page" : "the input pipeline analysis";
  }
  if (is_op_stats(head)) return "operator statistics";
  const std::string_view text = without_space(begin);
  if (!text.starts_with("{") && !text.starts_with("[")) return {};
  if (begins_with_key(text, "\"cols\"") ||
      (contains(begin, "\"cols\"") && contains(begin, "\"label\"") && contains(begin, "\"type\"")))
    return "a table of statistics";
  if (contains(begin, "\"memoryProfilePerAllocator\"") || begins_with_key(text, "\"memoryIds\""))
    return "the memory profile";
  if (begins_with_key(text, "\"byCategory\"") || begins_with_key(text, "\"byProgram\""))
    return "the operator profile";
  if (contains(begin, "\"podStatsSequence\"") || begins_with_key(text, "\"hloInfoMap\""))
    return "the pod viewer";
  if (begins_with_key(text, "\"hloModule\"") || contains(begin, "\"bySizeToMaxHeap\"") ||
      contains(begin, "\"heapSizes\""))
    return "the memory viewer";
  return {};
}

}  // namespace

bool looks_like_xprof_tool(std::string_view head) { return !subject(head).empty(); }

Result<Trace> refuse_xprof_tool(const ImportInput& input) {
  std::string head(kHeadBytes, '\0');
  Result<std::size_t> got = input.source.read(head);
  if (!got) return got.error();
  head.resize(*got);
  return Error{ErrorCode::Unsupported,
               "an answer that XProf or TensorBoard computed (" + std::string(subject(head)) +
                   "), not a profile: it holds no events",
               input.path,
               {},
               "open the .xplane.pb or .trace.json.gz of the same run; sonde report computes the "
               "answers itself, see its views overview, input-pipeline, framework-ops, hlo-ops, "
               "kernel-stats and memory-profile"};
}

}  // namespace sonde
