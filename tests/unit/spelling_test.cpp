#include "base/spelling.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(EditDistance, CountsInsertionsRemovalsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kernels", "kernels"), 0u);
  EXPECT_EQ(edit_distance("kernls", "kernels"), 1u);
  EXPECT_EQ(edit_distance("reprot", "report"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(EditDistance, TakesUpperAndLowerCaseAsAlike) {
  EXPECT_EQ(edit_distance("Kernels", "kernels"), 0u);
}

TEST(NearestSpelling, FindsTheWordThatWasMeant) {
  const std::vector<std::string> views = {"summary", "steps", "operators", "kernels"};
  EXPECT_EQ(nearest_spelling("sumary", views), "summary");
  EXPECT_EQ(nearest_spelling("opertors", views), "operators");
  EXPECT_EQ(nearest_spelling("Kernel", views), "kernels");
}

TEST(NearestSpelling, TakesABeginningAsNear) {
  EXPECT_EQ(nearest_spelling("oper", {"summary", "operators"}), "operators");
}

TEST(NearestSpelling, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest_spelling("banana", {"summary", "steps"}), "");
  EXPECT_EQ(nearest_spelling("-q", {"-v", "-o"}), "");
  EXPECT_EQ(nearest_spelling("", {"steps"}), "");
  EXPECT_EQ(nearest_spelling(std::string(100000, 'x'), {"steps"}), "");
}

TEST(UnknownWord, SuggestsOrLists) {
  EXPECT_EQ(unknown_word("view", "stps", {"summary", "steps"}),
            "unknown view 'stps'; did you mean 'steps'?");
  EXPECT_EQ(unknown_word("view", "banana", {"summary", "steps"}),
            "unknown view 'banana'; there is summary, steps");
  EXPECT_EQ(unknown_word("view", "banana", {}), "unknown view 'banana'");
}

}  // namespace
}  // namespace sonde
