#include "cli/parser.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/spelling.hpp"
#include "cli/usage.hpp"

namespace sonde {
namespace {

std::vector<std::string> option_names(const std::vector<Option>& options) {
  std::vector<std::string> out;
  for (const Option& option : options) {
    if (option.positional) continue;
    for (std::string& name : option.names()) out.push_back(std::move(name));
  }
  out.emplace_back("--help");
  return out;
}

// Values stay text inside CLI11 and are converted here, so that messages are ours and do not
// depend on the locale.
struct Slot {
  const Option* option = nullptr;
  std::vector<std::string> values;
  bool set = false;
};

// "--style" and "STYLE" are both about a style.
std::string plain_word(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '-' && out.empty()) continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

Result<bool> store(const Slot& slot) {
  const Option& option = *slot.option;
  if (auto* const* flag = std::get_if<bool*>(&option.target)) {
    **flag = true;
    return true;
  }
  if (auto* const* many = std::get_if<std::vector<std::string>*>(&option.target)) {
    **many = slot.values;
    return true;
  }
  const std::string& value = slot.values.back();
  const std::string name = option.positional ? option.flags : option.long_name();
  // "--to" alone says nothing of what it takes.
  const std::string what = option.value == "FORMAT" ? "format" : plain_word(name);
  if (auto* const* text = std::get_if<std::string*>(&option.target)) {
    const bool known =
        std::find(option.choices.begin(), option.choices.end(), value) != option.choices.end();
    if (option.only_choices && !known) {
      return usage_error(unknown_word(what, value, option.choices));
    }
    **text = value;
    return true;
  }
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (code != std::errc() || end != value.data() + value.size()) {
    return usage_error(fmt::format("{} needs a whole number, not '{}'", name, value));
  }
  if (number < option.lowest && option.highest == INT64_MAX) {
    return usage_error(fmt::format("{} must be {} or more, not {}", name, option.lowest, number));
  }
  if (number < option.lowest || number > option.highest) {
    return usage_error(fmt::format("{} must be from {} to {}, not {}", name, option.lowest,
                                   option.highest, number));
  }
  **std::get_if<std::int64_t*>(&option.target) = number;
  return true;
}

// Where the command line that `rest` takes begins: behind "--", or at the first word that is
// neither an option nor the value of one. What is before it stays in `arguments`.
std::vector<std::string> cut_rest(const Options& options, std::vector<std::string>& arguments) {
  const auto takes_value = [&](const std::string& word) {
    for (const Option& option : options.all()) {
      if (option.positional || option.is_flag()) continue;
      for (const std::string& name : option.names()) {
        if (name == word) return true;
      }
    }
    return false;
  };
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].size() > 1 && arguments[at][0] == '-' &&
         arguments[at] != "--") {
    at += takes_value(arguments[at]) ? 2 : 1;
  }
  at = std::min(at, arguments.size());
  const std::size_t mark = at < arguments.size() && arguments[at] == "--" ? 1 : 0;
  std::vector<std::string> rest(arguments.begin() + static_cast<std::ptrdiff_t>(at + mark),
                                arguments.end());
  arguments.resize(at);
  return rest;
}

// One run of CLI11 over the arguments of one command.
Result<Parsed> parse_command(Command& command, std::vector<std::string> arguments) {
  Options options;
  command.define(options);
  const std::vector<std::string> known = option_names(options.all());

  // CLI11 gives a meaning to brackets and to a second "--", which are the other program's.
  for (const Option& option : options.all()) {
    if (!option.rest) continue;
    auto* target = std::get<std::vector<std::string>*>(option.target);
    *target = cut_rest(options, arguments);
  }

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  bool help = false;
  app.add_flag("-h,--help", help);
  std::vector<Slot> slots(options.all().size());
  std::vector<CLI::Option*> parsed;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Option& option = options.all()[i];
    slots[i].option = &option;
    if (option.rest) {
      parsed.push_back(nullptr);
    } else if (option.is_flag()) {
      parsed.push_back(app.add_flag(option.flags, slots[i].set));
    } else {
      auto* added = app.add_option(option.flags, slots[i].values);
      // One value for each naming; the last of several wins.
      if (!option.takes_many()) added->expected(1);
      if (!option.takes_many() || !option.positional) added->allow_extra_args(false);
      added->multi_option_policy(option.takes_many() ? CLI::MultiOptionPolicy::TakeAll
                                                     : CLI::MultiOptionPolicy::TakeLast);
      parsed.push_back(added);
    }
  }

  try {
    std::reverse(arguments.begin(), arguments.end());
    app.parse(arguments);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    return usage_error(text.substr(0, text.find(':')) + " needs a value");
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  if (help) return Parsed{Parsed::Action::ShowHelp, &command};

  const std::string name = command.info().name;
  for (const std::string& extra : app.remaining()) {
    if (extra == "--") continue;  // CLI11 counts the mark itself among them
    if (extra.size() > 1 && extra[0] == '-') {
      const std::string option = extra.substr(0, extra.find('='));
      // All options are too many for one line.
      const std::string near = nearest_spelling(option, known);
      return usage_error(near.empty() ? fmt::format("unknown option '{}'", option)
                                      : unknown_word("option", option, {near}));
    }
    return usage_error(fmt::format("'{}' takes no further argument '{}'", name, extra));
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Option& option = *slots[i].option;
    if (option.rest) {
      const bool empty = std::get<std::vector<std::string>*>(option.target)->empty();
      if (empty && option.required) {
        return usage_error(fmt::format("'{}' needs {}", name, option.flags));
      }
      continue;
    }
    if (parsed[i]->count() == 0) {
      if (option.required) return usage_error(fmt::format("'{}' needs {}", name, option.flags));
      continue;
    }
    for (const std::string& value : slots[i].values) {
      // "--view --sort total" forgot the value of --view.
      if (!option.positional && std::find(known.begin(), known.end(), value) != known.end()) {
        return usage_error(option.long_name() + " needs a value");
      }
    }
    if (option.is_flag() && !slots[i].set) continue;
    if (Result<bool> stored = store(slots[i]); !stored) return stored.error();
  }
  return Parsed{Parsed::Action::Run, &command};
}

}  // namespace

Result<Parsed> parse_arguments(const std::vector<std::string>& arguments,
                               const CommandList& commands, std::string& command_name) {
  command_name.clear();
  if (arguments.empty()) return Parsed{Parsed::Action::ShowHelp, nullptr};
  const std::string& first = arguments.front();
  if (first == "-h" || first == "--help") return Parsed{Parsed::Action::ShowHelp, nullptr};
  if (first == "-V" || first == "--version") return Parsed{Parsed::Action::ShowVersion, nullptr};
  if (first.size() > 1 && first[0] == '-') {
    return usage_error(unknown_word("option", first, {"--help", "--version"}));
  }
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (command->info().name == first) {
      command_name = first;
      return parse_command(*command, {arguments.begin() + 1, arguments.end()});
    }
    if (!command->info().hidden) names.push_back(command->info().name);
  }
  return usage_error(unknown_word("command", first, names));
}

}  // namespace sonde
