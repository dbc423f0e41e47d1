#include "sampler/memory_map.hpp"

#include <charconv>

namespace sonde {
namespace {

bool take_hex(std::string_view& text, char end, std::uint64_t& out) {
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  if (error != std::errc() || at == text.data() + text.size() || *at != end) return false;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()) + 1);
  return true;
}

std::string_view take_word(std::string_view& text) {
  const std::size_t blank = text.find(' ');
  const std::string_view word = text.substr(0, blank);
  text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
  return word;
}

}  // namespace

std::vector<Mapping> parse_maps(std::string_view text) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::vector<Mapping> out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    Mapping mapping;
    if (!take_hex(line, '-', mapping.start) || !take_hex(line, ' ', mapping.end)) continue;
    const std::string_view rights = take_word(line);
    if (!take_hex(line, ' ', mapping.offset)) continue;
    take_word(line);  // device
    take_word(line);  // inode
    const std::size_t path = line.find('/');
    if (path == std::string_view::npos || mapping.end <= mapping.start) continue;
    if (line.find_first_not_of(' ') != path) continue;  // "[anon:a/b]"
    line.remove_prefix(path);
    mapping.executable = rights.size() > 2 && rights[2] == 'x';
    mapping.deleted = line.ends_with(kDeleted);
    if (mapping.deleted) line.remove_suffix(kDeleted.size());
    mapping.path = line;
    out.push_back(std::move(mapping));
  }
  return out;
}

}  // namespace sonde
