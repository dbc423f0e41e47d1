#include "cli/run_python.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/beside.hpp"
#include "cli/usage.hpp"
#include "report/safe_text.hpp"

namespace sonde {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxNotes = 20;
constexpr const char* kTorchParts = "operators,shapes,lines,modules,steps";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Absolute, as the interpreter names files: with the links in it, and without them.
Result<std::string> absolute_paths(const std::string& text, const char* option) {
  std::set<std::string> paths;
  for (const std::string& part : split(text, ':')) {
    std::error_code error;
    const fs::path path = fs::absolute(part, error).lexically_normal();
    if (error || !fs::exists(path, error)) {
      return usage_error(fmt::format("{}: there is no file or folder '{}'", option, part));
    }
    for (std::string name : {path.string(), fs::canonical(path, error).string()}) {
      if (name.size() > 1 && name.ends_with('/')) name.pop_back();
      if (!name.empty()) paths.insert(name);
    }
  }
  return fmt::format("{}", fmt::join(paths, ":"));
}

}  // namespace

void RunPython::define(Options& options) {
  Option& modes = options.text(
      modes_, "--python", "MODES",
      "how Python programs are recorded, separated by commas: 'function' (every call, summed up), "
      "'line' (hits and time of each line), 'sample' (stacks, from outside), 'none'");
  modes.choices = {"function", "line", "sample", "none"};
  modes.default_text = "sample";
  options.flag(timeline_, "--timeline", "with --python function: every call also as a slice");
  Option& torch = options.text(
      torch_, "--torch", "PARTS",
      "what is recorded where torch is imported, separated by commas: 'operators', 'shapes' of "
      "their inputs, 'lines' that called them, 'modules', 'steps' (an optimizer's step ends one), "
      "'none'");
  torch.choices = {"operators", "shapes", "lines", "modules", "steps", "none"};
  torch.default_text = kTorchParts;
  Option& include = options.text(
      include_, "--include", "PATHS",
      "with --python line: only files in these folders, separated by colons; without it all but "
      "the standard library and installed packages");
  include.hint = ValueHint::Folder;
  Option& exclude =
      options.text(exclude_, "--exclude", "PATHS", "with --python line: no files in these folders");
  exclude.hint = ValueHint::Folder;
}

std::optional<Error> RunPython::prepare(Program::Environment& environment) {
  std::vector<std::string> words = split(modes_.empty() ? "sample" : modes_, ',');
  for (const std::string& word : words) {
    if (word != "function" && word != "line" && word != "sample" && word != "none") {
      return usage_error(fmt::format(
          "--python takes function, line, sample and none, separated by commas, not '{}'", word));
    }
  }
  const auto has = [&](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (has("none") && words.size() > 1) {
    return usage_error("--python none stands alone");
  }
  if (timeline_ && !has("function")) {
    return usage_error("--timeline needs --python function");
  }
  if ((!include_.empty() || !exclude_.empty()) && !has("line")) {
    return usage_error("--include and --exclude need --python line");
  }
  const std::string torch = torch_.empty() ? kTorchParts : torch_;
  for (const std::string& part : split(torch, ',')) {
    if (part != "operators" && part != "shapes" && part != "lines" && part != "modules" &&
        part != "steps" && torch != "none") {
      return usage_error(
          fmt::format("--torch takes operators, shapes, lines, modules and steps, separated by "
                      "commas, or none, not '{}'",
                      part));
    }
  }
  samples_ = has("sample");
  agent_ = has("function") || has("line");
  // Torch is waited for in every Python program, but where nothing of Python is to be recorded.
  const bool watch_torch = torch != "none" && !has("none");
  if (!agent_ && !watch_torch) return std::nullopt;

  const Result<std::string> include = absolute_paths(include_, "--include");
  if (!include) return include.error();
  const Result<std::string> exclude = absolute_paths(exclude_, "--exclude");
  if (!exclude) return exclude.error();
  const std::optional<fs::path> inject = find_beside("sonde/python/inject");
  if (!inject && !agent_) return std::nullopt;
  if (!inject) {
    return Error{ErrorCode::Unsupported,
                 "the agent for Python is not beside this program (../lib/sonde/python)",
                 {},
                 {},
                 "build all of Sonde, or install it"};
  }
  std::erase(words, "sample");
  if (timeline_) words.emplace_back("timeline");
  if (agent_) environment.emplace_back("SONDE_PYTHON", fmt::format("{}", fmt::join(words, ",")));
  const std::optional<fs::path> library = find_beside("libsonde_torch.so");
  environment.emplace_back("SONDE_TORCH", watch_torch && library ? torch : "none");
  if (library) environment.emplace_back("SONDE_TORCH_LIBRARY", library->string());
  environment.emplace_back("SONDE_PYTHON_INCLUDE",
                           include->empty() ? std::nullopt : std::optional(*include));
  environment.emplace_back("SONDE_PYTHON_EXCLUDE",
                           exclude->empty() ? std::nullopt : std::optional(*exclude));
  std::string search = inject->string();
  const char* const before = std::getenv("PYTHONPATH");
  if (before && *before) search += std::string(":") + before;
  environment.emplace_back("PYTHONPATH", search);
  return std::nullopt;
}

std::vector<std::string> RunPython::notes(const std::string& folder) const {
  if (!agent_ && !expected_) return {};
  std::set<std::string> lines;
  std::error_code error;
  for (fs::directory_iterator it(fs::path(folder) / "notes", error), end; !error && it != end;
       it.increment(error)) {
    std::ifstream file(it->path());
    std::string line;
    if (std::getline(file, line) && lines.size() < kMaxNotes) lines.insert(safe_text(line));
  }
  if (!lines.empty() || !agent_) return {lines.begin(), lines.end()};
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".tables") return {};
  }
  return {
      "no Python process was recorded: the program started none, or kept Sonde out (python -I, "
      "-E or -S)"};
}

}  // namespace sonde
