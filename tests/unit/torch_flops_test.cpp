#include "analysis/torch_flops.hpp"

#include <gtest/gtest.h>

#include "analysis/json_list.hpp"

namespace sonde {
namespace {

constexpr std::string_view kConvTypes =
    R"(["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"])";

std::uint64_t conv2d(std::string_view shapes, std::string_view concrete) {
  return torch_flops("aten::conv2d", {shapes, kConvTypes, concrete});
}

TEST(TorchFlops, ConvolutionCountsTwoPerProductOverAllOutputPlaces) {
  // 7x7 kernel, stride 2, padding 3: 224 -> 112.
  EXPECT_EQ(conv2d("[[32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]",
                   R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "1"])"),
            2ull * 32 * 112 * 112 * 7 * 7 * 3 * 64);
}

TEST(TorchFlops, DilationWidensTheKernelAndGroupsDivide) {
  EXPECT_EQ(conv2d("[[1, 8, 10, 10], [8, 4, 3, 3], [], [], [], [], []]",
                   R"(["", "", "", "[1, 1]", "[0, 0]", "[2, 2]", "2"])"),
            2ull * 6 * 6 * 3 * 3 * 8 * 8 / 2);
}

TEST(TorchFlops, ConvolutionWithoutUsableInputsIsZero) {
  const std::string_view shapes = "[[1, 8, 10, 10], [8, 4, 3, 3], [], [], [], [], []]";
  EXPECT_EQ(conv2d(shapes, R"(["", "", "", "[0, 1]", "[0, 0]", "[1, 1]", "1"])"), 0u);
  EXPECT_EQ(conv2d(shapes, R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "0"])"), 0u);
  EXPECT_EQ(conv2d(shapes, R"(["", "", "", "[1]", "[0, 0]", "[1, 1]", "1"])"), 0u);
  EXPECT_EQ(conv2d(shapes, ""), 0u);
  EXPECT_EQ(conv2d("[[1, 8, 10], [8, 4, 3, 3], [], [], [], [], []]",
                   R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"])"),
            0u);
  EXPECT_EQ(conv2d("not json", "[[["), 0u);
}

TEST(TorchFlops, MatrixProductsCountTwoPerProduct) {
  constexpr std::string_view kTwo = R"(["float", "float"])";
  constexpr std::string_view kThree = R"(["float", "float", "float", "Scalar", "Scalar"])";
  EXPECT_EQ(torch_flops("aten::mm", {"[[4, 5], [5, 6]]", kTwo, ""}), 2u * 4 * 5 * 6);
  EXPECT_EQ(torch_flops("aten::addmm", {"[[6], [4, 5], [5, 6], [], []]", kThree, ""}),
            2u * 4 * 5 * 6);
  EXPECT_EQ(torch_flops("aten::bmm", {"[[3, 4, 5], [3, 5, 6]]", kTwo, ""}), 2u * 3 * 4 * 5 * 6);
  EXPECT_EQ(torch_flops("aten::baddbmm", {"[[3, 4, 6], [3, 4, 5], [3, 5, 6], [], []]", kThree, ""}),
            2u * 3 * 4 * 5 * 6);
}

TEST(TorchFlops, EmptyMatricesAreZeroWithoutDividingByZero) {
  constexpr std::string_view kTwo = R"(["float", "float"])";
  EXPECT_EQ(torch_flops("aten::mm", {"[[4, 0], [0, 6]]", kTwo, ""}), 0u);
  EXPECT_EQ(torch_flops("aten::mm", {"[[], []]", kTwo, ""}), 0u);
  EXPECT_EQ(torch_flops("aten::bmm", {"[[0, 4, 5], [0, 5, 6]]", kTwo, ""}), 0u);
}

TEST(TorchFlops, ElementwiseOperatorsCountTheElementsOfTheirFirstTensor) {
  constexpr std::string_view kTypes = R"(["float", "float", "Scalar"])";
  EXPECT_EQ(torch_flops("aten::add", {"[[2, 3], [3], []]", kTypes, ""}), 6u);
  EXPECT_EQ(torch_flops("aten::mul", {"[[], []]", kTypes, ""}), 1u);
  EXPECT_EQ(torch_flops("aten::add", {"[[], [3]]", R"(["Scalar", "float"])", ""}), 0u);
}

TEST(TorchFlops, InPlaceAndOtherOperatorsHaveNoFormula) {
  constexpr std::string_view kTypes = R"(["float", "float"])";
  for (const std::string_view name : {"aten::add_", "aten::mul_", "aten::linear", ""}) {
    EXPECT_EQ(torch_flops(name, {"[[2, 3], [2, 3]]", kTypes, ""}), 0u) << name;
    EXPECT_FALSE(has_torch_flops(name));
  }
}

TEST(TorchShapes, TextIsThatOfAPythonList) {
  EXPECT_EQ(torch_shapes_text("[[32,3,224,224],[],[64, 3]]"), "[[32, 3, 224, 224], [], [64, 3]]");
  EXPECT_EQ(torch_shapes_text("[]"), "[]");
}

TEST(TorchShapes, AbsentShapesReadAsTheEmptyList) { EXPECT_EQ(torch_shapes_text(""), "[]"); }

TEST(TorchShapes, ListOfTensorsReadsAsTheEmptyShape) {
  EXPECT_EQ(torch_shapes_text("[[[2, 3], [4]], [5]]"), "[[], [5]]");
}

TEST(JsonList, CommasInsideOfTextsAndInnerListsDoNotPart) {
  const auto items = json_array_items(R"( [ "a,\"]b" , [1, [2, 3]] , {"x": [4, 5]} , 6 ] )");
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[0], R"("a,\"]b")");
  EXPECT_EQ(items[1], "[1, [2, 3]]");
  EXPECT_EQ(items[2], R"({"x": [4, 5]})");
  EXPECT_EQ(items[3], "6");
}

TEST(JsonList, BrokenTextGivesNoNumbersAndNoCrash) {
  EXPECT_TRUE(json_array_items("").empty());
  EXPECT_TRUE(json_array_items("[").empty());
  EXPECT_FALSE(parse_integers("[1, x]"));
  EXPECT_FALSE(parse_integers("[1, 99999999999999999999]"));
  EXPECT_EQ(json_array_items("[\"abc]").size(), 1u);
  EXPECT_EQ(json_array_items("[]]]]").size(), 1u);
}

}  // namespace
}  // namespace sonde
