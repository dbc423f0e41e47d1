#include "cli/options.hpp"

#include <utility>

namespace sonde {

std::vector<std::string> Option::names() const {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at <= flags.size()) {
    const std::size_t comma = std::min(flags.find(',', at), flags.size());
    out.push_back(flags.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

std::string Option::long_name() const { return names().back(); }

Option& Options::add(Option option) {
  options_.push_back(std::move(option));
  return options_.back();
}

Option& Options::flag(bool& target, std::string flags, std::string help) {
  Option option;
  option.flags = std::move(flags);
  option.help = std::move(help);
  option.target = &target;
  return add(std::move(option));
}

Option& Options::text(std::string& target, std::string flags, std::string value, std::string help) {
  Option option;
  option.flags = std::move(flags);
  option.value = std::move(value);
  option.help = std::move(help);
  option.target = &target;
  return add(std::move(option));
}

Option& Options::texts(std::vector<std::string>& target, std::string flags, std::string value,
                       std::string help) {
  Option option;
  option.flags = std::move(flags);
  option.value = std::move(value);
  option.help = std::move(help);
  option.target = &target;
  return add(std::move(option));
}

Option& Options::integer(std::int64_t& target, std::string flags, std::string value,
                         std::string help) {
  Option option;
  option.flags = std::move(flags);
  option.value = std::move(value);
  option.help = std::move(help);
  option.target = &target;
  return add(std::move(option));
}

Option& Options::positional(std::string& target, std::string name, std::string help) {
  Option option;
  option.flags = std::move(name);
  option.help = std::move(help);
  option.target = &target;
  option.positional = true;
  return add(std::move(option));
}

Option& Options::positionals(std::vector<std::string>& target, std::string name, std::string help) {
  Option option;
  option.flags = std::move(name);
  option.help = std::move(help);
  option.target = &target;
  option.positional = true;
  return add(std::move(option));
}

}  // namespace sonde
