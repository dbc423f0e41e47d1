#include "import/paddle/supplement.hpp"

#include <algorithm>
#include <vector>

#include "base/trim.hpp"

namespace sonde {

std::string paddle_stack(std::string_view traceback) {
  std::vector<std::string> frames;
  while (!traceback.empty()) {
    const std::size_t feed = traceback.find('\n');
    const std::size_t escaped = traceback.find("\\n");
    const std::size_t end = std::min({feed, escaped, traceback.size()});
    const std::string_view line = trim(traceback.substr(0, end), " \t\r");
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
