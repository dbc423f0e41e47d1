#include "report/run_facts.hpp"

#include <fmt/format.h>
#include <string.h>

#include <filesystem>

#include "analysis/system_use.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

// As a shell would take it.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                          "0123456789_-+=.,:/@%") == std::string::npos;
  if (plain) return word;
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string command_line(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) (out += out.empty() ? "" : " ") += quoted(word);
  return out;
}

std::string signal_text(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name ? fmt::format("{} (SIG{})", signal, name) : std::to_string(signal);
}

Fact text_fact(std::string key, std::string label, const std::string& text) {
  return {std::move(key), std::move(label), text.empty() ? Cell() : Cell(text), CellType::Text, ""};
}

Block facts_of_run(const RunFolder& folder) {
  const RunInfo& info = folder.info;
  Facts facts;
  facts.push_back(text_fact("folder", "Folder", folder.path));
  facts.push_back(text_fact("command", "Command", command_line(info.command)));
  facts.push_back(text_fact("started_in", "Started in", info.folder));
  facts.push_back(
      {"start_unix_ns", "Start", info.start, CellType::Integer, format_utc(info.start)});
  if (info.end) {
    facts.push_back({"end_unix_ns", "End", *info.end, CellType::Integer, format_utc(*info.end)});
    facts.push_back({"elapsed_ns", "Elapsed", *info.end - info.start, CellType::Duration, ""});
  }
  facts.push_back({"exit_code", "Exit code",
                   info.exit_code ? Cell(std::int64_t{*info.exit_code}) : Cell(), CellType::Integer,
                   info.exit_code ? "" : "the program still runs, or Sonde was killed"});
  if (info.signal) {
    facts.push_back({"signal", "Ended by signal", std::int64_t{*info.signal}, CellType::Integer,
                     signal_text(*info.signal)});
  }
  facts.push_back(text_fact("sonde", "Recorded by Sonde", info.version));
  return {"program", "", std::move(facts), "", {}};
}

Block facts_of_machine(const RunInfo& info) {
  Facts facts;
  facts.push_back(text_fact("host", "Host", info.host));
  facts.push_back(text_fact("system", "System", info.system));
  facts.push_back(text_fact("architecture", "Architecture", info.architecture));
  facts.push_back(text_fact("cpu", "CPU", info.cpu));
  facts.push_back(
      {"cores", "Cores", info.cores > 0 ? Cell(info.cores) : Cell(), CellType::Integer, ""});
  facts.push_back({"memory_bytes", "Memory",
                   info.memory_bytes > 0 ? Cell(info.memory_bytes) : Cell(), CellType::Bytes, ""});
  return {"machine", "Machine", std::move(facts), "", {}};
}

// A number among the properties of a trace; nothing where there is none.
Cell number_property(const TraceMeta& meta, std::string_view key) {
  for (const auto& [name, value] : meta.properties) {
    if (name == key) return text_cell(value);
  }
  return {};
}

std::string_view program_of(const NamedTrace& named) {
  const auto& tracks = named.trace.tracks();
  return tracks.empty() ? std::string_view(named.worker) : named.trace.text(tracks.front().process);
}

std::string_view end_of(const Trace& trace) {
  if (trace.losses().find("dropped_records")) return "records were dropped";
  return trace.losses().find("unclean_end") ? "killed, crashed or running" : "in order";
}

Block process_block(const std::vector<const NamedTrace*>& traces) {
  Table table;
  table.columns = {{.key = "program", .header = "Program", .cut = Cut::Middle},
                   {.key = "pid", .header = "Pid"},
                   {.key = "parent_pid", .header = "Parent"},
                   {.key = "start", .header = "Start"},
                   {.key = "span_ns", .header = "Span", .type = CellType::Duration},
                   {.key = "records", .header = "Records", .type = CellType::Integer},
                   {.key = "end", .header = "End"}};
  for (const NamedTrace* const named : traces) {
    if (is_system_trace(named->trace)) continue;
    const TraceMeta& meta = named->trace.meta();
    const Nanos start = meta.base_time + meta.origin;
    table.rows.push_back(
        {text_cell(program_of(*named)), number_property(meta, "pid"),
         number_property(meta, "parent_pid"), meta.wall_clock ? Cell(format_utc(start)) : Cell(),
         named->trace.span_end(), count_cell(meta.file_events), text_cell(end_of(named->trace))});
  }
  return {"processes",
          "Processes that recorded",
          std::move(table),
          "No process recorded: the program was seen from outside only.",
          {}};
}

}  // namespace

std::string folder_of(const NamedTrace& named) {
  const std::string folder = std::filesystem::path(named.path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::vector<Block> run_blocks(const RunFolder& folder,
                              const std::vector<const NamedTrace*>& traces) {
  return {facts_of_run(folder), process_block(traces), facts_of_machine(folder.info)};
}

}  // namespace sonde
