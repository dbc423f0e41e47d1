#include "cli/man_command.hpp"

#include <fmt/format.h>

#include "cli/help_text.hpp"
#include "cli/output.hpp"
#include "sonde_version.hpp"

namespace sonde {
namespace {

// Text for roff: hyphens stay hyphens, and no line begins with a command.
std::string roff(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string paragraphs(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", at), text.size());
    if (at > 0) out += ".PP\n";
    out += roff(text.substr(at, end - at)) + "\n";
    at = end + 2;
  }
  return out;
}

std::string page_head(const std::string& name, const std::string& description) {
  std::string upper = name;
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return fmt::format(".TH \"{}\" 1 \"\" \"sonde {}\" \"Sonde\"\n.SH NAME\n{} \\- {}\n", roff(upper),
                     kVersion, roff(name), roff(description));
}

std::string entry(const std::string& title, const std::string& text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(title), roff(text));
}

constexpr const char* kExitStatus =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nSuccess.\n"
    ".TP\n.B 1\nThe input could not be read, or the output could not be written.\n"
    ".TP\n.B 2\nThe command line is wrong.\n";

constexpr const char* kEnvironment =
    ".SH ENVIRONMENT\n"
    ".TP\n.B NO_COLOR\nIf set and not empty, colours are off unless \\-\\-color says otherwise.\n";

}  // namespace

std::string program_man_page(const CommandList& commands) {
  std::string out = page_head("sonde", "a profiler for machine-learning programs");
  out += ".SH SYNOPSIS\n.B sonde\n.I COMMAND\n.RI [ arguments ]\n.SH DESCRIPTION\n";
  out += roff(
      "Sonde reads the profiles that machine-learning frameworks leave on disk and tells what took "
      "the time, why the GPU waited and what to do about it.\n");
  out += ".SH COMMANDS\n";
  std::string also;
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    if (info.hidden) continue;
    out += entry("sonde " + info.name, info.description);
    also += fmt::format("{}.BR sonde\\-{} (1)", also.empty() ? "" : ",\n", roff(info.name));
  }
  out += ".SH OPTIONS\n" + entry("-h, --help", "show a short help") +
         entry("-V, --version", "show the version");
  return out + kExitStatus + kEnvironment + ".SH SEE ALSO\n" + also + "\n";
}

std::string command_man_page(Command& command) {
  const CommandInfo info = command.info();
  Options options;
  command.define(options);
  std::string out = page_head("sonde-" + info.name, info.description);
  out += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(usage_line(info, options)));
  out += ".SH DESCRIPTION\n" +
         (info.details.empty() ? roff(info.description) + "\n" : paragraphs(info.details));
  std::string positionals;
  std::string others;
  for (const Option& option : options.all()) {
    (option.positional ? positionals : others) += entry(option_title(option), option_help(option));
  }
  if (!positionals.empty()) out += ".SH ARGUMENTS\n" + positionals;
  out += ".SH OPTIONS\n" + others + entry("-h, --help", "show a short help");
  if (!info.examples.empty()) {
    out += ".SH EXAMPLES\n";
    for (const auto& [line, what] : info.examples) out += entry(line, what);
  }
  return out + kExitStatus + kEnvironment + ".SH SEE ALSO\n.BR sonde (1)\n";
}

CommandInfo ManCommand::info() const {
  CommandInfo info;
  info.name = "__man";
  info.description = "write the man pages into a folder";
  info.hidden = true;
  return info;
}

void ManCommand::define(Options& options) {
  Option& folder = options.positional(folder_, "FOLDER", "where to write them");
  folder.required = true;
  folder.hint = ValueHint::Folder;
}

int ManCommand::run() {
  const CommandList commands = all_commands();
  int status = write_output(program_man_page(commands), folder_ + "/sonde.1");
  for (const auto& command : commands) {
    if (status != kExitOk) return status;
    const CommandInfo page = command->info();
    if (page.hidden) continue;
    status = write_output(command_man_page(*command), folder_ + "/sonde-" + page.name + ".1");
  }
  return status;
}

}  // namespace sonde
