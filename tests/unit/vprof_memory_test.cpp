// The memory part of vprof's files.

#include <gtest/gtest.h>

#include "tests/support/export_text.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/tables_run.hpp"
#include "trace/builder.hpp"
#include "trace/system_counters.hpp"

namespace sonde::test {
namespace {

// From the opening of the part to the next one.
std::string memory_part(const std::string& file) {
  const std::size_t begin = file.find("  \"m\": {");
  const std::size_t end = file.find("\n  }", begin);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return file.substr(begin, end - begin) + "\n  }\n";
}

TEST(VprofMemory, HasTheLinesAndTheNewObjects) {
  const ScratchFolder folder;
  TablesRun run(folder.path(), "demo");
  run.recording.chunk(7).slice("Step", 0, 100'000, SliceKind::Step, 1);
  fill_rich_tables(run);
  const Exported out = export_text("vprof", run.load());
  ASSERT_EQ(out.error, "");
  testing::expect_golden("vprof_memory_lines.txt", memory_part(out.text));
  EXPECT_EQ(out.text.find("\"m\""), 4u);  // the first part, as vprof has it
}

TEST(VprofMemory, HasTheCurveWithTheLineAtWork) {
  TraceBuilder builder;
  builder.meta().format = "sonde";
  const TrackId track = builder.add_track({});
  const StringId resident = builder.intern(system_counters::kResident);
  StackFrame frame;
  frame.function = builder.intern("load \"all\"");
  frame.file = builder.intern("/data/train.py");
  frame.line = 7;
  const StackId stack = builder.intern_stack(frame);
  builder.add_sample_type({builder.intern("wall"), builder.intern("ns"), true});
  builder.add_sample({1500, track, stack, 1, 0});
  for (const auto& [time, bytes] :
       {std::pair<Nanos, double>{1000, 10 << 20}, {2000, 1'572'864}, {3000, 2'500'000}}) {
    builder.add_counter({time, track, resident, {}, bytes});
  }
  builder.nest(1);
  const Exported out = export_text("vprof", builder.finish());
  ASSERT_EQ(out.error, "");
  testing::expect_golden("vprof_memory_curve.txt", memory_part(out.text));
}

TEST(VprofMemory, IsNotThereWithoutMemory) {
  const ScratchFolder folder;
  TablesRun run(folder.path(), "demo");
  run.line(run.code("work", "a.py", 3), 4, 10, 100);
  const Exported out = export_text("vprof", run.load());
  ASSERT_EQ(out.error, "");
  EXPECT_EQ(memory_part(out.text), "");
}

// C++ functions in the stacks of native allocations have the names of the source.
TEST(TablesImport, NamesOfNativeFramesAreDemangled) {
  const ScratchFolder folder;
  TablesRun run(folder.path(), "demo");
  const std::uint32_t mangled = run.code("_ZN3c1020CachingHostAllocator8allocateEm", "libc10.so", 0,
                                         {}, tables::kNativeFrame);
  const std::uint32_t python = run.code("_ZN1a1bEv", "a.py", 3);
  run.site(run.frame(run.frame(0, python, 4), mangled, 0), 1, 100, 0, 0, 100,
           tables::Memory::Native);
  const Trace trace = run.load();
  ASSERT_EQ(trace.process_memory().sites.size(), 1u);
  const StackFrame& inner = trace.stacks()[trace.process_memory().sites[0].stack.index()];
  EXPECT_EQ(trace.text(inner.function), "c10::CachingHostAllocator::allocate(unsigned long)");
  // A Python function is what it says.
  EXPECT_EQ(trace.text(trace.stacks()[inner.caller.index()].function), "_ZN1a1bEv");
}

}  // namespace
}  // namespace sonde::test
