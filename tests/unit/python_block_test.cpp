#include <gtest/gtest.h>

#include "analysis/source_lines.hpp"

namespace sonde {
namespace {

std::size_t block_length(std::string_view text) {
  const auto lines = split_python_source(text);
  return lines ? python_block_length(*lines) : 0;
}

TEST(PythonBlock, EndsBeforeTheNextStatement) {
  EXPECT_EQ(block_length("def f():\n  return 1\nx = 2\n"), 2u);
  EXPECT_EQ(block_length("def f():\n  return 1\n\n\ndef g():\n  pass\n"), 2u);
  EXPECT_EQ(block_length("def f(): return 1\ndef g(): return 2\n"), 1u);
  EXPECT_EQ(block_length("  def f():\n    return 1\n  x = 2\n"), 2u);
  EXPECT_EQ(block_length(""), 0u);
}

TEST(PythonBlock, DecoratorsBelongToIt) {
  EXPECT_EQ(block_length("@a\n@b(1,\n  2)\nasync def f():\n  pass\nx\n"), 5u);
}

TEST(PythonBlock, CommentsBelongToItAsFarAsTheyAreIndented) {
  EXPECT_EQ(block_length("def f():\n  pass\n  # in\n# out\nx\n"), 3u);
  EXPECT_EQ(block_length("def f():\n# left\n  pass\n\n  # in\n"), 5u);
}

TEST(PythonBlock, TextsAndBracketsMayBreakTheIndent) {
  EXPECT_EQ(block_length("def f(a='''\nx\n''', b=(1,\n2)):\n  return [\n1,\n]\ny\n"), 7u);
  EXPECT_EQ(block_length("def f():\n  return 'a\\\nb'\ny\n"), 3u);
  EXPECT_EQ(block_length("def f():\n  x = 1 + \\\n2\n  return r'\\'\ny\n"), 4u);
  EXPECT_EQ(block_length("def f():\n  \"\"\"def g():\nno\n\"\"\"\n  pass\ny\n"), 5u);
}

TEST(PythonBlock, ALambdaEndsWithItsStatement) {
  EXPECT_EQ(block_length("f = lambda x: (x +\n  1)\ny\n"), 2u);
}

TEST(PythonBlock, BrokenSourceEndsNowhereBad) {
  EXPECT_LE(block_length("def f():\n  '''\n"), 2u);
  EXPECT_LE(block_length("def f(\n"), 1u);
  EXPECT_LE(block_length("def f():\n    a\n  b\n"), 3u);
  EXPECT_EQ(block_length(")))\n"), 1u);
}

}  // namespace
}  // namespace sonde
