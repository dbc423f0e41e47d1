#include "report/views/python_summary.hpp"

#include <algorithm>

#include "report/views/functions.hpp"
#include "report/views/lines.hpp"
#include "report/views/memory.hpp"
#include "report/views/memory_lines.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/rows.hpp"
#include "trace/properties.hpp"

namespace sonde {
namespace {

constexpr std::size_t kTopFunctions = 8;
constexpr std::size_t kTopLines = 5;

void add_block(std::vector<Block>& out, Block block, const std::string& title, const char* view) {
  if (std::get<Table>(block.content).empty()) return;
  block.title = title;
  for (std::string& note : block.notes) {
    if (note.find("--limit") != std::string::npos) note += std::string(" (--view ") + view + ")";
  }
  out.push_back(std::move(block));
}

ReportRequest limited(ReportRequest request, std::size_t rows) {
  if (!request.limit || *request.limit > static_cast<std::int64_t>(rows)) {
    request.limit = static_cast<std::int64_t>(rows);
  }
  return request;
}

}  // namespace

void add_python_fact(RunTraces traces, Block& block) {
  std::vector<std::string> versions;
  for (const NamedTrace& named : traces) {
    // "3.11.2 (main, ...) [GCC ...]": the first word tells.
    std::string version = plain_property(named.trace.meta(), "python.version");
    version = version.substr(0, version.find(' '));
    if (!version.empty() && std::find(versions.begin(), versions.end(), version) == versions.end())
      versions.push_back(std::move(version));
  }
  if (versions.empty()) return;
  std::string text;
  for (const std::string& version : versions) text += (text.empty() ? "" : ", ") + version;
  Facts& facts = std::get<Facts>(block.content);
  facts.insert(facts.begin() + (facts.empty() ? 0 : 1),
               Fact{"python", "Python", std::move(text), CellType::Text, ""});
}

bool has_python_data(RunTraces traces) {
  return std::any_of(traces.begin(), traces.end(), [](const NamedTrace& named) {
    const Trace& trace = named.trace;
    return trace.meta().format == "sonde" &&
           (!trace.call_profile().empty() || !trace.samples().empty() ||
            !trace.process_memory().empty());
  });
}

std::vector<Block> python_summary_blocks(RunTraces traces, const ReportRequest& request) {
  std::vector<Block> out;
  const ReportRequest functions = limited(request, kTopFunctions);
  const FunctionProfile profile =
      with_one_cost(requested_profile(traces, functions, ProfileNeed::Functions, nullptr), 0);
  if (profile.source == ProfileSource::Counted || profile.source == ProfileSource::Samples) {
    Block block = std::move(functions_blocks(profile, functions, kTopFunctions).front());
    note_choice(traces, functions, ProfileNeed::Functions, profile, block);
    add_block(out, std::move(block), "Top functions", "functions");
  }
  const ReportRequest lines = limited(request, kTopLines);
  const FunctionProfile by_line =
      with_one_cost(requested_profile(traces, lines, ProfileNeed::Lines, nullptr), 0);
  if (!by_line.lines.empty()) {
    Block block = std::move(lines_blocks(by_line, lines, kTopLines).front());
    if (!by_line.line_self_known) {
      block.notes.emplace_back("The time of a line includes what it called.");
    }
    add_block(out, std::move(block), "Hottest lines", "lines");
  }
  for (Block& block : memory_facts(traces, request)) out.push_back(std::move(block));
  Block memory = std::move(memory_lines_blocks(traces, lines, kTopLines).front());
  memory.id = "memory_lines";
  add_block(out, std::move(memory), "Memory by line", "memory-lines");
  return out;
}

}  // namespace sonde
