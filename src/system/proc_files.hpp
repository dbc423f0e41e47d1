#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sonde {

// The whole of a small file, empty where it cannot be read.
std::string read_small_file(const std::string& path);

// The number behind "KEY" in lines of "KEY value"; `fallback` where there is none.
std::int64_t number_after(std::string_view text, std::string_view key, std::int64_t fallback = 0);

// Calls `visit` with each entry of a folder whose name is a number.
void each_numbered(const std::string& folder, const std::function<void(std::int64_t)>& visit);

// What a link points to, empty where it cannot be read.
std::string link_target(const std::string& path);

// The path here of a file that the kernel names in the list of a process's mappings. The process
// may have another root folder (a chroot), other mounts (a container), or both; the kernel leaves
// the root folder in front of the name where it lies in the process's own mounts.
std::string path_of_mapped_file(std::int64_t pid, const std::string& name);

}  // namespace sonde
