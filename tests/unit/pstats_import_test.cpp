#include "import/pstats/pstats.hpp"

#include <bit>

#include "tests/support/profile_rows.hpp"

namespace sonde {
namespace {

using test::function_named;
using test::import_or_fail;
using test::losses;
using test::profile_bytes;

// Writes marshal, so that a test can say what a file holds.
std::string int32(std::int32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i)
    out += static_cast<char>(static_cast<std::uint32_t>(value) >> (8 * i));
  return out;
}
std::string integer(std::int32_t value) { return "i" + int32(value); }
std::string real(double value) {
  std::string out = "g";
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i) out += static_cast<char>(bits >> (8 * i));
  return out;
}
std::string text(const std::string& value) {
  return "z" + std::string(1, static_cast<char>(value.size())) + value;
}
std::string tuple(const std::vector<std::string>& items) {
  std::string out = ")" + std::string(1, static_cast<char>(items.size()));
  for (const std::string& item : items) out += item;
  return out;
}
std::string key(const std::string& file, int line, const std::string& name) {
  return tuple({text(file), integer(line), text(name)});
}
std::string entry(int primitive, int calls, double self, double total, const std::string& callers) {
  return tuple({integer(primitive), integer(calls), real(self), real(total), "{" + callers + "0"});
}

TEST(Pstats, ReadsWhatCProfileWrote) {
  // The numbers are those of Python's own pstats module for this file.
  const Trace trace = import_or_fail(profile_bytes("cprofile_py311.prof"), import_pstats);
  EXPECT_EQ(trace.meta().producer, "Python cProfile");
  EXPECT_TRUE(trace.losses().empty());
  const FunctionProfile profile = function_profile(trace);
  EXPECT_EQ(profile.source, ProfileSource::Counted);
  ASSERT_EQ(profile.functions.size(), 10u);
  const std::size_t fib = function_named(profile, "fib");
  EXPECT_EQ(profile.functions[fib].file, "work.py");
  EXPECT_EQ(profile.functions[fib].line, 2);
  EXPECT_EQ(profile.functions[fib].calls, 1219);
  EXPECT_EQ(profile.functions[fib].primitive_calls, 1);
  EXPECT_EQ(profile.self[fib], 353474);
  EXPECT_EQ(profile.total[fib], 353474);
  const std::size_t main = function_named(profile, "main");
  EXPECT_EQ(profile.self[main], 8744);
  EXPECT_EQ(profile.total[main], 1058335);
  EXPECT_EQ(profile.whole[0], 1070819);  // pstats: 0.001070819 s
  // Trap: a caller's tuple has all calls first, a function's the primitive ones.
  const CallProfile& sums = trace.call_profile();
  bool found = false;
  for (std::size_t i = 0; i < sums.calls.size(); ++i) {
    if (sums.calls[i].caller.index() != fib || sums.calls[i].callee.index() != fib) continue;
    found = true;
    EXPECT_EQ(sums.calls[i].calls, 1218);
    EXPECT_EQ(sums.calls[i].primitive_calls, 2);
    EXPECT_EQ(sums.call_self[i], 352344);
  }
  EXPECT_TRUE(found);
}

TEST(Pstats, ReadsWhatTheModuleProfileWrote) {
  // Callers are counts alone, and the root's name is a code object.
  const Trace trace = import_or_fail(profile_bytes("profile_py311.prof"), import_pstats);
  EXPECT_EQ(trace.meta().producer, "Python profile");
  EXPECT_TRUE(trace.losses().empty());
  const FunctionProfile profile = function_profile(trace);
  EXPECT_EQ(profile.functions.size(), 12u);
  EXPECT_FALSE(profile.call_costs_known);
  EXPECT_EQ(profile.functions[function_named(profile, "odd")].calls, 10);
  EXPECT_EQ(profile.functions[function_named(profile, "profiler")].calls, 0);
  EXPECT_EQ(profile.self[function_named(profile, "busy")], 668218);
}

TEST(Pstats, ReadsCodeObjectsOfOlderPython) {
  // 3.8 to 3.10: six numbers, then code, consts, names, varnames, freevars, cellvars, file, name.
  std::string code = "c";
  for (int i = 0; i < 6; ++i) code += int32(0);
  code += "s" + int32(2) + "ab";
  for (int i = 0; i < 5; ++i) code += tuple({});
  code += text("old.py") + text("run") + int32(7) + "s" + int32(0);
  const std::string bytes =
      "{" + tuple({text("old.py"), integer(7), code}) + entry(2, 3, 0.5, 1.5, "") + "0";
  const Trace trace = import_or_fail(bytes, import_pstats);
  ASSERT_EQ(trace.call_profile().functions.size(), 1u);
  EXPECT_EQ(trace.text(trace.call_profile().functions[0].name), "run");
  EXPECT_EQ(trace.call_profile().functions[0].calls, 3);
  EXPECT_EQ(trace.call_profile().function_total[0], 1'500'000'000);
}

TEST(Pstats, ReadsAFileOfPython38) {
  const Trace trace = import_or_fail(profile_bytes("profile_py38.prof"), import_pstats);
  EXPECT_TRUE(trace.losses().empty());
  const FunctionProfile profile = function_profile(trace);
  EXPECT_EQ(profile.functions.size(), 12u);
  EXPECT_EQ(profile.functions[function_named(profile, "fib")].calls, 1219);
  EXPECT_EQ(profile.self[function_named(profile, "busy")], 654142);
}

TEST(Pstats, ReadsSamplesOfProfilingSampling) {
  const std::string bytes = "{" + tuple({text("__sampled__")}) + "T" + key("a.py", 3, "f") +
                            entry(4, 9, 0.4, 0.9, "") + "0";
  const Trace trace = import_or_fail(bytes, import_pstats);
  EXPECT_TRUE(trace.call_profile().sampled);
  EXPECT_EQ(trace.meta().producer, "Python profiling.sampling");
  EXPECT_EQ(trace.call_profile().functions[0].calls, 9);
}

TEST(Pstats, AddsUpMergedCallersAndReferences) {
  // A flagged key is slot 1 (the dictionary is slot 0); "r" stands for it.
  std::string flagged = key("a.py", 1, "f");
  flagged[0] = static_cast<char>(flagged[0] | 0x80);
  const std::string callers = "r" + int32(1) +
                              tuple({integer(1), integer(1), real(1), real(2), integer(3),
                                     integer(2), real(0.5), real(0.25)});
  std::string bytes = "{" + flagged + entry(1, 1, 1, 1, "") + key("a.py", 9, "g") +
                      entry(4, 4, 1.5, 2.25, callers) + "0";
  bytes[0] = static_cast<char>(bytes[0] | 0x80);
  const Trace trace = import_or_fail(bytes, import_pstats);
  ASSERT_EQ(trace.call_profile().calls.size(), 1u);
  EXPECT_EQ(trace.call_profile().calls[0].calls, 4);
  EXPECT_EQ(trace.call_profile().call_total[0], 2'250'000'000);
  EXPECT_EQ(trace.text(trace.call_profile().functions[0].name), "f");
}

TEST(Pstats, KeepsWhatComesBeforeACut) {
  const std::string whole = profile_bytes("cprofile_py311.prof");
  std::size_t least = 0;
  for (std::size_t cut = 2; cut < whole.size(); ++cut) {
    const Result<Trace> trace = test::try_import(whole.substr(0, cut), import_pstats);
    if (!trace) {
      EXPECT_NE(trace.error().text().find("it was cut"), std::string::npos);
      EXPECT_EQ(least, 0u);
      continue;
    }
    EXPECT_EQ(losses(*trace, "profile_cut"), 1u) << cut;
    EXPECT_GE(trace->meta().file_events, least);
    least = trace->meta().file_events;
  }
  EXPECT_EQ(least, 10u);
}

TEST(Pstats, CountsWhatItCannotUse) {
  const std::string bytes = "{" + text("odd") + integer(1) + key("a.py", 1, "f") +
                            entry(1, 1, 1, 1, text("nobody") + integer(1)) + "0" + "behind";
  const Trace trace = import_or_fail(bytes, import_pstats);
  EXPECT_EQ(losses(trace, "entry_unusable"), 1u);
  EXPECT_EQ(losses(trace, "caller_unusable"), 1u);
  EXPECT_EQ(losses(trace, "text_behind_the_end"), 1u);
  EXPECT_EQ(trace.call_profile().functions.size(), 1u);
}

TEST(Pstats, RefusesHostileLengthsAndDepths) {
  EXPECT_FALSE(test::try_import("{(" + int32(2'000'000'000), import_pstats).ok());
  EXPECT_FALSE(test::try_import("{u" + int32(-5), import_pstats).ok());
  std::string deep = "{";
  for (int i = 0; i < 100'000; ++i) deep += ")\x01";
  const Result<Trace> trace = test::try_import(deep, import_pstats);
  ASSERT_FALSE(trace.ok());
  EXPECT_NE(trace.error().text().find("nested"), std::string::npos);
}

TEST(Pstats, IsKnownByItsFirstKey) {
  EXPECT_EQ(test::format_of(profile_bytes("cprofile_py311.prof")), "pstats");
  EXPECT_EQ(test::format_of(profile_bytes("profile_py311.prof")), "pstats");
  EXPECT_EQ(test::format_of("{0"), "pstats");  // an empty profile
  EXPECT_NE(test::format_of("{}"), "pstats");
  EXPECT_NE(test::format_of("{(a, b)}"), "pstats");
  const Trace empty = import_or_fail("{0", import_pstats);
  EXPECT_EQ(losses(empty, "no_events"), 1u);
}

TEST(Pstats, ReadsTheSharedFile) {
  const std::string bytes =
      test::read_bytes(std::string(SONDE_SHARED_DATA) + "/python/train_py312.prof");
  if (bytes.empty()) GTEST_SKIP() << "the shared data is not on this machine";
  const Trace trace = import_or_fail(bytes, import_pstats);
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_EQ(trace.call_profile().functions.size(), 115u);
  EXPECT_EQ(trace.call_profile().calls.size(), 157u);
  std::int64_t calls = 0;
  std::int64_t primitive = 0;
  for (const CallProfile::Function& f : trace.call_profile().functions) {
    calls += f.calls;
    primitive += f.primitive_calls;
  }
  EXPECT_EQ(calls, 32352);
  EXPECT_EQ(primitive, 31552);
}

}  // namespace
}  // namespace sonde
