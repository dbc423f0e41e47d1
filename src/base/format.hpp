#pragma once

#include <cstdint>
#include <string>

namespace sonde {

// Numbers for people. None of these looks at the locale.

// 850 -> "850 ns", 104432000 -> "104.43 ms", 61200000000 -> "1 min 1.2 s".
std::string format_duration(double nanos);

// 512 -> "512 B", 1536 -> "1.50 KiB".
std::string format_bytes(double bytes);

// 64.94 -> "64.9%". A share that is not 0 never reads as 0, and one below 100 never as 100.
std::string format_percent(double percent);

// 1234567 -> "1,234,567".
std::string format_count(std::int64_t count);

// At most two decimals, none where the number is whole: 3.0 -> "3", 2.345 -> "2.35".
std::string format_real(double number);

// "1 step", "6 steps".
std::string format_plural(std::int64_t count, const char* singular, const char* plural);

// Time since the epoch in nanoseconds as "2021-01-29 07:30:12 UTC".
std::string format_utc(std::int64_t unix_nanos);

}  // namespace sonde
