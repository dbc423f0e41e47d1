#include "import/pprofile/pprofile.hpp"

#include "tests/support/profile_rows.hpp"
#include "trace/filter.hpp"

namespace sonde {
namespace {

using test::function_named;
using test::import_or_fail;
using test::losses;

TEST(Pprofile, ReadsAListing) {
  const std::string bytes = test::profile_bytes("listing.pprofile.txt");
  EXPECT_EQ(test::format_of(bytes), "pprofile");
  const Trace trace = import_or_fail(bytes, import_pprofile);
  EXPECT_TRUE(trace.losses().empty());
  const FunctionProfile profile = function_profile(trace);
  const std::size_t inc = function_named(profile, "inc");
  const std::size_t run = function_named(profile, "run");
  const std::size_t main = function_named(profile, "main");
  const std::size_t module = function_named(profile, "<module>");
  EXPECT_EQ(profile.functions[inc].calls, 70);
  EXPECT_EQ(profile.functions[run].calls, 2);
  // Its calls cost 262.26 us; its lines, with the "def" that the class runs, a little more.
  EXPECT_EQ(profile.total[inc], 133'038 + 133'753);
  EXPECT_EQ(profile.total[run], 4'645'590 + 206'470);
  // Lines 3 to 7, 8 and 9, 10 to 13; line 14 is outside of every function again.
  EXPECT_EQ(profile.self[run], 7629 + 6199 + 140'905 + 4'435'060 + 3099);
  EXPECT_EQ(profile.self[inc], 133'038 + 133'753);
  EXPECT_EQ(profile.self[main], 12'398 + 4292 + 27'657 + 8106);
  EXPECT_EQ(profile.self[module], 20'981 + 19'074);
  // "class A:" runs in the module and calls the body of A.
  for (const FunctionProfile::Call& call : profile.calls) EXPECT_NE(call.caller, call.callee);
  EXPECT_EQ(profile.functions[function_named(profile, "A")].primitive_calls, 1);
  ASSERT_EQ(profile.lines.size(), 14u);
  EXPECT_EQ(profile.lines[4].hits, 72);
}

TEST(Pprofile, KeepsTheListingAsItWasPrinted) {
  const Trace read = import_or_fail(
      "Command line: a.py --x\nTotal duration: 0.00427413s\nFile: a.py\n"
      "File duration: 0.00387096s (90.57%)\n"
      "Line #|      Hits|         Time| Time per hit|      %|Source code\n"
      "------+----------+-------------+-------------+-------+-----------\n"
      "     1|       466|  0.000510931|  1.09642e-06| 11.95%|x = f() | 1\n"
      "(call)|       464|   0.00259876|  5.60078e-06| 60.80%|# a.py:3 f\n",
      import_pprofile);
  const Trace copy = filter_trace(read, {});
  for (const Trace* which : {&read, &copy}) {
    const Trace& trace = *which;
    const SourceListing& listing = trace.source_listing();
    EXPECT_EQ(trace.text(listing.command), "a.py --x");
    EXPECT_EQ(listing.seconds, 0.00427413);
    ASSERT_EQ(listing.files.size(), 1u);
    EXPECT_EQ(trace.text(listing.files[0].name), "a.py");
    EXPECT_EQ(listing.files[0].seconds, 0.00387096);
    EXPECT_EQ(listing.files[0].percent, 90.57);
    ASSERT_EQ(listing.files[0].rows.size(), 2u);
    const SourceListing::Row& line = listing.files[0].rows[0];
    EXPECT_EQ(trace.text(line.text), "x = f() | 1");
    EXPECT_EQ(line.seconds_per_hit, 1.09642e-06);
    const SourceListing::Row& call = listing.files[0].rows[1];
    EXPECT_TRUE(call.is_call);
    EXPECT_EQ(trace.text(call.text), "a.py:3 f");
    EXPECT_EQ(call.hits, 464);
    EXPECT_EQ(call.percent, 60.80);
  }
}

TEST(Pprofile, DecoratorsAndBarsInTheSource) {
  const std::string head =
      "Command line: x\nTotal duration: 1s\nFile: a.py\nFile duration: 1s (1%)\n";
  const Trace trace = import_or_fail(head +
                                         "     1|         1|    1|  1| 1%|@wrap\n"
                                         "     2|         1|    1|  1| 1%|def f(a, b):\n"
                                         "     3|         2|    2|  1| 1%|    return a | b\n"
                                         "     4|         0|    0|  0| 0%|\n"
                                         "     5|         1|    4|  1| 1%|f(1, 2)\n"
                                         "(call)|         2|    2|  1| 1%|# a.py:1 f\n",
                                     import_pprofile);
  EXPECT_TRUE(trace.losses().empty());
  const FunctionProfile profile = function_profile(trace);
  EXPECT_EQ(profile.self[function_named(profile, "f")], 4e9);
  EXPECT_EQ(profile.self[function_named(profile, "<module>")], 4e9);
  const Trace odd =
      import_or_fail(head + "words\n x| 1| 2|3|4|5\n(call)|1|1|1|1|?\n", import_pprofile);
  EXPECT_EQ(losses(odd, "line_unusable"), 3u);
}

}  // namespace
}  // namespace sonde
