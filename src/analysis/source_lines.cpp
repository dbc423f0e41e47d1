#include "analysis/source_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

namespace sonde {
namespace {

constexpr std::size_t kMaxSource = std::size_t{64} << 20;

// The file's bytes; nothing where it is no regular file. Never waits for a pipe's other end.
std::optional<std::string> read_regular_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat facts {};
  std::optional<std::string> out;
  if (::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)) {
    out.emplace();
    char buffer[1 << 14];
    while (out->size() <= kMaxSource) {
      const ssize_t got = ::read(file, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      out->append(buffer, static_cast<std::size_t>(got));
    }
    if (out->size() > kMaxSource) out.reset();
  }
  ::close(file);
  return out;
}

// Length of the valid sequence at `at`; 0 where it is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  if (first == 0xE0 && byte(at + 1) < 0xA0) return 0;
  if (first == 0xED && byte(at + 1) > 0x9F) return 0;
  if (first == 0xF0 && byte(at + 1) < 0x90) return 0;
  if (first == 0xF4 && byte(at + 1) > 0x8F) return 0;
  return length;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string from_latin1(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0 | byte >> 6);
      out += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return out;
}

// The encoding that a comment on one of the first two lines names, in lower case with "-".
std::string declared_encoding(std::string_view text) {
  for (int line = 0; line < 2 && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view row = text.substr(0, end);
    const std::size_t first = row.find_first_not_of(" \t\f");
    if (first != std::string_view::npos && row[first] == '#') {
      std::size_t at = row.find("coding", first);
      if (at != std::string_view::npos && at + 6 < row.size() &&
          (row[at + 6] == ':' || row[at + 6] == '=')) {
        at = std::min(row.find_first_not_of(" \t", at + 7), row.size());
        std::string name;
        for (; at < row.size() && (std::isalnum(static_cast<unsigned char>(row[at])) != 0 ||
                                   row[at] == '-' || row[at] == '_' || row[at] == '.');
             ++at) {
          const auto letter = static_cast<unsigned char>(row[at]);
          name += row[at] == '_' ? '-' : static_cast<char>(std::tolower(letter));
        }
        return name;
      }
    } else if (first != std::string_view::npos) {
      return {};  // code: what follows cannot name it
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

}  // namespace

std::optional<std::vector<std::string>> split_python_source(std::string_view text) {
  std::string converted;
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  } else if (const std::string encoding = declared_encoding(text);
             encoding.starts_with("latin-1") || encoding.starts_with("iso-8859-1") ||
             encoding.starts_with("iso-latin-1")) {
    converted = from_latin1(text);
    text = converted;
  }
  if (!is_utf8(text)) return std::nullopt;
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    lines.emplace_back(text.substr(0, end));
    const bool two = text.substr(end).starts_with("\r\n");
    text.remove_prefix(std::min(end + (two ? 2 : 1), text.size()));
  }
  return lines;
}

const std::vector<std::string>* SourceFiles::lines(std::string_view path) {
  auto known = files_.find(path);
  if (known == files_.end()) {
    std::optional<std::vector<std::string>> read;
    // A path with a zero in it would open another file than it names.
    if (path.find('\0') == std::string_view::npos) {
      if (const std::optional<std::string> text = read_regular_file(std::string(path))) {
        read = split_python_source(*text);
        if (!read) read.emplace();
      }
    }
    known = files_.emplace(std::string(path), std::move(read)).first;
  }
  return known->second ? &*known->second : nullptr;
}

}  // namespace sonde
