#include "import/austin/austin.hpp"

#include "tests/support/profile_rows.hpp"

namespace sonde {
namespace {

using test::format_of;
using test::import_or_fail;
using test::losses;
using test::sample_lines;
using Lines = std::vector<std::string>;

const std::string kText =
    "# austin: 3.7.0\n# interval: 100\n# mode: wall\n# python: 3.11.2\n\n"
    "P42;T0:7f1a;/app/train.py:main:10;/app/train.py:step:20 150\n"
    "P42;T7f1b;C:\\a.py:run:3;:GC: 50\n"
    "# duration: 1000\n";

TEST(Austin, ReadsText) {
  const Trace trace = import_or_fail(kText, import_austin);
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_EQ(sample_lines(trace), (Lines{"main;step 150000", "run;GC 50000"}));
  EXPECT_EQ(trace.text(trace.sample_types()[0].name), "wall");
  EXPECT_EQ(trace.meta().version, "Austin 3.7.0, Python 3.11.2");
  ASSERT_EQ(trace.tracks().size(), 2u);
  EXPECT_EQ(trace.tracks()[0].pid, 42);
  EXPECT_EQ(trace.tracks()[0].tid, 0x7f1a);
  EXPECT_EQ(trace.text(trace.stacks()[1].file), "/app/train.py");
  EXPECT_EQ(trace.stacks()[1].line, 20);
  EXPECT_EQ(trace.text(trace.stacks()[2].file), "C:\\a.py");
}

TEST(Austin, ReadsFullAndMemoryMode) {
  const Trace full = import_or_fail(
      "# austin: 3.7.0\n# mode: full\nP1;T0:1;a.py:f:1 100,0,4096\nP1;T0:1;a.py:g:2 30,1,-512\n",
      import_austin);
  ASSERT_EQ(full.sample_types().size(), 3u);
  EXPECT_EQ(sample_lines(full, 0), (Lines{"f 100000", "g 30000"}));  // wall
  EXPECT_EQ(sample_lines(full, 1), (Lines{"f 100000"}));             // cpu: not idle
  EXPECT_EQ(sample_lines(full, 2), (Lines{"f 4096", "g -512"}));     // bytes
  const Trace memory =
      import_or_fail("# austin: 3.7.0\n# mode: memory\nP1;T1;a.py:f:1 2048\n", import_austin);
  EXPECT_EQ(memory.text(memory.sample_types()[0].unit), "bytes");
  EXPECT_EQ(sample_lines(memory), (Lines{"f 2048"}));
}

TEST(Austin, CountsOddLines) {
  const Trace trace = import_or_fail(kText + "P1;X 3\nwords\nP1;T1;a 1,2\n", import_austin);
  EXPECT_EQ(losses(trace, "line_unusable"), 3u);
}

TEST(Austin, IsKnownByMetadataOrItsFirstStack) {
  EXPECT_EQ(format_of(kText), "austin");
  EXPECT_EQ(format_of("P42;T7f1b;a.py:run:3 50\n"), "austin");
  EXPECT_EQ(format_of("# mode: wall\n# austin: 3\n"), "austin");
  EXPECT_EQ(format_of("Process;Thread;a 50\n"), "collapsed");
}

// Writes MOJO.
std::string varint(std::int64_t value) {
  std::string out;
  unsigned byte = value < 0 ? 0x40 : 0;
  auto rest = static_cast<std::uint64_t>(value < 0 ? -value : value);
  byte |= rest & 0x3F;
  rest >>= 6;
  out += static_cast<char>(byte | (rest ? 0x80 : 0));
  while (rest) {
    const auto next = static_cast<unsigned>(rest & 0x7F);
    rest >>= 7;
    out += static_cast<char>(next | (rest ? 0x80 : 0));
  }
  return out;
}
std::string event(int tag) { return std::string(1, static_cast<char>(tag)); }
std::string text(const std::string& value) { return value + '\0'; }
std::string string_event(int key, const std::string& value) {
  return event(11) + varint(key) + text(value);
}
std::string frame_event(int key, int file, int scope, int line) {
  return event(3) + varint(key) + varint(file) + varint(scope) + varint(line) + varint(line) +
         varint(0) + varint(0);
}

std::string mojo() {
  return "MOJ" + varint(3) + event(1) + text("mode") + text("wall") +  //
         event(2) + varint(42) + varint(0) + text("7f1a") +            //
         string_event(100, "a.py") + string_event(200, "main") + string_event(300, "step") +
         frame_event(5, 100, 200, 10) + event(5) + varint(5) +  //
         frame_event(6, 100, 300, 1234567) + event(5) + varint(6) + event(9) + varint(150) +
         event(2) + varint(42) + varint(0) + text("7f1a") + event(5) + varint(5) + event(7) +
         event(9) + varint(70);
}

TEST(Mojo, ReadsSamples) {
  const Trace trace = import_or_fail(mojo(), import_mojo);
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_EQ(sample_lines(trace), (Lines{"main;step 150000", "main;GC 70000"}));
  EXPECT_EQ(trace.stacks()[1].line, 1234567);
  EXPECT_EQ(trace.text(trace.stacks()[1].file), "a.py");
  EXPECT_EQ(trace.tracks()[0].tid, 0x7f1a);
  EXPECT_EQ(format_of(mojo()), "mojo");
}

TEST(Mojo, KeepsWhatComesBeforeACutAndCountsWhatIsMissing) {
  const std::string whole = mojo();
  for (std::size_t cut = 4; cut < whole.size(); ++cut) {
    const Result<Trace> trace = test::try_import(whole.substr(0, cut), import_mojo);
    ASSERT_TRUE(trace.ok()) << trace.error().text();
    EXPECT_LE(trace->samples().size(), 2u);
  }
  const Trace lost =
      import_or_fail("MOJ" + varint(3) + event(2) + varint(1) + varint(0) + text("1") + event(5) +
                         varint(9) + event(9) + varint(4) + event(99),
                     import_mojo);
  EXPECT_EQ(losses(lost, "frame_missing"), 1u);
  EXPECT_EQ(losses(lost, "recording_cut"), 1u);
  EXPECT_FALSE(test::try_import("MOJ" + varint(9), import_mojo).ok());
}

}  // namespace
}  // namespace sonde
