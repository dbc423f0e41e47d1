#include "base/demangle.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(Demangle, TellsTheNameOfTheSource) {
  EXPECT_EQ(demangled("_ZN2at4_ops3add4callERKNS_6TensorES4_RKN3c106ScalarE"),
            "at::_ops::add::call(at::Tensor const&, at::Tensor const&, c10::Scalar const&)");
  EXPECT_EQ(demangled("_Znwm"), "operator new(unsigned long)");
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const std::string name :
       {"", "_", "_Z", "main", "_Zno", "_ZN", "operator new(unsigned long)", "?",
        "_ZN2at4_ops3add4callERKNS_6Tensor"}) {
    EXPECT_EQ(demangled(name), name);
  }
  EXPECT_EQ(demangled(std::string_view("_Znwm!!", 5)), "operator new(unsigned long)");
}

TEST(Demangle, IsBounded) {
  // Each parameter is a function of two of the one before: the text doubles with every few bytes.
  std::string bomb = "_Z1fFvvE";
  bomb += "FS_S_E";
  for (int i = 0; i < 30; ++i) {
    std::string number =
        i == 0 ? "" : std::string(1, static_cast<char>(i <= 10 ? '0' + i - 1 : 'A' + i - 11));
    const std::string last = "S" + number + "_";
    bomb += "F" + last + last + last + "E";
  }
  EXPECT_EQ(demangled(bomb), bomb);
  const std::string deep = "_Z1f" + std::string(10'000, 'P') + "i";
  EXPECT_LE(demangled(deep).size(), 64u << 10);
  const std::string large = "_Z" + std::string(100'000, 'N');
  EXPECT_EQ(demangled(large), large);
}

}  // namespace
}  // namespace sonde
