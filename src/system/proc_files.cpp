#include "system/proc_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <memory>

namespace sonde {

std::string read_small_file(const std::string& path) {
  std::string out;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return out;
  char buffer[4096];
  for (ssize_t got; (got = ::read(file, buffer, sizeof buffer)) > 0;) {
    out.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(file);
  return out;
}

std::int64_t number_after(std::string_view text, std::string_view key, std::int64_t fallback) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    std::string_view rest = text.substr(at + key.size());
    const std::size_t digits = rest.find_first_not_of(" \t:");
    if (digits == std::string_view::npos) return fallback;
    rest.remove_prefix(digits);
    std::int64_t number = fallback;
    std::from_chars(rest.data(), rest.data() + rest.size(), number);
    return number;
  }
  return fallback;
}

void each_numbered(const std::string& folder, const std::function<void(std::int64_t)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (code == std::errc() && end == name.data() + name.size()) visit(number);
  }
}

std::string link_target(const std::string& path) {
  std::string out(4096, '\0');
  const ssize_t size = ::readlink(path.c_str(), out.data(), out.size());
  out.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return out;
}

std::string path_of_mapped_file(std::int64_t pid, const std::string& name) {
  const std::string root = "/proc/" + std::to_string(pid) + "/root";
  const std::string folder = link_target(root);
  if (folder.size() > 1 && name.starts_with(folder + "/")) {
    std::string inside = root + name.substr(folder.size());
    if (::access(inside.c_str(), F_OK) == 0) return inside;
  }
  std::string inside = root + name;
  return ::access(inside.c_str(), F_OK) == 0 ? inside : name;
}

}  // namespace sonde
