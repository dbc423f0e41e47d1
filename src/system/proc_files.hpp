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

}  // namespace sonde
