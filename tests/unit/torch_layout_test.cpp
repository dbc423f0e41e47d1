#include "report/styles/torch_layout.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(TorchCells, TimeTakesTheLargestUnitThatItReaches) {
  EXPECT_EQ(torch_time(0), "0.000us");
  EXPECT_EQ(torch_time(999.9994), "999.999us");
  EXPECT_EQ(torch_time(1000), "1.000ms");
  EXPECT_EQ(torch_time(999999.9), "1000.000ms");
  EXPECT_EQ(torch_time(1e6), "1.000s");
  EXPECT_EQ(torch_time(17476e3), "17.476s");
}

TEST(TorchCells, NegativeTimeStaysInMicroseconds) { EXPECT_EQ(torch_time(-16028), "-16028.000us"); }

TEST(TorchCells, ShareOfNothingIsNaN) {
  EXPECT_EQ(torch_share(1, 0), "NaN");
  EXPECT_EQ(torch_share(1, 3), "33.33%");
  EXPECT_EQ(torch_share(0, 3), "0.00%");
}

TEST(TorchCells, MemoryIsInPowersOf1024AndMayBeNegative) {
  EXPECT_EQ(torch_memory(0), "0 B");
  EXPECT_EQ(torch_memory(-1023), "-1023 B");
  EXPECT_EQ(torch_memory(1024), "1.00 KB");
  EXPECT_EQ(torch_memory(-1536), "-1.50 KB");
  EXPECT_EQ(torch_memory(55ll << 20), "55.00 MB");
  EXPECT_EQ(torch_memory(-(3ll << 30)), "-3.00 GB");
  EXPECT_EQ(torch_memory(5ll << 40), "5120.00 GB");
}

TEST(TorchCells, UnitOfFlopsIsThatOfTheSmallestNumber) {
  EXPECT_EQ(torch_flops_unit(1).name, "FLOPs");
  EXPECT_EQ(torch_flops_unit(999).name, "FLOPs");
  EXPECT_EQ(torch_flops_unit(1'500).name, "KFLOPs");
  EXPECT_EQ(torch_flops_unit(2'000'000).name, "MFLOPs");
  EXPECT_EQ(torch_flops_unit(UINT64_MAX).name, "PFLOPs");
  EXPECT_EQ(torch_flops_cell(2'500'000, torch_flops_unit(2'000'000)), "   2.500");
  EXPECT_EQ(torch_flops_cell(0, torch_flops_unit(1)), "--");
}

TEST(TorchCells, NameOf52OrMoreIsCutAndEndsInDots) {
  const std::string name(51, 'x');
  EXPECT_EQ(torch_name_cell(name, 55), name);
  EXPECT_EQ(torch_name_cell(name + "y", 55), name + "y...");
  EXPECT_EQ(torch_name_cell(name + "yz", 55), name + "y...");
  EXPECT_EQ(torch_name_cell(name + name, std::nullopt), name + name);
}

TEST(TorchCells, LengthsCountCodePoints) {
  EXPECT_EQ(torch_length("gr\xC3\xBC\xC3\x9F"), 4u);
  EXPECT_EQ(torch_head("gr\xC3\xBC\xC3\x9F", 3), "gr\xC3\xBC");
  std::string umlauts;
  for (int i = 0; i < 60; ++i) umlauts += "\xC3\xBC";
  EXPECT_EQ(torch_name_cell(umlauts, 55), umlauts.substr(0, 104) + "...");
  EXPECT_EQ(torch_row({{"Name", 4}}, {"\xC3\xBC"}), "   \xC3\xBC  ");
}

TEST(TorchCells, LongFrameKeepsItsEnd) {
  EXPECT_EQ(torch_frame_cell("0123456789", 10), "0123456789");
  EXPECT_EQ(torch_frame_cell("0123456789", 8), "...56789");
  EXPECT_EQ(torch_frame_cell("0123456789", 3), "789");
}

TEST(TorchLayout, TooLongCellMovesTheRestOfTheLine) {
  const std::vector<TorchColumn> columns = {{"a", 3}, {"b", 2, true}};
  EXPECT_EQ(torch_separator(columns), "---  --  ");
  EXPECT_EQ(torch_row(columns, {"1", "2"}), "  1  2   ");
  EXPECT_EQ(torch_row(columns, {"12345", "2"}), "12345  2   ");
  EXPECT_EQ(torch_line_length(columns), 7u);
}

TorchAverages one_group() {
  TorchAverages averages;
  averages.device_name = "CUDA";
  averages.groups.resize(1);
  averages.groups[0].name = "aten::mm";
  return averages;
}

TEST(TorchLayout, ColumnsWithoutContentAreAbsent) {
  const TorchColumns columns = torch_columns(one_group(), {});
  EXPECT_EQ(columns.list.size(), 7u);
  EXPECT_EQ(columns.list[0].width, 12u);
  EXPECT_EQ(torch_header(columns.list),
            "        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    "
            "# of Calls  ");
}

TEST(TorchLayout, EveryColumnStandsInItsPlace) {
  TorchAverages averages = one_group();
  averages.device_name = "XPU";
  averages.device_used = averages.profile_memory = averages.with_flops = true;
  averages.groups[0].sum.self_device = 1;
  averages.groups[0].sum.self_device_bytes = 1;
  averages.groups[0].flops = 5'000;
  averages.groups[0].shapes = "[[2, 2]]";
  averages.groups[0].stack = {"a.py(1): f"};
  std::vector<std::string> headers;
  for (const TorchColumn& column : torch_columns(averages, {}).list)
    headers.push_back(column.header);
  EXPECT_EQ(headers, (std::vector<std::string>{
                         "Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total",
                         "CPU time avg", "Self XPU", "Self XPU %", "XPU total", "XPU time avg",
                         "CPU Mem", "Self CPU Mem", "XPU Mem", "Self XPU Mem", "# of Calls",
                         "Input Shapes", "Source Location", "Total KFLOPs"}));
}

TEST(TorchLayout, WidthsAreCappedUnlessTheCapIsTakenAway) {
  TorchAverages averages = one_group();
  averages.groups[0].name = std::string(100, 'n');
  averages.groups[0].shapes = std::string(100, 's');
  averages.groups[0].stack = {std::string(100, 'f')};
  const TorchColumns capped = torch_columns(averages, {});
  EXPECT_EQ(capped.list[0].width, 55u);
  EXPECT_EQ(*capped.shapes, 80u);
  EXPECT_EQ(*capped.source, 75u);
  const TorchColumns free = torch_columns(averages, {std::nullopt, std::nullopt, std::nullopt});
  EXPECT_EQ(free.list[0].width, 104u);
  EXPECT_EQ(*free.shapes, 104u);
  EXPECT_EQ(*free.source, 104u);
}

}  // namespace
}  // namespace sonde
