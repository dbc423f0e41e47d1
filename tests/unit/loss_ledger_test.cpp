#include "trace/loss_ledger.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sonde {
namespace {

TEST(LossLedger, EqualNamesAreCountedTogether) {
  LossLedger ledger;
  ledger.add("cut", Severity::Warning, "It was cut.", 2, 100, "abc");
  ledger.add("cut", Severity::Warning, "It was cut.", 3, 200, "def");
  ASSERT_EQ(ledger.entries().size(), 1u);
  EXPECT_EQ(ledger.entries()[0].count, 5u);
  EXPECT_EQ(ledger.entries()[0].sentence, "It was cut.");
}

TEST(LossLedger, TheExampleIsTheOneThatComesFirstInTheFile) {
  LossLedger ledger;
  ledger.add("cut", Severity::Warning, "", 1, 200, "later");
  ledger.add("cut", Severity::Warning, "", 1, 100, "earlier");
  EXPECT_EQ(ledger.find("cut")->first_offset, 100u);
  EXPECT_EQ(ledger.find("cut")->example, "earlier");
}

TEST(LossLedger, ACountOfZeroIsNoLoss) {
  LossLedger ledger;
  ledger.add("nothing", Severity::Error, "", 0);
  EXPECT_TRUE(ledger.empty());
  EXPECT_EQ(ledger.find("nothing"), nullptr);
}

TEST(LossLedger, ExamplesAreShortAndPrintable) {
  LossLedger ledger;
  ledger.add("raw", Severity::Info, "", 1, 0, "\x1b[31m\n\xff" + std::string(200, 'x'));
  const std::string& example = ledger.find("raw")->example;
  EXPECT_LE(example.size(), 64u);
  EXPECT_TRUE(example.starts_with("?[31m??xxx"));
  EXPECT_TRUE(example.ends_with("..."));
}

TEST(LossLedger, MergeAddsCountsAndKeepsTheOrderOfFirstAppearance) {
  LossLedger first;
  first.add("a", Severity::Info, "A", 1, 50);
  LossLedger second;
  second.add("b", Severity::Error, "B", 2, 10);
  second.add("a", Severity::Info, "A", 4, 20, "x");
  first.merge(second);
  ASSERT_EQ(first.entries().size(), 2u);
  EXPECT_EQ(first.entries()[0].name, "a");
  EXPECT_EQ(first.entries()[0].count, 5u);
  EXPECT_EQ(first.entries()[0].first_offset, 20u);
  EXPECT_EQ(first.entries()[1].name, "b");
  EXPECT_EQ(first.entries()[1].severity, Severity::Error);
}

TEST(LossLedger, SeveritiesHaveNames) {
  EXPECT_EQ(severity_name(Severity::Info), "info");
  EXPECT_EQ(severity_name(Severity::Warning), "warning");
  EXPECT_EQ(severity_name(Severity::Error), "error");
}

}  // namespace
}  // namespace sonde
