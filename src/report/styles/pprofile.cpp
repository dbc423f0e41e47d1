#include "report/styles/pprofile.hpp"

#include <fmt/format.h>

#include "analysis/annotated_source.hpp"
#include "report/safe_text.hpp"
#include "report/styles/python_text.hpp"

namespace sonde {
namespace {

constexpr const char* kHeader =
    "Line #|      Hits|         Time| Time per hit|      %|Source code\n"
    "------+----------+-------------+-------------+-------+-----------\n";

std::string row_text(const AnnotatedSource::Row& row) {
  const std::string numbers = fmt::format("{:10}|{:13g}|{:13g}|{:6.2f}%|", row.hits, row.seconds,
                                          row.seconds_per_hit, row.percent);
  if (row.is_call) return "(call)|" + numbers + "# " + safe_source(row.text) + "\n";
  return fmt::format("{:6}|", row.line) + numbers + safe_source(row.text) + "\n";
}

}  // namespace

Result<std::string> pprofile_text(const NamedTrace& named) {
  const std::optional<AnnotatedSource> source = annotate_source(named.trace);
  if (!source) return nothing_to_show(named.path, "costs of lines", "--python line");
  std::string out;
  if (source->origin == AnnotatedSource::Origin::WithCallees) {
    out += "The time of a line has that of what it called.\n";
  }
  if (source->command) out += "Command line: " + safe_text(*source->command) + "\n";
  out += fmt::format("Total duration: {:g}s\n", source->seconds);
  for (const AnnotatedSource::File& file : source->files) {
    out += "File: " + safe_text(file.name) + "\n";
    out += fmt::format("File duration: {:g}s ({:.2f}%)\n", file.seconds, file.percent);
    out += kHeader;
    for (const AnnotatedSource::Row& row : file.rows) out += row_text(row);
  }
  return out;
}

}  // namespace sonde
