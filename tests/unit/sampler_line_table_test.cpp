#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sampler/line_table.hpp"

namespace sonde {
namespace {

using namespace std::string_literals;

TEST(SamplerLineTable, ReadsAddressPairs) {
  // Line 10 for bytes 0-5, 12 for 6-9, 9 from 10 on.
  const std::string table = "\x06\x02\x04\xFD"s;
  const auto line = [&](int offset) {
    return line_at(LineFormat::AddressPairs, table, 10, offset);
  };
  EXPECT_EQ(line(-1), 10);
  EXPECT_EQ(line(0), 10);
  EXPECT_EQ(line(5), 10);
  EXPECT_EQ(line(6), 12);
  EXPECT_EQ(line(9), 12);
  EXPECT_EQ(line(10), 9);
  EXPECT_EQ(line(5000), 9);
  EXPECT_EQ(line_at(LineFormat::AddressPairs, "", 7, 40), 7);
}

TEST(SamplerLineTable, ReadsRanges) {
  // [0,4) line 11, [4,6) none, [6,12) line 13.
  const std::string table = "\x04\x01\x02\x80\x06\x02"s;
  const auto line = [&](int offset) { return line_at(LineFormat::Ranges, table, 10, offset); };
  EXPECT_EQ(line(0), 11);
  EXPECT_EQ(line(3), 11);
  EXPECT_EQ(line(4), 0);
  EXPECT_EQ(line(6), 13);
  EXPECT_EQ(line(11), 13);
  EXPECT_EQ(line(12), 0);
}

TEST(SamplerLineTable, ReadsLocations) {
  std::string table;
  const auto entry = [&](unsigned code, unsigned units, std::string rest) {
    table += static_cast<char>(0x80 | code << 3 | (units - 1));
    table += rest;
  };
  entry(0, 2, "\x11");                    // [0,4) line 10, short form
  entry(11, 1, "\x01\x02");               // [4,6) line 11
  entry(13, 1, "\x05");                   // [6,8) line 11 - 2 = 9
  entry(14, 2, "\x42\x01\x01\x01\x01"s);  // [8,12) delta 0x42: 2 + (1 << 6) = 66, +33
  entry(15, 1, "");                       // [12,14) none
  entry(12, 1, "\x01\x01");               // [14,16) +2
  const auto line = [&](int offset) { return line_at(LineFormat::Locations, table, 10, offset); };
  EXPECT_EQ(line(0), 10);
  EXPECT_EQ(line(4), 11);
  EXPECT_EQ(line(6), 9);
  EXPECT_EQ(line(8), 42);
  EXPECT_EQ(line(10), 42);
  EXPECT_EQ(line(12), 0);
  EXPECT_EQ(line(14), 44);
  EXPECT_EQ(line(16), 0);
  EXPECT_EQ(line(-2), 10);
}

TEST(SamplerLineTable, SurvivesGarbage) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string table(random() % 40, '\0');
    for (char& c : table) c = static_cast<char>(random());
    for (const LineFormat format :
         {LineFormat::AddressPairs, LineFormat::Ranges, LineFormat::Locations}) {
      EXPECT_GE(
          line_at(format, table, static_cast<int>(random()), static_cast<int>(random() % 500) - 20),
          0);
    }
  }
}

}  // namespace
}  // namespace sonde
