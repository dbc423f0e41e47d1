#include "system/process_curves.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "import/loader.hpp"
#include "tests/support/files.hpp"
#include "trace/system_counters.hpp"

namespace sonde::test {
namespace {

namespace names = system_counters;

class ProcessCurvesTest : public ::testing::Test {
 protected:
  void process(int pid, const std::string& name, int pages, int start = 1) {
    const std::string folder = std::to_string(pid);
    proc_.write(folder + "/stat",
                folder + " (" + name + ") S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 " +
                    std::to_string(start) + " 0 " + std::to_string(pages) + " 0 0\n");
    proc_.write(folder + "/smaps_rollup",
                "00400000-7fff ---p 00000000 00:00 0 [rollup]\nRss: 40 kB\nPss:   " +
                    std::to_string(pages * 2) + " kB\nPss_Anon: 1 kB\n");
    children(pid, "");
  }
  void children(int pid, const std::string& list) {
    const std::string folder = std::to_string(pid);
    proc_.write(folder + "/task/" + folder + "/children", list);
  }
  void end(int pid) { std::filesystem::remove_all(proc_.path() / std::to_string(pid)); }

  // Samples once for each number, at that time.
  void record(const std::vector<std::function<void()>>& changes) {
    RunFileWriter writer(path(), "program");
    ProcessCurves curves(writer, writer.add_name(names::kResident));
    ProcessTree tree(10, proc_.path().string());
    std::int64_t now = 1'000'000'000;
    for (const auto& change : changes) {
      change();
      tree.sample();
      curves.add(tree, now);
      writer.flush();
      now += 100;
    }
    curves.finish(now);
    writer.close();
  }
  std::string path() const { return (folder_.path() / "system.sonde").string(); }

  // "domain: counter" -> pages or bytes, in their order.
  std::map<std::string, std::vector<std::int64_t>> read() const {
    const Result<Trace> trace = load_trace(path());
    std::map<std::string, std::vector<std::int64_t>> out;
    if (!trace.ok()) return out;
    EXPECT_TRUE(trace->losses().empty());
    for (const CounterValue& value : trace->counters()) {
      const std::string key = std::string(trace->text(trace->track(value.track).name)) + ": " +
                              std::string(trace->text(value.counter));
      out[key].push_back(static_cast<std::int64_t>(value.value));
    }
    return out;
  }

  const std::int64_t page_ = ::sysconf(_SC_PAGESIZE);
  ScratchFolder proc_;
  ScratchFolder folder_;
};

TEST_F(ProcessCurvesTest, EachProcessHasItsOwn) {
  process(10, "sonde", 5);
  record({[] {},
          [&] {
            process(10, "python3 a", 7);
            children(10, "11");
            process(11, "worker", 3);
          },
          [&] { process(11, "worker", 4); }, [&] { end(11); }});
  const auto curves = read();
  // The name is that of the second sample: before it another program may have been there.
  EXPECT_EQ(curves.at("process 10 python3 a: resident bytes"),
            (std::vector<std::int64_t>{5 * page_, 7 * page_, 7 * page_, 7 * page_, 0}));
  EXPECT_EQ(curves.at("process 11 worker: resident bytes"),
            (std::vector<std::int64_t>{3 * page_, 4 * page_, 0}));
  // Only while there are several.
  EXPECT_EQ(curves.at("process 11 worker: proportional bytes"),
            (std::vector<std::int64_t>{8 * 1024}));
  EXPECT_EQ(curves.at("process 10 python3 a: proportional bytes"),
            (std::vector<std::int64_t>{14 * 1024}));
  EXPECT_EQ(curves.size(), 4u);
}

TEST_F(ProcessCurvesTest, ANumberThatIsGivenAnewIsAnotherProcess) {
  process(10, "main", 5);
  children(10, "11");
  process(11, "first", 3, 1);
  record({[] {}, [] {},
          [&] {
            end(11);
            process(11, "second", 9, 2);
          },
          [] {}, [] {}});
  const auto curves = read();
  EXPECT_EQ(curves.at("process 11 first: resident bytes"),
            (std::vector<std::int64_t>{3 * page_, 3 * page_, 0}));
  EXPECT_EQ(curves.at("process 11 second: resident bytes").front(), 9 * page_);
}

TEST_F(ProcessCurvesTest, ThereIsAnEndToThem) {
  process(10, "main", 5);
  std::string list;
  for (int pid = 100; pid < 400; ++pid) {
    process(pid, "many", 1);
    list += std::to_string(pid) + " ";
  }
  children(10, list);
  record({[] {}, [] {}, [] {}});
  std::size_t resident = 0;
  for (const auto& [name, values] : read()) resident += name.ends_with("resident bytes");
  EXPECT_EQ(resident, names::kMostProcesses);
}

TEST(RunFileWriter, TakesNamesAtAnyTime) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "late.sonde").string();
  RunFileWriter writer(path, "late");
  std::vector<RunFileWriter::NameId> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back(writer.add_name("counter " + std::to_string(i)));
    for (const RunFileWriter::NameId name : names) {
      writer.add_counter(1'000'000'000 + i, name, 0, std::int64_t{i});
    }
    writer.flush();
  }
  writer.close();
  const Result<Trace> trace = load_trace(path);
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace->losses().empty());
  std::map<std::string, int> counts;
  for (const CounterValue& value : trace->counters()) {
    ++counts[std::string(trace->text(value.counter))];
  }
  EXPECT_EQ(counts.size(), 20u);
  EXPECT_EQ(counts["counter 0"], 20);
  EXPECT_EQ(counts["counter 19"], 1);
}

}  // namespace
}  // namespace sonde::test
