#include "import/collapsed/collapsed.hpp"

#include "tests/support/profile_rows.hpp"

namespace sonde {
namespace {

using test::format_of;
using test::import_or_fail;
using test::losses;
using test::sample_lines;
using Lines = std::vector<std::string>;

const std::string kSimple = "a;b;c 1\na;b;c 1\na;b;d 4\na;b;c 3\na;b 5";
const Lines kSimpleLines = {"a;b;c 1", "a;b;c 1", "a;b;d 4", "a;b;c 3", "a;b 5"};

std::string utf16(const std::string& text, bool big_endian) {
  std::string out = big_endian ? "\xFE\xFF" : "\xFF\xFE";
  for (const char c : text) {
    if (big_endian) out += '\0';
    out += c;
    if (!big_endian) out += '\0';
  }
  return out;
}

TEST(Collapsed, ReadsStacksInOrder) {
  const Trace trace = import_or_fail(kSimple, import_collapsed);
  EXPECT_EQ(sample_lines(trace), kSimpleLines);
  EXPECT_EQ(trace.stacks().size(), 4u);
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_EQ(trace.text(trace.sample_types()[0].name), "samples");
}

TEST(Collapsed, ReadsWindowsLinesAndWideCharacters) {
  std::string windows;
  for (const char c : kSimple) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(sample_lines(import_or_fail(windows, import_collapsed)), kSimpleLines);
  for (const bool big_endian : {false, true}) {
    const std::string wide = utf16(windows, big_endian);
    EXPECT_EQ(format_of(wide), "collapsed");
    const Trace trace = import_or_fail(wide, import_collapsed);
    EXPECT_EQ(sample_lines(trace), kSimpleLines);
    EXPECT_TRUE(trace.losses().empty());
  }
  EXPECT_EQ(sample_lines(import_or_fail("\xEF\xBB\xBF" + kSimple, import_collapsed)), kSimpleLines);
}

TEST(Collapsed, ReadsWideCharactersAcrossBlocks) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "main;f" + std::to_string(i % 7) + " 2\n";
  const Trace trace = import_or_fail(utf16(text, false), import_collapsed);
  EXPECT_EQ(trace.samples().size(), 60'000u);
  EXPECT_EQ(trace.stacks().size(), 8u);
}

TEST(Collapsed, SplitsPySpyFrames) {
  const Trace trace = import_or_fail(
      "thread (0x7F): main;run (pkg/train.py:12);step (train.py);operator new (unsigned long) 3\n",
      import_collapsed);
  const auto& frames = trace.stacks();
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(trace.text(frames[0].function), "thread (0x7F): main");
  EXPECT_EQ(trace.text(frames[1].function), "run");
  EXPECT_EQ(trace.text(frames[1].file), "pkg/train.py");
  EXPECT_EQ(frames[1].line, 12);
  EXPECT_EQ(trace.text(frames[2].file), "train.py");
  EXPECT_EQ(trace.text(frames[3].function), "operator new (unsigned long)");
}

TEST(Collapsed, ReadsTwoWeightsAsBeforeAndAfter) {
  const Trace trace = import_or_fail("a;b 1 2\na;c 3 0\n", import_collapsed);
  ASSERT_EQ(trace.sample_types().size(), 2u);
  EXPECT_EQ(sample_lines(trace, 0), (Lines{"a;b 1", "a;c 3"}));
  EXPECT_EQ(sample_lines(trace, 1), (Lines{"a;b 2", "a;c 0"}));
  // A name that ends in a number is no second weight.
  EXPECT_EQ(sample_lines(import_or_fail("a;thread 7 2\na;c 3\n", import_collapsed)),
            (Lines{"a;thread 7 2", "a;c 3"}));
}

TEST(Collapsed, MultipliesByTheGranularity) {
  const Trace trace =
      import_or_fail("elapsed 12.5\ngranularity 0.005\nmain(a);run(b) 4\n", import_collapsed);
  EXPECT_EQ(trace.text(trace.sample_types()[0].unit), "ns");
  EXPECT_EQ(sample_lines(trace), (Lines{"main(a);run(b) 20000000"}));
}

TEST(Collapsed, CountsLinesThatAreNoStack) {
  const Trace trace = import_or_fail("# a comment\n// another\na;b 1\ninvalid line\n\na;c 0.5\n7\n",
                                     import_collapsed);
  EXPECT_EQ(sample_lines(trace), (Lines{"a;b 1", "a;c 0.5"}));
  EXPECT_EQ(losses(trace, "line_unusable"), 2u);
  EXPECT_EQ(trace.losses().find("line_unusable")->first_offset, 29u);
  EXPECT_EQ(losses(import_or_fail("a;b\xFF 1\n", import_collapsed), "invalid_utf8"), 1u);
}

TEST(Collapsed, DoesNotTakeOtherTexts) {
  for (const char* text :
       {"This is a letter, not a trace.\n", "nr_free_pages 1234\nnr_used 5\n", "a,b,c\n1,2,3\n",
        "int x = 1;\nint y = 2;\nreturn x;\n", "one;two\nthree;four\n", "a;b 1\nno\nno\nno\n", "",
        "\n\n", "10 20\n30 40\n"}) {
    EXPECT_EQ(format_of(text), "") << text;
  }
  EXPECT_EQ(format_of(std::string("a;b\0c 1\n", 8)), "");
  std::string noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 5000; ++i)
    noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24 | 1);
  EXPECT_EQ(format_of(noise), "");
}

TEST(Collapsed, ALineOfManyMegabytesIsCutAndCounted) {
  const std::string text = "a;b 1\n" + std::string(17 << 20, 'x') + "\na;c 2\n";
  const Trace trace = import_or_fail(text, import_collapsed);
  EXPECT_EQ(losses(trace, "line_too_long"), 1u);
  EXPECT_EQ(sample_lines(trace), (Lines{"a;b 1", "a;c 2"}));
}

TEST(Collapsed, TheSharedFilesAreTheSameStacks) {
  const std::string folder = std::string(SONDE_SHARED_DATA) + "/collapsed/";
  if (test::read_bytes(folder + "simple.txt").empty())
    GTEST_SKIP() << "the shared data is not on this machine";
  for (const char* name : {"simple.txt", "simple-crlf.txt", "simple-utf16-be.txt",
                           "simple-utf16-le.txt", "simple-with-invalids.txt"}) {
    const std::string bytes = test::read_bytes(folder + name);
    EXPECT_EQ(format_of(bytes), "collapsed") << name;
    EXPECT_EQ(sample_lines(import_or_fail(bytes, import_collapsed)), kSimpleLines) << name;
  }
}

}  // namespace
}  // namespace sonde
