#include "import/callgrind/callgrind.hpp"

#include "import/callgrind/callgrind_lines.hpp"
#include "tests/support/profile_rows.hpp"

namespace sonde {
namespace {

using test::format_of;
using test::function_named;
using test::import_or_fail;
using test::losses;

const std::string kSmall =
    "# callgrind format\n"
    "version: 1\n"
    "creator: callgrind-3.19.0\n"
    "positions: line\n"
    "events: Ir Dr\n"
    "\n"
    "ob=(1) /app\n"
    "fl=(1) main.c\n"
    "fn=(1) main\n"
    "10 5 2\n"
    "+2 7\n"
    "cfi=(2) lib.c\n"
    "cfn=(2) work\n"
    "calls=3 40\n"
    "* 300 30\n"
    "fi=(3) inline.h\n"
    "7 4 1\n"
    "fe=(1)\n"
    "-1 1\n"
    "\n"
    "fl=(2)\n"
    "fn=(2)\n"
    "40 200 20\n"
    "cfn=(2)\n"
    "calls=2 40\n"
    "41 60 6\n"
    "42 100 10\n";

TEST(Callgrind, ReadsCostsCallsAndLines) {
  const Trace trace = import_or_fail(kSmall, import_callgrind);
  EXPECT_TRUE(trace.losses().empty());
  const FunctionProfile profile = function_profile(trace);
  ASSERT_EQ(profile.costs.size(), 2u);
  EXPECT_EQ(profile.costs[0].name, "Ir");
  const std::size_t main = function_named(profile, "main");
  const std::size_t work = function_named(profile, "work");
  EXPECT_EQ(profile.functions[main].module, "/app");
  EXPECT_EQ(profile.functions[main].file, "main.c");
  EXPECT_EQ(profile.self_of(main, 0), 17);
  EXPECT_EQ(profile.self_of(main, 1), 3);
  EXPECT_EQ(profile.total_of(main, 0), 317);
  EXPECT_EQ(profile.self_of(work, 0), 300);
  EXPECT_EQ(profile.total_of(work, 0), 300);  // its calls of itself are in there
  EXPECT_EQ(profile.functions[work].calls, 5);
  EXPECT_EQ(profile.functions[work].primitive_calls, 3);
  EXPECT_EQ(profile.whole[0], 317);
  // Lines: 10, 12, 7 of inline.h, and the relative -1 behind it.
  const CallProfile& sums = trace.call_profile();
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < sums.lines.size(); ++i) {
    lines.push_back(std::string(trace.text(sums.lines[i].file)) + ":" +
                    std::to_string(sums.lines[i].line) + " " +
                    std::to_string(sums.line_self[2 * i]));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"main.c:10 5", "main.c:12 7", "inline.h:7 4",
                                             "main.c:6 1", "lib.c:40 200", "lib.c:42 100"}));
}

TEST(Callgrind, ReadsHexadecimalInstructionPositionsAndJumps) {
  const Trace trace = import_or_fail(
      "positions: instr line\nevents: Ir\nfn=main\n0x10 5 3\n+4 +1 4\njump=5 0x20 7\n0x14 6\n"
      "jcnd=1/2 0x20 7\n* *\n0x18:0x1a 6 1\n",
      import_callgrind);
  EXPECT_EQ(losses(trace, "jumps_left_out"), 2u);
  EXPECT_EQ(losses(trace, "line_unusable"), 0u);
  const FunctionProfile profile = function_profile(trace);
  EXPECT_EQ(profile.whole[0], 8);
  ASSERT_EQ(profile.lines.size(), 2u);
  EXPECT_EQ(profile.lines[1].line, 6);
  EXPECT_EQ(profile.line_self[1], 5);
}

TEST(Callgrind, TakesTimeInTheUnitOfItsWriter) {
  // pyprof2calltree
  const Trace ns = import_or_fail(
      "event: ns : Nanoseconds\nevents: ns\nsummary: 90\nfl=a.py\nfn=f\n3 40\ncfl=~\ncfn=<len>\n"
      "calls=2 0\n3 50\n\nfl=~\nfn=<len>\n0 50\n",
      import_callgrind);
  const FunctionProfile profile = function_profile(ns);
  EXPECT_EQ(profile.costs[0].name, "time");
  EXPECT_EQ(profile.costs[0].unit, "ns");
  EXPECT_EQ(profile.total_of(function_named(profile, "f"), 0), 90);
  // yappi: microseconds, names defined before their use
  const Trace ticks = import_or_fail(
      "version: 1\ncreator: yappi\npid: 1\ncmd: x\npart: 1\nevents: Ticks\nfl=(1) a.py\nfn=(1) f\n"
      "fl=(1)\nfn=(1)\n0 7\n",
      import_callgrind);
  EXPECT_EQ(function_profile(ticks).whole[0], 7000);
  // pprofile: hits, microseconds and an average that cannot be added up
  const Trace lines = import_or_fail(
      "# callgrind format\nversion: 1\ncreator: pprofile\nevent: usphit :microseconds/hit\n"
      "events: hits microseconds usphit\nfl=a.py\nfn=f:1\n2 10 500 50\n",
      import_callgrind);
  const FunctionProfile hits = function_profile(lines);
  ASSERT_EQ(hits.costs.size(), 1u);
  EXPECT_EQ(hits.lines[0].hits, 10);
  EXPECT_EQ(hits.whole[0], 500'000);
}

TEST(Callgrind, FunctionsThatCallEachOtherCountOnce) {
  // main calls even for 110, even calls odd for 100, and odd calls even again for 90.
  const Trace trace = import_or_fail(
      "events: Ir\nfl=a.c\nfn=main\n1 5\ncfn=even\ncalls=1 2\n1 110\n"
      "fn=even\n2 60\ncfn=odd\ncalls=3 3\n2 100\nfn=odd\n3 50\ncfn=even\ncalls=2 2\n3 90\n",
      import_callgrind);
  const FunctionProfile profile = function_profile(trace);
  EXPECT_EQ(profile.total[function_named(profile, "main")], 115);
  EXPECT_EQ(profile.total[function_named(profile, "even")], 110);
  EXPECT_EQ(profile.total[function_named(profile, "odd")], 100);
}

TEST(Callgrind, EachPartHasItsOwnNames) {
  const Trace trace = import_or_fail(
      "version: 1\npart: 1\nevents: Ir\nfl=(1) a.c\nfn=(1) f\n1 5\n"
      "part: 2\nevents: Ir\nfl=(1) b.c\nfn=(1) g\n1 7\n",
      import_callgrind);
  EXPECT_TRUE(trace.losses().empty());
  const FunctionProfile profile = function_profile(trace);
  EXPECT_EQ(profile.self[function_named(profile, "f")], 5);
  EXPECT_EQ(profile.self[function_named(profile, "g")], 7);
}

TEST(Callgrind, CountsWhatItCannotUse) {
  const Trace trace = import_or_fail(
      "events: Ir\nfn=(7)\n1 5\nfn=(1) a\nfn=(1) b\nbananas\n1 2 3 4\n9 99999999999999999999\n"
      "calls=x 1\n+9999999999 1\n",
      import_callgrind);
  EXPECT_EQ(losses(trace, "name_missing"), 1u);
  EXPECT_EQ(losses(trace, "name_changed"), 1u);
  EXPECT_EQ(losses(trace, "line_unusable"), 4u);
  EXPECT_FALSE(test::try_import("# callgrind format\nfn=a\n1 5\n", import_callgrind).ok());
}

TEST(Callgrind, IsKnownByItsHeader) {
  EXPECT_EQ(format_of(kSmall), "callgrind");
  EXPECT_EQ(format_of("event: ns : Nanoseconds\nevents: ns\nfl=a\n"), "callgrind");
  EXPECT_EQ(format_of("upcoming events:\nevents: none\n"), "");
}

}  // namespace
}  // namespace sonde
