#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sonde {

// What the shell offers as a value.
enum class ValueHint { None, File, Folder, Command };

// One option or positional argument of a command.
struct Option {
  using Target = std::variant<bool*, std::string*, std::int64_t*, std::vector<std::string>*>;

  std::string flags;  // "-o,--output"; for a positional argument its name, as in "PATH"
  std::string value;  // what the value is called, as in "FILE"; empty for a flag
  std::string help;   // lower case, no full stop
  Target target;
  std::vector<std::string> choices;  // offered by completion, listed by help
  bool only_choices = false;         // anything else is wrong usage
  std::string default_text;          // as help shows it; empty where there is none
  ValueHint hint = ValueHint::None;
  bool positional = false;
  bool required = false;
  bool rest = false;  // takes everything from the first word on, as it is: another command line
  std::int64_t lowest = INT64_MIN;
  std::int64_t highest = INT64_MAX;

  // "--output" of "-o,--output".
  std::string long_name() const;
  std::vector<std::string> names() const;
  bool is_flag() const { return std::holds_alternative<bool*>(target); }
  bool takes_many() const { return std::holds_alternative<std::vector<std::string>*>(target); }
};

// What a command accepts, in the order of its help text.
class Options {
 public:
  Option& flag(bool& target, std::string flags, std::string help);
  Option& text(std::string& target, std::string flags, std::string value, std::string help);
  // May be given several times.
  Option& texts(std::vector<std::string>& target, std::string flags, std::string value,
                std::string help);
  Option& integer(std::int64_t& target, std::string flags, std::string value, std::string help);
  Option& positional(std::string& target, std::string name, std::string help);
  Option& positionals(std::vector<std::string>& target, std::string name, std::string help);

  const std::vector<Option>& all() const { return options_; }

 private:
  Option& add(Option option);

  std::vector<Option> options_;
};

}  // namespace sonde
