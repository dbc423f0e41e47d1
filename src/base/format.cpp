#include "base/format.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

namespace sonde {

std::string format_duration(double nanos) {
  if (!std::isfinite(nanos)) return "-";
  const double size = std::fabs(nanos);
  // The limits lie where two decimals would round up to the next unit.
  if (size < 999.5) return fmt::format("{:.0f} ns", nanos);
  if (size < 999'995.0) return fmt::format("{:.2f} us", nanos / 1e3);
  if (size < 999'995'000.0) return fmt::format("{:.2f} ms", nanos / 1e6);
  if (size < 59'995'000'000.0) return fmt::format("{:.2f} s", nanos / 1e9);
  const double tenths = std::round(size / 1e8);
  const double hours = std::floor(tenths / 36000);
  const double minutes = std::floor(std::fmod(tenths, 36000) / 600);
  const char* sign = nanos < 0 ? "-" : "";
  if (hours > 0) return fmt::format("{}{:.0f} h {:.0f} min", sign, hours, minutes);
  return fmt::format("{}{:.0f} min {:.1f} s", sign, minutes, std::fmod(tenths, 600) / 10);
}

std::string format_bytes(double bytes) {
  if (!std::isfinite(bytes)) return "-";
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  double value = bytes;
  while (std::fabs(value) >= 1023.995 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", value) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string format_percent(double percent) {
  if (!std::isfinite(percent)) return "-";
  if (percent > 0 && percent < 0.05) return "<0.1%";
  if (percent < 100 && percent >= 99.95) return ">99.9%";
  return fmt::format("{:.1f}%", percent);
}

std::string format_count(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string format_real(double number) {
  if (!std::isfinite(number)) return "-";
  std::string text = fmt::format("{:.2f}", number);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string format_plural(std::int64_t count, const char* singular, const char* plural) {
  return format_count(count) + " " + (count == 1 ? singular : plural);
}

std::string format_utc(std::int64_t unix_nanos) {
  const std::int64_t day_seconds = 86'400;
  std::int64_t seconds = unix_nanos / 1'000'000'000;
  if (unix_nanos % 1'000'000'000 < 0) --seconds;
  std::int64_t days = seconds / day_seconds;
  std::int64_t rest = seconds % day_seconds;
  if (rest < 0) {
    rest += day_seconds;
    --days;
  }
  // Days since 1970 to year, month, day of the Gregorian calendar, in eras of 400 years.
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", year, month, day, rest / 3600,
                     rest % 3600 / 60, rest % 60);
}

}  // namespace sonde
