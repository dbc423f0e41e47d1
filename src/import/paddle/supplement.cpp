#include "import/paddle/supplement.hpp"

#include <algorithm>
#include <vector>

namespace sonde {
namespace {

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

std::string paddle_stack(std::string_view traceback) {
  std::vector<std::string> frames;
  while (!traceback.empty()) {
    const std::size_t feed = traceback.find('\n');
    const std::size_t escaped = traceback.find("\\n");
    const std::size_t end = std::min({feed, escaped, traceback.size()});
    const std::string_view line = trimmed(traceback.substr(0, end));
    traceback.remove_prefix(std::min(traceback.size(), end + (end == feed ? 1 : 2)));
    if (line.empty()) continue;
    if (frames.empty() || line.starts_with("File "))
      frames.emplace_back(line);
    else
      frames.back() += ": " + std::string(line);
  }
  std::string out;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if (!out.empty()) out += ';';
    out += *frame;
  }
  return out;
}

}  // namespace sonde
