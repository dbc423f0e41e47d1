#include "analysis/source_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>

#include "base/utf8.hpp"

namespace sonde {
namespace {

constexpr std::size_t kMaxSource = std::size_t{8} << 20;
constexpr std::size_t kTab = 8;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

constexpr std::array<std::string_view, 6> kPythonEndings = {".py",  ".pyw", ".pyi",
                                                            ".pyx", ".pxd", ".pxi"};
constexpr std::array<std::string_view, 18> kOtherEndings = {
    ".c",  ".cc", ".cpp", ".cxx", ".h",   ".hh", ".hpp", ".cu", ".cuh",
    ".rs", ".go", ".js",  ".ts",  ".lua", ".jl", ".f90", ".rb", ".java"};

template <class Endings>
bool ends_in_one_of(std::string_view path, const Endings& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

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

std::string from_latin1(std::string_view text) {
  std::string out;
  for (const char c : text) append_utf8(static_cast<unsigned char>(c), out);
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

// At each of the three line ends.
std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    lines.emplace_back(text.substr(0, end));
    const bool two = text.substr(end).starts_with("\r\n");
    text.remove_prefix(std::min(end + (two ? 2 : 1), text.size()));
  }
  return lines;
}

std::optional<std::vector<std::string>> read_lines(std::string_view path) {
  // A path with a zero in it would open another file than it names.
  if (path.find('\0') != std::string_view::npos) return std::nullopt;
  const std::optional<std::string> text = read_regular_file(std::string(path));
  if (!text) return std::nullopt;
  if (ends_in_one_of(path, kOtherEndings)) {
    std::string_view plain = *text;
    if (plain.starts_with(kByteOrderMark)) plain.remove_prefix(kByteOrderMark.size());
    return split_lines(mend_utf8(plain));
  }
  if (!ends_in_one_of(path, kPythonEndings) && !text->starts_with("#!")) return std::nullopt;
  return split_python_source(*text).value_or(std::vector<std::string>());
}

std::string with_spaces(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c == '\t') {
      out.append(kTab - out.size() % kTab, ' ');
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::optional<std::vector<std::string>> split_python_source(std::string_view text) {
  std::string converted;
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  } else if (const std::string encoding = declared_encoding(text);
             encoding.starts_with("latin-1") || encoding.starts_with("iso-8859-1") ||
             encoding.starts_with("iso-latin-1")) {
    converted = from_latin1(text);
    text = converted;
  }
  if (!is_utf8(text)) return std::nullopt;
  return split_lines(text);
}

const std::vector<std::string>* SourceFiles::lines(std::string_view path) {
  auto known = files_.find(path);
  if (known == files_.end()) known = files_.emplace(std::string(path), read_lines(path)).first;
  return known->second ? &*known->second : nullptr;
}

std::vector<std::string> read_source(std::string_view path) {
  std::optional<std::vector<std::string>> lines = read_lines(path);
  if (!lines) return {};
  for (std::string& line : *lines) line = with_spaces(line);
  return std::move(*lines);
}

}  // namespace sonde
