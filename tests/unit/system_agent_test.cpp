#include "system/system_agent.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "analysis/system_use.hpp"
#include "import/loader.hpp"
#include "import/sonde_run/sonde_run.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"
#include "trace/system_counters.hpp"

namespace sonde::test {
namespace {

// Only the fields that are looked at differ from 0.
std::string stat_line(int pid, const std::string& name, char state, int parent, int user,
                      int system, int threads, int start, int pages) {
  std::string out = std::to_string(pid) + " (" + name + ") " + state + " " + std::to_string(parent);
  out += " 0 0 0 0 0 0 0 0 0 " + std::to_string(user) + " " + std::to_string(system);
  out += " 0 0 20 0 " + std::to_string(threads) + " 0 " + std::to_string(start) + " 0 " +
         std::to_string(pages) + " 0 0\n";
  return out;
}

TEST(ProcessStat, ReadsNamesWithBlanksAndParentheses) {
  ProcessStat stat;
  ASSERT_TRUE(parse_process_stat(stat_line(12, "a) S (b", 'R', 3, 5, 6, 4, 99, 8), stat));
  EXPECT_EQ(stat.pid, 12);
  EXPECT_EQ(stat.parent, 3);
  EXPECT_EQ(stat.state, 'R');
  EXPECT_EQ(stat.cpu_ticks, 11u);
  EXPECT_EQ(stat.threads, 4);
  EXPECT_EQ(stat.start_ticks, 99u);
  EXPECT_EQ(stat.resident_pages, 8);
}

TEST(ProcessStat, RefusesWhatIsNone) {
  ProcessStat stat;
  for (const char* text : {"", "12", "12 (", "12 (a)", "12 (a) R", "12 (a) R 1 2 3"}) {
    EXPECT_FALSE(parse_process_stat(text, stat)) << text;
  }
}

TEST(MachineTimes, CountsIdleAndWaitingAsNotBusy) {
  const MachineTimes times = parse_machine_times("cpu  1 2 3 40 50 6 7 8 9 9\ncpu0 1 1 1 1\n", 100);
  EXPECT_EQ(times.busy_nanos, 27 * 10'000'000);
  EXPECT_EQ(times.total_nanos, 117 * 10'000'000);
  EXPECT_EQ(parse_machine_times("garbage", 100).total_nanos, 0);
  EXPECT_EQ(parse_machine_times("cpu ", 0).total_nanos, 0);
}

class FakeProc : public ::testing::Test {
 protected:
  void process(int pid, int parent, int cpu, int start = 1) {
    const std::string folder = std::to_string(pid);
    proc_.write(folder + "/stat", stat_line(pid, "p", 'S', parent, cpu, 0, 2, start, 10));
    proc_.write(folder + "/io", "rchar: 100\nwchar: 7\nread_bytes: 5\n");
    proc_.write(folder + "/task/" + folder + "/status",
                "voluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n");
  }
  void children(int pid, const std::string& list) {
    const std::string folder = std::to_string(pid);
    proc_.write(folder + "/task/" + folder + "/children", list);
  }
  void end(int pid) { std::filesystem::remove_all(proc_.path() / std::to_string(pid)); }

  ScratchFolder proc_;
};

TEST_F(FakeProc, SumsOverAllDescendants) {
  process(1, 0, 500);
  process(10, 1, 5);
  process(11, 10, 7);
  process(12, 11, 1);
  children(10, "11 ");
  children(11, "12 ");
  children(12, "");
  ProcessTree tree(10, proc_.path().string());
  const TreeTotals totals = tree.sample();
  EXPECT_EQ(totals.processes, 3);
  EXPECT_EQ(totals.threads, 6);
  EXPECT_EQ(totals.cpu_nanos, 13 * (1'000'000'000 / ::sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(totals.resident_bytes, 30 * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(totals.bytes_read, 300);
  EXPECT_EQ(totals.bytes_written, 21);
  EXPECT_EQ(totals.context_switches, 21);
}

TEST_F(FakeProc, FindsChildrenByTheirParentWhereTheKernelDoesNotListThem) {
  process(1, 0, 500);
  process(12, 11, 1);
  process(11, 10, 7);
  process(10, 1, 5);
  ProcessTree tree(10, proc_.path().string());
  EXPECT_EQ(tree.sample().processes, 3);
}

TEST_F(FakeProc, KeepsOrphansAndNeverCountsDown) {
  process(10, 1, 5);
  process(11, 10, 7);
  children(10, "11");
  children(11, "");
  ProcessTree tree(10, proc_.path().string());
  const TreeTotals first = tree.sample();
  end(10);
  process(11, 1, 7);
  const TreeTotals second = tree.sample();
  EXPECT_EQ(second.processes, 1);
  EXPECT_EQ(second.cpu_nanos, first.cpu_nanos);
  // The number 11 is given to another process.
  end(11);
  process(11, 1, 900, 50);
  EXPECT_EQ(tree.sample().processes, 0);
  EXPECT_EQ(tree.sample().cpu_nanos, first.cpu_nanos);
}

TEST(SystemAgent, WritesWhatTheImporterReads) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "system.sonde").string();
  const pid_t child = ::fork();
  if (child == 0) {
    volatile unsigned spin = 0;
    for (;;) spin = spin + 1;
  }
  SystemAgent agent(path, "spinner", child);
  ASSERT_TRUE(agent.ok());
  for (int i = 0; i < 5; ++i) {
    agent.sample();
    ::usleep(20'000);
  }
  {
    // Readable while it is written.
    const Result<Trace> early = load_trace(path);
    ASSERT_TRUE(early.ok());
    EXPECT_EQ(losses(*early, "unclean_end"), 1u);
  }
  ::kill(child, SIGKILL);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  agent.finish(usage);

  const Result<Trace> trace = load_trace(path);
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace->losses().empty());
  EXPECT_TRUE(is_system_trace(*trace));
  const std::optional<SystemUse> use = system_use(*trace);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->points.size(), 6u);
  EXPECT_GE(use->elapsed, 100'000'000);
  const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
                     static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
  EXPECT_GE(use->process_cpu * static_cast<double>(use->elapsed) / 100, cpu * 0.999);
  EXPECT_EQ(use->peak_processes, 1);
  EXPECT_GT(use->peak_resident, 0);
}

TEST(SystemAgent, FillsManyChunks) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "many.sonde").string();
  {
    RunFileWriter writer(path, "many");
    const auto domain = writer.add_domain("d");
    const auto name = writer.add_name("n");
    for (std::int64_t i = 0; i < 10'000; ++i)
      writer.add_counter(1'000'000'000 + i, name, domain, i);
    writer.close();
  }
  const Result<Trace> trace = load_trace(path);
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->counters().size(), 10'000u);
  for (std::size_t i = 0; i < 10'000; ++i) {
    ASSERT_EQ(trace->counters()[i].value, static_cast<double>(i));
  }
}

TEST(SystemAgent, AFullDiskEndsTheRecordingOnly) {
  RunFileWriter writer("/dev/full", "full");
  writer.add_counter(1, writer.add_name("n"), 0, std::int64_t{1});
  writer.flush();
  writer.add_counter(2, 1, 0, std::int64_t{1});
  writer.close();
  RunFileWriter nowhere("/nowhere/at/all.sonde", "x");
  EXPECT_FALSE(nowhere.ok());
  nowhere.add_counter(1, 1, 0, std::int64_t{1});
  nowhere.close();
}

TEST(SystemUse, ThinsOutWithoutLosingThePeak) {
  std::vector<SystemPoint> points;
  for (int i = 0; i < 100; ++i) points.push_back({i, 50, 10, i == 37 ? 1000 : 5, 1});
  const std::vector<SystemPoint> thin = thin_out(points, 10);
  ASSERT_EQ(thin.size(), 10u);
  std::int64_t peak = 0;
  for (const SystemPoint& point : thin) {
    EXPECT_DOUBLE_EQ(point.process_cpu, 50);
    peak = std::max(peak, point.resident);
  }
  EXPECT_EQ(peak, 1000);
  EXPECT_EQ(thin_out(points, 1000).size(), 100u);
}

}  // namespace
}  // namespace sonde::test
