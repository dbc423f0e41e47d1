#include "cli/run_memory.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <string_view>

#include "cli/beside.hpp"
#include "cli/size_option.hpp"
#include "cli/usage.hpp"

namespace sonde {
namespace fs = std::filesystem;
namespace {

constexpr const char* kDefaultGap = "512K";
constexpr std::uint64_t kMostGap = std::uint64_t{1} << 40;
constexpr const char* kLibrary = "libsonde_memory.so";

std::optional<std::string>& value_of(Program::Environment& environment, const std::string& name) {
  for (auto& [known, value] : environment) {
    if (known == name) return value;
  }
  if (const char* const inherited = ::getenv(name.c_str())) {
    return environment.emplace_back(name, inherited).second;
  }
  return environment.emplace_back(name, std::nullopt).second;
}

void add_first(std::optional<std::string>& list, const std::string& word) {
  list = list && !list->empty() ? word + ":" + *list : word;
}

void add_word(std::optional<std::string>& list, std::string_view word) {
  list = list && !list->empty() ? *list + "," + std::string(word) : std::string(word);
}

}  // namespace

void RunMemory::define(Options& options) {
  options
      .text(memory_, "--memory", "WHAT",
            "curve (memory over time, which is always recorded), lines (what each line "
            "allocates), objects (objects by type at the start, the peak and the end of a "
            "Python program); several with commas")
      .choices = {"curve", "lines", "objects"};
  options.flag(exact_, "--memory-exact", "with --memory lines: every allocation, not samples");
  Option& gap = options.text(gap_, "--memory-gap", "SIZE",
                             "with --memory lines: bytes from one sample to the next, on average");
  gap.default_text = kDefaultGap;
}

std::optional<Error> RunMemory::check() {
  for (std::string_view rest = memory_; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (word == "lines") {
      lines_ = true;
    } else if (word == "objects") {
      objects_ = true;
    } else if (word != "curve") {
      return usage_error(
          fmt::format("--memory takes curve, lines and objects, with commas, not '{}'", word));
    }
  }
  if (!lines_ && (exact_ || !gap_.empty())) {
    return usage_error(
        fmt::format("{} needs --memory lines", exact_ ? "--memory-exact" : "--memory-gap"));
  }
  if (exact_ && !gap_.empty()) {
    return usage_error("--memory-exact and --memory-gap exclude each other");
  }
  const std::optional<std::uint64_t> bytes = parse_size(gap_.empty() ? kDefaultGap : gap_);
  if (!bytes || *bytes == 0 || *bytes > kMostGap) {
    return usage_error(
        fmt::format("--memory-gap needs a size such as 64K or 1M, up to 1T, not '{}'", gap_));
  }
  gap_bytes_ = exact_ ? 0 : *bytes;
  return std::nullopt;
}

std::optional<Error> RunMemory::apply(Program::Environment& environment) const {
  if (lines_) {
    const std::optional<fs::path> library = find_beside(kLibrary);
    if (!library) {
      return Error{ErrorCode::NotFound,
                   fmt::format("{} is not beside sonde, and --memory lines needs it", kLibrary),
                   {},
                   std::nullopt,
                   "build all of Sonde, or install it again"};
    }
    // Preloaded libraries are parted by colons and blanks.
    if (library->string().find_first_of(": ") != std::string::npos) {
      return Error{ErrorCode::Unsupported,
                   "a library cannot be preloaded from a path with a blank or a colon in it",
                   library->string(), std::nullopt, "install Sonde somewhere else"};
    }
    add_first(value_of(environment, "LD_PRELOAD"), library->string());
    value_of(environment, "SONDE_MEMORY_LINES") = std::to_string(gap_bytes_);
    add_word(value_of(environment, "SONDE_PYTHON"), "memory-lines");
  }
  if (objects_) add_word(value_of(environment, "SONDE_PYTHON"), "objects");
  if (!lines_ && !objects_) return std::nullopt;
  // Python finds the agent by the same way as for --python.
  const std::optional<fs::path> inject = find_beside("sonde/python/inject");
  std::optional<std::string>& search = value_of(environment, "PYTHONPATH");
  if (inject && (!search || search->find(inject->string()) == std::string::npos)) {
    add_first(search, inject->string());
  }
  return std::nullopt;
}

}  // namespace sonde
