#include "analysis/source_lines.hpp"

#include <gtest/gtest.h>

#include "tests/support/files.hpp"

namespace sonde {
namespace {

using test::ScratchFolder;

using Lines = std::vector<std::string>;

TEST(PythonSource, KnowsEncodingsAndLineEnds) {
  EXPECT_EQ(split_python_source("\xEF\xBB\xBF"
                                "a\r\nb\rc"),
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(split_python_source("# -*- coding: latin-1 -*-\n\xFC\n")->back(), "\xC3\xBC");
  EXPECT_FALSE(split_python_source("x\n\xFC\n").has_value());
  EXPECT_EQ(split_python_source("a\n\n")->size(), 2u);
}

TEST(SourceFiles, OpensRegularFilesOnly) {
  SourceFiles files;
  EXPECT_EQ(files.lines("/dev/zero"), nullptr);
  EXPECT_EQ(files.lines("/"), nullptr);
  EXPECT_EQ(files.lines(""), nullptr);
  EXPECT_EQ(files.lines(std::string_view("/etc/passwd\0x", 13)), nullptr);
  EXPECT_NE(files.lines(std::string(SONDE_TEST_DATA) + "/python_styles/work.py"), nullptr);
}

TEST(SourceFiles, ReadsSourceOnly) {
  const ScratchFolder folder;
  SourceFiles files;
  EXPECT_EQ(files.lines(folder.write("secret.txt", "password\n")), nullptr);
  EXPECT_EQ(files.lines(folder.write("key", "password\n")), nullptr);
  EXPECT_EQ(files.lines((folder.path() / "gone.py").string()), nullptr);
  const Lines* const script = files.lines(folder.write("train", "#!/usr/bin/python3\nx = 1\n"));
  ASSERT_NE(script, nullptr);
  EXPECT_EQ(script->back(), "x = 1");
}

TEST(SourceFiles, DoesNotReadWhatNobodyWrote) {
  const ScratchFolder folder;
  SourceFiles files;
  EXPECT_EQ(files.lines(folder.write("long.py", std::string((8 << 20) + 1, '#'))), nullptr);
  EXPECT_NE(files.lines(folder.write("short.py", std::string(8 << 20, '#'))), nullptr);
}

TEST(SourceFiles, EncodingsAreThoseOfTheLanguage) {
  const ScratchFolder folder;
  SourceFiles files;
  const Lines* const python = files.lines(folder.write("a.py", "x\n\xFC\n"));
  ASSERT_NE(python, nullptr);
  EXPECT_TRUE(python->empty());
  const Lines* const other = files.lines(folder.write("a.cpp", "\xEF\xBB\xBFint x;\n// \xFC\n"));
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(*other, (Lines{"int x;", "// \xEF\xBF\xBD"}));
}

TEST(ReadSource, IsForTables) {
  const ScratchFolder folder;
  EXPECT_EQ(read_source(folder.write("a.py", "x = 1\r\n\tif x:\n")),
            (Lines{"x = 1", "        if x:"}));
  EXPECT_TRUE(read_source(folder.write("secret.txt", "password\n")).empty());
  EXPECT_TRUE(read_source("/dev/zero").empty());
}

}  // namespace
}  // namespace sonde
