#include "report/styles/memory_profiler.hpp"

#include <fmt/format.h>

#include "analysis/line_memory.hpp"
#include "report/safe_text.hpp"
#include "report/styles/python_text.hpp"

namespace sonde {
namespace {

constexpr std::int64_t kMaxBlankLines = 100'000;

std::string table_row(std::string_view line, std::string_view memory, std::string_view increment,
                      std::string_view hits, std::string_view text) {
  return fmt::format("{:>6} {:>12} {:>12}  {:>10}   {}\n", line, memory, increment, hits, text);
}

std::string mebibytes(std::int64_t bytes, int precision) {
  return fmt::format("{:{}.{}f} MiB", static_cast<double>(bytes) / (1 << 20), precision + 4,
                     precision);
}

void print_function(const LineMemory::Function& function, int precision, SourceFiles& files,
                    std::string& out) {
  const std::vector<std::string>* source = files.lines(function.file);
  const std::string file = safe_text(function.file);
  if (source == nullptr) out += "ERROR: Could not find file " + file + "\n";
  out += "Filename: " + file + "\n\n";
  const std::string header =
      table_row("Line #", "Mem usage", "Increment", "Occurrences", "Line Contents");
  out += header + std::string(header.size() - 1, '=') + "\n";
  const bool all = function.end - function.first <= kMaxBlankLines;
  for (std::int64_t line = function.first; line < function.end; ++line) {
    auto known = function.lines.lower_bound(line);
    if (!all && (known == function.lines.end() || known->first != line)) {
      if (known == function.lines.end()) break;
      line = known->first;
    }
    const auto at = static_cast<std::size_t>(line - 1);
    const std::string text =
        source != nullptr && line > 0 && at < source->size() ? safe_source((*source)[at]) : "";
    const std::string number = fmt::format("{}", line);
    if (known == function.lines.end() || known->first != line) {
      out += table_row(number, "", "", "", text);
    } else {
      const LineMemory::Line& numbers = known->second;
      out +=
          table_row(number, mebibytes(numbers.peak, precision),
                    mebibytes(numbers.increment, precision), fmt::format("{}", numbers.hits), text);
    }
  }
  out += "\n\n";
}

}  // namespace

Result<std::string> memory_profiler_text(const NamedTrace& named, int precision) {
  SourceFiles files;
  const LineMemory memory = line_memory(named.trace, files);
  if (memory.functions.empty()) {
    Error error = nothing_to_show(named.path, "memory of lines", "");
    error.hint = "record it with: python3 -m sonde --memory lines SCRIPT";
    return error;
  }
  std::string out;
  for (const LineMemory::Function& function : memory.functions) {
    print_function(function, precision, files, out);
  }
  return out;
}

}  // namespace sonde
