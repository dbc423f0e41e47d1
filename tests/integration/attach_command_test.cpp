#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <thread>

#include "tests/support/files.hpp"
#include "tests/support/interpreters.hpp"
#include "tests/support/process.hpp"
#include "tests/support/sample_rows.hpp"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using test::SampleRows;
using test::ScratchFolder;
using testing::Interpreter;
using testing::ProcessResult;
using testing::run_process;

const std::string kBinary = SONDE_BINARY;
const std::string kProgram = SONDE_TEST_DATA "/../sampler/known_program.py";

// known_program.py in a process of its own, as from another shell.
class Target {
 public:
  Target(const std::string& python, const std::vector<std::string>& arguments)
      : output_((folder_.path() / "out").string()) {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setsid();
      if (!std::freopen(output_.c_str(), "w", stdout)) ::_exit(126);
      std::vector<std::string> command = {python};
      command.insert(command.end(), arguments.begin(), arguments.end());
      std::vector<char*> words;
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      ::execv(words[0], words.data());
      ::_exit(127);
    }
    for (int i = 0; i < 1000 && output().find("ready") == std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~Target() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  std::string pid() const { return std::to_string(pid_); }
  std::string output() const { return test::read_bytes(output_); }
  // Waits for its end; true where it ended by itself with the right result.
  bool ends_right() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
           output().find("right") != std::string::npos;
  }
  void terminate() const { ::kill(pid_, SIGTERM); }
  char state() const {
    const std::string text = test::read_bytes("/proc/" + pid() + "/stat");
    const std::size_t close = text.rfind(')');
    return close == std::string::npos ? 'X' : text[close + 2];
  }

 private:
  ScratchFolder folder_;
  std::string output_;
  pid_t pid_ = 0;
};

// The lines of each function of the program that may be at work.
std::map<std::string, std::set<int>> allowed_lines() {
  std::map<std::string, std::set<int>> out;
  std::ifstream file(kProgram);
  const std::regex comment("# (\\w+)$");
  std::smatch match;
  int number = 1;
  for (std::string line; std::getline(file, line); ++number) {
    if (std::regex_search(line, match, comment)) out[match[1]].insert(number);
  }
  return out;
}

std::vector<fs::path> files_of(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().string().ends_with(ending)) out.push_back(entry.path());
  }
  return out;
}

const std::vector<Interpreter>& known() {
  static const std::vector<Interpreter> list = testing::interpreters();
  return list;
}

std::string any_python() { return known().empty() ? "" : known().front().path; }

#define NEEDS_PYTHON() \
  if (any_python().empty()) GTEST_SKIP() << "no CPython 3.8 or newer on this machine"

class AttachVersions : public ::testing::TestWithParam<int> {
 protected:
  static const Interpreter* interpreter() {
    const auto at = std::find_if(known().begin(), known().end(),
                                 [](const Interpreter& one) { return one.minor == GetParam(); });
    return at == known().end() ? nullptr : &*at;
  }
};
INSTANTIATE_TEST_SUITE_P(Python, AttachVersions, ::testing::Values(8, 9, 10, 11, 12, 13, 14));

TEST_P(AttachVersions, SeesStacksLinesThreadsAndShares) {
  const Interpreter* const python = interpreter();
  if (!python) GTEST_SKIP() << "Python 3." << GetParam() << " is not on this machine";
  const ScratchFolder folder;
  Target target(python->path, {kProgram, "600", "3", "0"});
  const ProcessResult dump = run_process({kBinary, "dump", target.pid()});
  EXPECT_EQ(dump.status, 0) << dump.err;
  EXPECT_NE(dump.out.find("\"waiter-2\": idle"), std::string::npos) << dump.out;
  EXPECT_NE(dump.out.find("wait_long ("), std::string::npos) << dump.out;
  EXPECT_NE(dump.out.find("holds the GIL"), std::string::npos) << dump.out;
  EXPECT_NE(dump.out.find("Python 3." + std::to_string(GetParam())), std::string::npos);

  // On a busy machine the program stands still most of the time, and a few seconds are few
  // independent samples: then some more.
  double seventy = 0;
  double thirty = 0;
  double share = 0;
  std::string last;
  for (int i = 0; i < 6 && std::abs(share - 70) > 3; ++i) {
    last = (folder.path() / std::to_string(i)).string();
    const ProcessResult result = run_process(
        {kBinary, "attach", target.pid(), "-d", "2", "-r", "1000", "--idle", "-o", last});
    ASSERT_EQ(result.status, 0) << result.err;
    const SampleRows rows(files_of(last, ".tables").at(0));
    seventy += rows.wall_in("seventy");
    thirty += rows.wall_in("thirty");
    share = 100 * seventy / (seventy + thirty);
  }
  EXPECT_NEAR(share, 70, 3);
  target.terminate();
  EXPECT_TRUE(target.ends_right()) << target.output();
  const std::vector<fs::path> files = files_of(last, ".tables");
  ASSERT_EQ(files.size(), 1u);
  const SampleRows rows(files[0]);
  EXPECT_TRUE(rows.clean_end);
  EXPECT_NE(files[0].string().find("-" + std::to_string(rows.pid) + "-samples"), std::string::npos);
  std::set<std::string> names;
  for (const auto& [thread, name] : rows.threads) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"MainThread", "waiter-0", "waiter-1", "waiter-2"}));
  const std::map<std::string, std::set<int>> allowed = allowed_lines();
  std::size_t busy = 0;
  std::size_t holding = 0;
  for (const SampleRows::Sample& sample : rows.samples) {
    busy += sample.row.flags & tables::kWaiting ? 0 : 1;
    holding += sample.row.flags & tables::kHoldsLock ? 1 : 0;
    EXPECT_FALSE(sample.row.flags & tables::kUncertain);
    for (const SampleRows::Frame& frame : sample.frames) {
      const auto lines = allowed.find(frame.name);
      if (frame.file != kProgram || lines == allowed.end()) continue;
      EXPECT_TRUE(lines->second.contains(frame.line)) << frame.name << ":" << frame.line;
    }
  }
  EXPECT_GT(busy, 20u);
  EXPECT_GT(holding, 20u);
  EXPECT_EQ(rows.properties.at("sampling.asked_rate"), "1000");
  for (const char* key : {"sampling.method", "sampling.actual_rate", "sampling.lost",
                          "sampling.torn", "sampling.own_cpu_percent", "python.version"}) {
    EXPECT_TRUE(rows.properties.contains(key)) << key;
  }
}

TEST(AttachCommand, MarksWhatWasReadWithoutAStop) {
  NEEDS_PYTHON();
  const ScratchFolder folder;
  const std::string run = (folder.path() / "run").string();
  Target target(any_python(), {kProgram, "3", "1", "0"});
  const ProcessResult result =
      run_process({kBinary, "attach", target.pid(), "-d", "1", "--no-stop", "-o", run, "--quiet"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const SampleRows rows(files_of(run, ".tables").at(0));
  std::size_t uncertain = 0;
  for (const SampleRows::Sample& sample : rows.samples) {
    uncertain += sample.row.flags & tables::kUncertain ? 1 : 0;
  }
  EXPECT_GT(uncertain, 10u);
  EXPECT_EQ(rows.properties.at("sampling.uncertain"), std::to_string(uncertain));
  EXPECT_NE(rows.properties.at("sampling.method").find("run on"), std::string::npos);
  EXPECT_TRUE(target.ends_right());
}

TEST(AttachCommand, EndsInOrderWithCtrlC) {
  NEEDS_PYTHON();
  const ScratchFolder folder;
  const std::string run = (folder.path() / "run").string();
  Target target(any_python(), {kProgram, "4", "1", "1"});
  const ProcessResult result = run_process(
      {"sh", "-c",
       "\"$0\" attach " + target.pid() + " -o \"$1\" & sleep 1.5; kill -INT $!; wait $!", kBinary,
       run});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("it goes on; the run lies in"), std::string::npos) << result.err;
  EXPECT_TRUE(SampleRows(files_of(run, ".tables").at(0)).clean_end);
  EXPECT_TRUE(target.ends_right());
}

TEST(AttachCommand, LeavesNothingStoppedWhenItIsKilled) {
  NEEDS_PYTHON();
  const ScratchFolder folder;
  Target target(any_python(), {kProgram, "8", "5", "3"});
  for (int i = 0; i < 5; ++i) {
    const std::string run = (folder.path() / std::to_string(i)).string();
    run_process({"sh", "-c",
                 "\"$0\" attach " + target.pid() +
                     " -r 1000 -q -o \"$1\" & sleep 0.5; kill -KILL $!; wait $!",
                 kBinary, run});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(std::string("Tt").find(target.state()), std::string::npos) << target.state();
    // What was written until then is there.
    for (const fs::path& path : files_of(run, ".tables")) {
      const SampleRows rows(path);
      EXPECT_FALSE(rows.clean_end);
      EXPECT_GT(rows.samples.size(), 0u);
    }
  }
  EXPECT_TRUE(target.ends_right()) << target.output();
}

TEST_P(AttachVersions, MixesInNativeFrames) {
  const Interpreter* const python = interpreter();
  if (!python) GTEST_SKIP() << "Python 3." << GetParam() << " is not on this machine";
  Target target(python->path, {"-c",
                               "import zlib, os, time\n"
                               "data = os.urandom(1 << 20)\n"
                               "def pack(unused):\n"
                               "    return zlib.compress(data, 9)\n"
                               "def caller():\n"
                               "    return sorted([1], key=pack)\n"
                               "print('ready', flush=True)\n"
                               "end = time.monotonic() + 4\n"
                               "while time.monotonic() < end: caller()\n"
                               "print('right')\n"});
  const ScratchFolder folder;
  const std::string run = (folder.path() / "run").string();
  const ProcessResult result =
      run_process({kBinary, "attach", target.pid(), "-d", "2", "--native", "-q", "-o", run});
  ASSERT_EQ(result.status, 0) << result.err;
  const SampleRows rows(files_of(run, ".tables").at(0));
  std::size_t inside = 0;
  std::size_t begun_in_c = 0;
  for (const SampleRows::Sample& sample : rows.samples) {
    std::string order;
    for (const SampleRows::Frame& frame : sample.frames) {
      // The library, or the module of Python with the library in it.
      const bool packs = frame.native && (frame.file.find("libz") != std::string::npos ||
                                          frame.file.find("/zlib.") != std::string::npos);
      if (packs && order.empty()) order += 'z';
      if (!frame.native && frame.name == "pack") order += 'p';
      if (!frame.native && frame.name == "caller") order += 'c';
    }
    if (order != "zpc") continue;
    ++inside;
    begun_in_c += sample.frames.back().native ? 1 : 0;
  }
  // C frames before the Python function that called them, and those that the program began with
  // behind all of Python.
  EXPECT_GT(inside, 20u) << rows.samples.size();
  EXPECT_GE(begun_in_c, inside * 9 / 10);
  EXPECT_TRUE(rows.properties.contains("sampling.native_failed"));
  EXPECT_TRUE(target.ends_right());
}

TEST_P(AttachVersions, PrintsVariablesOfAFrame) {
  const Interpreter* const python = interpreter();
  if (!python) GTEST_SKIP() << "Python 3." << GetParam() << " is not on this machine";
  Target target(python->path, {"-c",
                               "import time\n"
                               "def f(number, text, items):\n"
                               "    none = None\n"
                               "    time.sleep(3)\n"
                               "print('ready', flush=True)\n"
                               "f(-7, 'Zo\\u00eb', (1, 2))\n"
                               "print('right')\n"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const ProcessResult result = run_process({kBinary, "dump", target.pid(), "--locals"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("        number = -7\n        text = 'Zo\u00eb'\n"
                            "        items = <tuple of 2>\n        none = None\n"),
            std::string::npos)
      << result.out;
  EXPECT_TRUE(target.ends_right());
}

// A process with another root folder: in a chroot, where the kernel names its files from our root,
// and in a mount namespace of its own, where it names them from the process's.
class AttachRoots : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Root, AttachRoots, ::testing::Bool());

TEST_P(AttachRoots, ReadsAProcessWithARootOfItsOwn) {
  if (known().empty()) GTEST_SKIP() << "no CPython 3.8 or newer on this machine";
  if (run_process({"unshare", "-m", "mount", "--bind", "/", "/mnt"}).status != 0) {
    GTEST_SKIP() << "no mounts allowed here: run as root";
  }
  const std::string inside =
      "mount --bind / \"$root\"; exec chroot \"$root\" \"$python\" \"$program\" 20 1 0 > \"$said\"";
  const std::string dump =
      "for i in $(seq 400); do grep -q ready \"$said\" && break; sleep 0.05; done; "
      "\"$sonde\" dump $!; kill $!; wait $!";
  const bool own_namespace = GetParam();
  const std::string script = own_namespace ? "unshare -m sh -c '" + inside + "' & " + dump
                                           : "unshare -m sh -c '(" + inside + ") & " + dump + "'";
  for (const Interpreter& one : known()) {
    const ScratchFolder folder;
    const ScratchFolder output;
    const ProcessResult result = run_process({"sh", "-c", script}, {},
                                             {{"root", folder.path().string()},
                                              {"said", (output.path() / "said").string()},
                                              {"python", one.path},
                                              {"program", kProgram},
                                              {"sonde", kBinary}});
    EXPECT_NE(result.out.find("main ("), std::string::npos) << one.path << "\n"
                                                               << result.out << result.err;
    EXPECT_NE(result.out.find("\"waiter-0\": idle"), std::string::npos) << result.out;
  }
}

TEST(AttachCommand, SaysInOneLineWhatIsWrong) {
  const auto line = [](const std::vector<std::string>& arguments, int status) {
    std::vector<std::string> command = {kBinary};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProcessResult result = run_process(command);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  const std::string self = std::to_string(::getpid());
  EXPECT_NE(line({"attach", self}, 1).find("is no Python program"), std::string::npos);
  EXPECT_NE(line({"dump", "4000000"}, 1).find("is not there"), std::string::npos);
  EXPECT_NE(line({"top", "x"}, 2).find("no number of a process"), std::string::npos);
  EXPECT_NE(line({"attach", self, "--duration", "no"}, 2).find("seconds"), std::string::npos);
  EXPECT_NE(line({"attach", self, "--native", "--no-stop"}, 2).find("--native"), std::string::npos);
}

TEST(AttachCommand, NamesWhatIsMissingWithoutPermission) {
  NEEDS_PYTHON();
  if (::geteuid() != 0) GTEST_SKIP() << "needs another user's process: run as root";
  if (run_process({"setpriv", "--reuid=65534", "--clear-groups", "true"}).status != 0) {
    GTEST_SKIP() << "no setpriv";
  }
  const ScratchFolder folder;
  fs::permissions(folder.path(), fs::perms::all);
  const std::string copy = (folder.path() / "sonde").string();
  fs::copy_file(kBinary, copy);
  Target target(any_python(), {kProgram, "2", "0", "0"});
  const ProcessResult result =
      run_process({"setpriv", "--reuid=65534", "--clear-groups", copy, "dump", target.pid()});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("may not be looked into"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("CAP_SYS_PTRACE"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("ptrace_scope"), std::string::npos) << result.err;
  EXPECT_TRUE(target.ends_right());
}

TEST(DumpCommand, PrintsJsonAndVariables) {
  NEEDS_PYTHON();
  Target target(any_python(), {"-c",
                               "import time\n"
                               "def f(number, text, items):\n"
                               "    none = None\n"
                               "    time.sleep(3)\n"
                               "print('ready', flush=True)\n"
                               "f(-7, 'Zo\\u00eb', [1, 2])\n"
                               "print('right')\n"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const ProcessResult result = run_process({kBinary, "dump", target.pid(), "--json", "--locals"});
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* part :
       {"\"function\": \"f\"", "\"line\": 4", "\"number\": \"-7\"", "\"text\": \"'Zo\\u00eb'\"",
        "\"items\": \"<list of 2>\"", "\"none\": \"None\"", "\"busy\": false", "\"lost\": 0"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  }
  EXPECT_TRUE(target.ends_right());
}

TEST(TopCommand, PrintsTablesWithoutATerminal) {
  NEEDS_PYTHON();
  Target target(any_python(), {kProgram, "4", "2", "0"});
  const ProcessResult result =
      run_process({kBinary, "top", target.pid(), "-d", "2.2", "-i", "1", "--sort", "total"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("leaf"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("GIL"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("\x1b["), std::string::npos);
  std::size_t tables = 0;
  for (std::size_t at = 0; (at = result.out.find("rounds/s", at)) != std::string::npos; ++at) {
    ++tables;
  }
  EXPECT_GE(tables, 2u);
  EXPECT_TRUE(target.ends_right());
}

TEST(TopCommand, DrawsOnATerminal) {
  NEEDS_PYTHON();
  Target target(any_python(), {kProgram, "4", "2", "0"});
  const ProcessResult result = testing::run_on_terminal(
      {kBinary, "top", target.pid(), "-d", "1.6", "-i", "0.5", "--lines"}, 90);
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_NE(result.out.find("\x1b[?1049h"), std::string::npos);
  EXPECT_NE(result.out.find("\x1b[?1049l"), std::string::npos);
  EXPECT_NE(result.out.find("q leave"), std::string::npos);
  EXPECT_NE(result.out.find("known_program.py:"), std::string::npos);
  EXPECT_TRUE(target.ends_right());
}

TEST(RunSampling, SamplesPythonAndItsChildren) {
  NEEDS_PYTHON();
  const ScratchFolder folder;
  const std::string run = (folder.path() / "run").string();
  const std::string script =
      folder.write("parent.py",
                   "import subprocess, sys, os\n"
                   "child = subprocess.Popen([sys.executable, sys.argv[1], '1.5', '1', '0'])\n"
                   "pid = os.fork()\n"
                   "def in_fork():\n"
                   "    import time\n"
                   "    end = time.monotonic() + 1.5\n"
                   "    while time.monotonic() < end: pass\n"
                   "if pid == 0:\n"
                   "    in_fork()\n"
                   "    os._exit(0)\n"
                   "def reap():\n"
                   "    os.waitpid(pid, 0)\n"
                   "    return child.wait()\n"
                   "sys.exit(reap() + 5)\n");
  const ProcessResult result =
      run_process({kBinary, "run", "-o", run, "--", any_python(), script, kProgram});
  EXPECT_EQ(result.status, 5) << result.err;
  EXPECT_NE(result.out.find("right"), std::string::npos);
  std::set<std::string> seen;
  for (const fs::path& path : files_of(run, ".tables")) {
    const SampleRows rows(path);
    EXPECT_TRUE(rows.clean_end);
    for (const char* name : {"leaf", "in_fork", "reap"}) {
      if (rows.wall_in(name) > 5e8) seen.insert(name);
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"leaf", "in_fork", "reap"}));
}

TEST(RunSampling, LeavesOtherProgramsAlone) {
  const ScratchFolder folder;
  const std::string run = (folder.path() / "run").string();
  const ProcessResult result =
      run_process({kBinary, "run", "-q", "-o", run, "--", "sh", "-c", "sleep 0.3; exit 4"});
  EXPECT_EQ(result.status, 4);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(files_of(run, ".tables").empty());
}

TEST(RunSampling, CanBeTurnedOff) {
  NEEDS_PYTHON();
  const ScratchFolder folder;
  const std::string run = (folder.path() / "run").string();
  const ProcessResult result = run_process({kBinary, "run", "-q", "--python", "none", "-o", run,
                                            "--", any_python(), kProgram, "0.5", "0", "0"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(files_of(run, ".tables").empty());
}

}  // namespace
}  // namespace sonde
