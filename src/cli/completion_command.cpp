#include "cli/completion_command.hpp"

#include <fmt/format.h>

#include "cli/help_text.hpp"
#include "cli/output.hpp"

namespace sonde {
namespace {

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::vector<std::string> command_names(const CommandList& commands) {
  std::vector<std::string> out;
  for (const auto& command : commands) {
    if (!command->info().hidden) out.push_back(command->info().name);
  }
  return out;
}

std::vector<std::string> flag_names(const Options& options) {
  std::vector<std::string> out;
  for (const Option& option : options.all()) {
    if (option.positional) continue;
    for (std::string& name : option.names()) out.push_back(std::move(name));
  }
  out.emplace_back("-h");
  out.emplace_back("--help");
  return out;
}

// What bash offers where a value of `option` stands.
std::string bash_values(const Option& option, const CommandList& commands) {
  if (!option.choices.empty()) {
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))", join(option.choices, " "));
  }
  switch (option.hint) {
    case ValueHint::File:
      return "COMPREPLY=($(compgen -f -- \"$current\"))";
    case ValueHint::Folder:
      return "COMPREPLY=($(compgen -d -- \"$current\"))";
    case ValueHint::Command:
      return fmt::format("COMPREPLY=($(compgen -W '{} formats' -- \"$current\"))",
                         join(command_names(commands), " "));
    case ValueHint::None:
      break;
  }
  return "COMPREPLY=()";
}

// Inside single quotes of zsh, where ":" and brackets mean something to _arguments.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_values(const Option& option, const CommandList& commands) {
  if (!option.choices.empty()) return "(" + join(option.choices, " ") + ")";
  switch (option.hint) {
    case ValueHint::File:
      return "_files";
    case ValueHint::Folder:
      return "_files -/";
    case ValueHint::Command:
      return "(" + join(command_names(commands), " ") + " formats)";
    case ValueHint::None:
      break;
  }
  return " ";
}

std::string zsh_argument(const Option& option, const CommandList& commands) {
  if (option.positional) {
    return fmt::format("'{}:{}:{}'", option.takes_many() ? "*" : "", zsh_text(option.flags),
                       zsh_values(option, commands));
  }
  const std::vector<std::string> names = option.names();
  // The first sentence: a menu has one line for each option.
  const std::string help = zsh_text(option.help.substr(0, option.help.find(". ")));
  std::string value;
  if (!option.is_flag()) {
    value = fmt::format(":{}:{}", zsh_text(option.value), zsh_values(option, commands));
  }
  if (names.size() == 1) return fmt::format("'{}[{}]{}'", names[0], help, value);
  return fmt::format("'({})'{{{}}}'[{}]{}'", join(names, " "), join(names, ","), help, value);
}

}  // namespace

std::string bash_completion(const CommandList& commands) {
  std::string out =
      "# bash completion for sonde; load it with: source <(sonde completion bash)\n"
      "_sonde() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n";
  out += fmt::format("    COMPREPLY=($(compgen -W '{} --help --version' -- \"$current\"))\n",
                     join(command_names(commands), " "));
  out += "    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    if (info.hidden) continue;
    Options options;
    command->define(options);
    out += fmt::format("    {})\n      case $previous in\n", info.name);
    std::string positional = "COMPREPLY=()";
    for (const Option& option : options.all()) {
      if (option.positional) {
        positional = bash_values(option, commands);
      } else if (!option.is_flag()) {
        out += fmt::format("        {}) {}; return ;;\n", join(option.names(), "|"),
                           bash_values(option, commands));
      }
    }
    out += fmt::format(
        "      esac\n"
        "      if [[ $current == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W '{}' -- \"$current\"))\n"
        "      else\n"
        "        {}\n"
        "      fi\n"
        "      ;;\n",
        join(flag_names(options), " "), positional);
  }
  out += "  esac\n}\ncomplete -o filenames -o bashdefault -F _sonde sonde\n";
  return out;
}

std::string zsh_completion(const CommandList& commands) {
  std::string out =
      "#compdef sonde\n"
      "# zsh completion for sonde; put it as _sonde into a folder of $fpath\n"
      "_sonde() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    if (!info.hidden) {
      out += fmt::format("    '{}:{}'\n", zsh_text(info.name), zsh_text(info.description));
    }
  }
  out +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe -t commands command commands\n"
      "    _arguments '(-h --help)'{-h,--help}'[show help]' "
      "'(-V --version)'{-V,--version}'[show the version]'\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n";
  for (const auto& command : commands) {
    const CommandInfo info = command->info();
    if (info.hidden) continue;
    Options options;
    command->define(options);
    out += fmt::format("    {})\n      _arguments -s", info.name);
    for (const Option& option : options.all()) {
      out += " \\\n        " + zsh_argument(option, commands);
    }
    out += " \\\n        '(-h --help)'{-h,--help}'[show this text]'\n      ;;\n";
  }
  out +=
      "  esac\n}\n"
      "if [[ $funcstack[1] == _sonde ]]; then\n  _sonde \"$@\"\nelse\n  compdef _sonde sonde\nfi\n";
  return out;
}

CommandInfo CompletionCommand::info() const {
  CommandInfo info;
  info.name = "completion";
  info.description = "print the completion script for a shell";
  info.examples = {
      {"source <(sonde completion bash)", "completion in this bash"},
      {"sonde completion zsh > ~/.zfunc/_sonde", "completion for zsh, with ~/.zfunc in $fpath"}};
  return info;
}

void CompletionCommand::define(Options& options) {
  Option& shell = options.positional(shell_, "SHELL", "the shell");
  shell.choices = {"bash", "zsh"};
  shell.only_choices = true;
  shell.required = true;
}

int CompletionCommand::run() {
  const CommandList commands = all_commands();
  return write_output(shell_ == "bash" ? bash_completion(commands) : zsh_completion(commands), "");
}

}  // namespace sonde
