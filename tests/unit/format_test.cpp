#include "base/format.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>

namespace sonde {
namespace {

TEST(FormatDuration, PicksTheUnit) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(850), "850 ns");
  EXPECT_EQ(format_duration(9'200), "9.20 us");
  EXPECT_EQ(format_duration(104'432'000), "104.43 ms");
  EXPECT_EQ(format_duration(1'204'000'000), "1.20 s");
  EXPECT_EQ(format_duration(61'200'000'000.0), "1 min 1.2 s");
  EXPECT_EQ(format_duration(3'720'000'000'000.0), "1 h 2 min");
}

TEST(FormatDuration, NeverShowsAThousandOfTheSmallerUnit) {
  EXPECT_EQ(format_duration(999.4), "999 ns");
  EXPECT_EQ(format_duration(999.6), "1.00 us");
  EXPECT_EQ(format_duration(999'994), "999.99 us");
  EXPECT_EQ(format_duration(999'996), "1.00 ms");
  EXPECT_EQ(format_duration(59'994'000'000.0), "59.99 s");
  EXPECT_EQ(format_duration(59'996'000'000.0), "1 min 0.0 s");
}

TEST(FormatDuration, KeepsTheSign) {
  EXPECT_EQ(format_duration(-1500), "-1.50 us");
  EXPECT_EQ(format_duration(-61'200'000'000.0), "-1 min 1.2 s");
}

TEST(FormatDuration, HasNothingToSayAboutNoNumber) {
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "-");
}

TEST(FormatBytes, PicksTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(1024.0 * 1024 * 1024 * 139.8), "139.80 GiB");
  EXPECT_EQ(format_bytes(-2048), "-2.00 KiB");
}

TEST(FormatPercent, NeverRoundsToNoneOrAll) {
  EXPECT_EQ(format_percent(0), "0.0%");
  EXPECT_EQ(format_percent(0.01), "<0.1%");
  EXPECT_EQ(format_percent(64.94), "64.9%");
  EXPECT_EQ(format_percent(99.97), ">99.9%");
  EXPECT_EQ(format_percent(100), "100.0%");
}

TEST(FormatCount, GroupsDigits) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(-1'234), "-1,234");
  EXPECT_EQ(format_count(-123), "-123");
}

TEST(FormatReal, DropsIdleDecimals) {
  EXPECT_EQ(format_real(3.0), "3");
  EXPECT_EQ(format_real(2.345), "2.35");
  EXPECT_EQ(format_real(1522.3), "1522.3");
  EXPECT_EQ(format_real(-0.0001), "0");
}

TEST(FormatUtc, KnowsTheCalendar) {
  EXPECT_EQ(format_utc(0), "1970-01-01 00:00:00 UTC");
  EXPECT_EQ(format_utc(951'827'696'000'000'000), "2000-02-29 12:34:56 UTC");
  EXPECT_EQ(format_utc(1'609'459'199'000'000'000), "2020-12-31 23:59:59 UTC");
  EXPECT_EQ(format_utc(-1), "1969-12-31 23:59:59 UTC");
}

TEST(Format, DoesNotDependOnTheLocale) {
  // Where the locale is not installed this changes nothing and the test proves nothing.
  const char* before = std::setlocale(LC_ALL, nullptr);
  const std::string saved = before ? before : "C";
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(format_duration(104'432'000), "104.43 ms");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  std::setlocale(LC_ALL, saved.c_str());
}

}  // namespace
}  // namespace sonde
