#include "cli/help_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "import/importer.hpp"
#include "report/wrap.hpp"

namespace sonde {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kHelpColumn = 26;

// "  TITLE       text", the text wrapped beside the title.
std::string entry(const std::string& title, const std::string& text) {
  const std::string indent(kHelpColumn, ' ');
  const std::string body = wrap_text(text, kWidth, indent);
  const std::string head = "  " + title;
  if (head.size() + 2 > kHelpColumn) return head + "\n" + body;
  return head + body.substr(head.size());
}

}  // namespace

std::string usage_line(const CommandInfo& info, const Options& options) {
  std::string out = "sonde " + info.name;
  bool has_options = false;
  std::string rest;
  for (const Option& option : options.all()) {
    if (!option.positional) {
      has_options = true;
      continue;
    }
    if (option.rest) {
      rest = " [--] " + option.flags + "...";
      continue;
    }
    std::string name = option.flags + (option.takes_many() ? "..." : "");
    out += " " + (option.required ? name : "[" + name + "]");
  }
  return out + (has_options ? " [options]" : "") + rest;
}

std::string option_title(const Option& option) {
  std::string out;
  for (const std::string& name : option.names()) out += (out.empty() ? "" : ", ") + name;
  if (!option.value.empty()) out += " " + option.value;
  return out;
}

std::string option_help(const Option& option) {
  std::string out = option.help;
  if (option.only_choices && !option.choices.empty()) {
    out += ": ";
    for (std::size_t i = 0; i < option.choices.size(); ++i) {
      out += (i ? ", " : "") + option.choices[i];
    }
  }
  if (!option.default_text.empty()) out += " [" + option.default_text + "]";
  return out;
}

std::string program_help(const CommandList& commands) {
  std::string out =
      "Sonde: a profiler for machine-learning programs\n\n"
      "Usage: sonde COMMAND [arguments]\n\nCommands:\n";
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    if (!info.hidden) out += entry(info.name, info.description);
  }
  out += "\nOptions:\n";
  out += entry("-h, --help", "show this text");
  out += entry("-V, --version", "show the version");
  out += "\n" +
         wrap_text(
             "'sonde help COMMAND' tells more about a command, 'sonde help formats' what can be "
             "read. Start with 'sonde run -- PROGRAM' or 'sonde report TRACE'.",
             kWidth, "");
  return out;
}

std::string formats_help() {
  std::string out =
      "Formats that Sonde reads, plain or packed with gzip or zstd, from files, folders and "
      "standard input. A format is known by its content, never by its name.";
  out = wrap_text(out, kWidth, "") + "\n";
  for (const Importer& importer : importers()) {
    if (importer.refuses) continue;
    out += entry(std::string(importer.name), std::string(importer.description));
  }
  return out;
}

std::string command_help(Command& command) {
  const CommandInfo info = command.info();
  Options options;
  command.define(options);
  std::string out = fmt::format("sonde {}: {}\n\nUsage: {}\n", info.name, info.description,
                                usage_line(info, options));
  if (!info.details.empty()) out += "\n" + wrap_text(info.details, kWidth, "");
  std::string positionals;
  std::string others;
  for (const Option& option : options.all()) {
    (option.positional ? positionals : others) += entry(option_title(option), option_help(option));
  }
  if (!positionals.empty()) out += "\nArguments:\n" + positionals;
  out += "\nOptions:\n" + others + entry("-h, --help", "show this text");
  if (!info.examples.empty()) {
    out += "\nExamples:\n";
    for (const auto& [line, what] : info.examples) {
      out += "  " + line + "\n" + wrap_text(what, kWidth, "      ");
    }
  }
  return out;
}

}  // namespace sonde
