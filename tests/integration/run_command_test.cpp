#include <gtest/gtest.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "import/sonde_run/run_folder.hpp"
#include "tests/support/files.hpp"
#include "tests/support/process.hpp"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;
using testing::ProcessResult;
using testing::run_process;

const std::string kBinary = SONDE_BINARY;

// Runs in a folder of its own, so that sonde-runs/ comes to lie there.
class RunCommandTest : public ::testing::Test {
 protected:
  ProcessResult sonde(const std::vector<std::string>& arguments, const std::string& input = {},
                      const testing::Environment& environment = {}) const {
    return run_process(command(arguments), input, environment);
  }
  std::vector<std::string> command(const std::vector<std::string>& arguments) const {
    std::vector<std::string> out = {"sh", "-c", "cd \"$0\" && exec \"$@\"", folder_.path().string(),
                                    kBinary};
    out.insert(out.end(), arguments.begin(), arguments.end());
    return out;
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  bool is_empty() const { return fs::is_empty(folder_.path()); }
  std::string newest() const { return *newest_run(path("sonde-runs")); }

  ScratchFolder folder_;
};

[[noreturn]] void execute(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  ::_exit(127);
}

int status_of(pid_t child) {
  int raw = 0;
  ::waitpid(child, &raw, 0);
  return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

// Waits for a file, as a sign from the program that runs.
bool wait_for(const std::string& path) {
  for (int i = 0; i < 1000 && !fs::exists(path); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fs::exists(path);
}

TEST_F(RunCommandTest, PassesOnTheExitCode) {
  const ProcessResult result = sonde({"run", "--", "sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err.find("err\n"), 0u);
  EXPECT_NE(result.err.find("Device summary"), std::string::npos);
  EXPECT_NE(result.err.find("sonde: exit code 3; the run lies in sonde-runs/sh-"),
            std::string::npos)
      << result.err;
  const std::optional<RunInfo> info = read_run_info(newest());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->exit_code, 3);
  EXPECT_EQ(info->command.size(), 3u);
  EXPECT_GE(info->end.value_or(0), info->start);
}

TEST_F(RunCommandTest, QuietSaysNothing) {
  const ProcessResult result = sonde({"run", "--quiet", "--", "sh", "-c", "echo out"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(RunCommandTest, TheProgramsOwnArgumentsAreLeftAlone) {
  const std::vector<std::string> words = {"--",  "-o", "--help", "[a,b]",     "",
                                          "a b", "%%", "{}",     "--quiet=1", "é\xFF"};
  std::vector<std::string> arguments = {"run", "-q", "printf", "%s|"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::string expected;
  for (const std::string& word : words) expected += word + "|";
  EXPECT_EQ(sonde(arguments).out, expected);
  arguments.insert(arguments.begin() + 2, "--");
  EXPECT_EQ(sonde(arguments).out, expected);
}

TEST_F(RunCommandTest, PipingThroughChangesNoByte) {
  std::mt19937_64 random(7);
  std::string bytes(5'000'000, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  const std::string in = folder_.write("in", bytes);
  const std::string line = "cat in | \"$0\" run -q -- cat | cat > out";
  const ProcessResult result =
      run_process({"sh", "-c", "cd \"$1\" && " + line, kBinary, folder_.path().string()});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(test::read_bytes(path("out")) == bytes);
  EXPECT_EQ(result.err, "");
}

TEST_F(RunCommandTest, AReaderSeesTheEndWhenTheProgramClosesItsOutput) {
  // Were Sonde to keep its own copy open, cat would wait for the sleep.
  const std::string line =
      "{ \"$0\" run -q -o \"$1\" -- sh -c 'echo x; exec >&-; sleep 20' & } | "
      "cat; kill %1 2>/dev/null; echo end";
  const auto begin = std::chrono::steady_clock::now();
  const ProcessResult result = run_process({"bash", "-c", line, kBinary, path("r")});
  EXPECT_EQ(result.out, "x\nend\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

TEST_F(RunCommandTest, AKilledProgramGives128AndTheSignalAndAReport) {
  const ProcessResult result = sonde({"run", "--", "sh", "-c", "kill -KILL $$"});
  EXPECT_EQ(result.status, 128 + SIGKILL);
  EXPECT_NE(result.err.find("Device summary"), std::string::npos);
  EXPECT_NE(result.err.find("ended by signal 9 (SIGKILL)"), std::string::npos);
  EXPECT_EQ(read_run_info(newest())->exit_code, 137);
}

TEST_F(RunCommandTest, TheProgramHasTheUsualSignals) {
  // A closed pipe ends the program as always, though Sonde itself ignores the signal.
  const ProcessResult pipe = sonde({"run", "-q", "--", "sh", "-c", "kill -PIPE $$; echo alive"});
  EXPECT_EQ(pipe.status, 128 + SIGPIPE);
  EXPECT_EQ(pipe.out, "");
  const std::string masks = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
  EXPECT_EQ(sonde({"run", "-q", "--", "sh", "-c", masks}).out,
            run_process({"sh", "-c", masks}).out);
}

TEST_F(RunCommandTest, SignalsToSondeReachTheProgram) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    const std::string ready = path("ready" + std::to_string(signal));
    const std::string script =
        "trap 'exit 41' TERM INT HUP USR1; : > " + ready + "; while :; do sleep 0.05; done";
    const pid_t child = ::fork();
    if (child == 0) {
      ::setpgid(0, 0);
      execute(command({"run", "-q", "--", "sh", "-c", script}));
    }
    ASSERT_TRUE(wait_for(ready));
    ::kill(child, signal);
    EXPECT_EQ(status_of(child), 41) << signal;
  }
}

// How many signals a program counts for which `send` is called once it is ready.
int signals_counted(const std::vector<std::string>& command, const std::string& ready,
                    const std::function<void(pid_t)>& send) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    execute(command);
  }
  EXPECT_TRUE(wait_for(ready));
  send(child);
  return status_of(child);
}

TEST_F(RunCommandTest, SignalsToTheGroupReachTheProgramOnce) {
  const std::string ready = path("ready");
  const std::string script = "n=0; trap 'n=$((n+1))' TERM INT USR1; : > " + ready +
                             "; i=0; while [ $i -lt 20 ]; do sleep 0.05; i=$((i+1)); done; exit $n";
  const auto counted = [&](const std::function<void(pid_t)>& send) {
    fs::remove(ready);
    return signals_counted(command({"run", "-q", "--", "sh", "-c", script}), ready, send);
  };
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    EXPECT_EQ(counted([&](pid_t sonde) { ::kill(-sonde, signal); }), 1) << signal;
    EXPECT_EQ(counted([&](pid_t sonde) { ::kill(sonde, signal); }), 1) << signal;
  }
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
  const int both = counted([&](pid_t sonde) {
    ::kill(-sonde, SIGTERM);
    pause();
    ::kill(sonde, SIGTERM);
    pause();
    ::kill(-sonde, SIGTERM);
  });
  EXPECT_EQ(both, 3);
}

TEST_F(RunCommandTest, NothingOfSondeIsLeftBehind) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    execute(command({"run", "-q", "--", "true"}));
  }
  EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(::kill(-child, 0), -1) << "a process of the group lives on";
  EXPECT_EQ(errno, ESRCH);
}

// Presses keys on the terminal of a recorded program once it is ready.
ProcessResult press(const std::vector<std::string>& command, const std::string& ready,
                    const std::string& keys) {
  winsize size{};
  size.ws_col = 77;
  size.ws_row = 40;
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) execute(command);
  ProcessResult result;
  if (!keys.empty() && wait_for(ready) && ::write(terminal, keys.data(), keys.size()) < 0)
    return result;
  char buffer[4096];
  for (ssize_t got; (got = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    result.out.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(terminal);
  result.status = status_of(child);
  return result;
}

TEST_F(RunCommandTest, CtrlCOnATerminalReachesTheProgramOnce) {
  const std::string ready = path("ready");
  const std::string script = "n=0; trap 'n=$((n+1))' INT; : > " + ready +
                             "; i=0; while [ $i -lt 20 ]; do sleep 0.05; i=$((i+1)); done; exit $n";
  const ProcessResult result = press(command({"run", "--", "sh", "-c", script}), ready, "\x03");
  EXPECT_EQ(result.status, 1) << result.out;  // one interrupt, not two
  EXPECT_NE(result.out.find("the run lies in"), std::string::npos);
}

TEST_F(RunCommandTest, CtrlCEndsAPlainProgramAndThereIsStillAReport) {
  const std::string ready = path("ready");
  const ProcessResult result =
      press(command({"run", "--", "sh", "-c", ": > " + ready + "; exec sleep 30"}), ready, "\x03");
  EXPECT_EQ(result.status, 128 + SIGINT);
  EXPECT_NE(result.out.find("ended by signal 2 (SIGINT)"), std::string::npos) << result.out;
}

TEST_F(RunCommandTest, TheProgramOwnsTheTerminal) {
  const ProcessResult result = press(
      command({"run", "-q", "--", "sh", "-c", "test -t 0 && test -t 1 && test -t 2 && stty size"}),
      {}, {});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "40 77\r\n");
}

TEST_F(RunCommandTest, GrandchildrenGetTheEnvironment) {
  const std::string show = "echo $SONDE_RUN_DIR,$SONDE_MAX_SIZE,$SONDE_KEEP_LAST";
  const ProcessResult most =
      sonde({"run", "-q", "-o", "r1", "--max-size", "2M", "sh", "-c", "sh -c '" + show + "'"}, {},
            {{"SONDE_KEEP_LAST", "5"}});
  EXPECT_EQ(most.out, fs::canonical(path("r1")).string() + ",2097152,\n");
  const ProcessResult last =
      sonde({"run", "-q", "-o", "r2", "--keep-last=64k", "sh", "-c", "sh -c '" + show + "'"});
  EXPECT_EQ(last.out, fs::canonical(path("r2")).string() + ",,65536\n");
}

TEST_F(RunCommandTest, AProgramThatCannotBeStartedLeavesNothingBehind) {
  const ProcessResult missing = sonde({"run", "--", "no-such-program-here"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_EQ(missing.err,
            "sonde: no-such-program-here: no such program in $PATH (check the spelling)\n");
  EXPECT_TRUE(is_empty());
  const std::string python = folder_.write("train.py", "pass\n");
  EXPECT_NE(sonde({"run", "--", python}).err.find("(did you mean python3 " + python + "?)"),
            std::string::npos);
  const std::string plain = folder_.write("plain", "text");
  const ProcessResult denied = sonde({"run", "--", plain});
  EXPECT_EQ(denied.status, 126);
  EXPECT_NE(denied.err.find("is not executable"), std::string::npos);
  const std::string script = folder_.write("script", "#!/no/such/interpreter\n");
  ::chmod(script.c_str(), 0755);
  EXPECT_EQ(sonde({"run", "--", script}).status, 126);
  EXPECT_EQ(sonde({"run", "--", folder_.path().string()}).status, 126);
  EXPECT_FALSE(fs::exists(path("sonde-runs")));
}

TEST_F(RunCommandTest, AFolderWithSomethingInItIsRefused) {
  folder_.write("r/old.sonde", "old");
  folder_.write("r/mine.txt", "mine");
  const ProcessResult refused = sonde({"run", "-o", "r", "--", "true"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.err,
            "sonde: r: the folder is not empty (choose another one, or replace the run in it with "
            "--force)\n");
  EXPECT_EQ(sonde({"run", "-q", "--force", "-o", "r", "--", "true"}).status, 0);
  EXPECT_FALSE(fs::exists(path("r/old.sonde")));
  EXPECT_TRUE(fs::exists(path("r/mine.txt")));
  EXPECT_TRUE(fs::exists(path("r/system.sonde")));
}

TEST_F(RunCommandTest, WrongUsageIsExit2) {
  const std::string see = " (see 'sonde run --help')\n";
  const auto message = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    const ProcessResult result = sonde(arguments);
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(message({}), "sonde: 'run' needs PROGRAM" + see);
  EXPECT_EQ(message({"--"}), "sonde: 'run' needs PROGRAM" + see);
  EXPECT_EQ(message({"--max-size", "much", "true"}),
            "sonde: --max-size needs a size such as 64M or 1G, not 'much'" + see);
  EXPECT_EQ(message({"--keep-last", "0", "true"}),
            "sonde: --keep-last needs a size such as 64M or 1G, not '0'" + see);
  EXPECT_EQ(message({"--max-size", "1G", "--keep-last", "1M", "true"}),
            "sonde: --max-size and --keep-last exclude each other" + see);
  EXPECT_EQ(message({"--quite", "true"}),
            "sonde: unknown option '--quite'; did you mean '--quiet'?" + see);
  EXPECT_TRUE(is_empty());
}

TEST_F(RunCommandTest, ReportWithoutAPathTakesTheNewestRun) {
  const ProcessResult none = sonde({"report"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("no run below sonde-runs/"), std::string::npos);
  EXPECT_EQ(sonde({"run", "-q", "--", "true"}).status, 0);
  EXPECT_EQ(sonde({"run", "-q", "--", "sh", "-c", "sleep 0.3"}).status, 0);
  const ProcessResult report = sonde({"report"});
  EXPECT_EQ(report.status, 0) << report.err;
  EXPECT_EQ(report.out.find("Summary of sh\n"), 0u) << report.out;
  const ProcessResult devices = sonde({"report", "--view", "devices", "--format", "csv"});
  EXPECT_EQ(devices.out.find("device,utilization_percent\nCPU (processes),"), 0u) << devices.out;
  const ProcessResult info = sonde({"info", "sonde-runs"});
  EXPECT_EQ(info.status, 0);
}

TEST_F(RunCommandTest, InfoTellsOfTheRun) {
  EXPECT_EQ(sonde({"run", "-q", "-o", "r", "--", SONDE_EXAMPLES "/counter"}).status, 0);
  const ProcessResult text = sonde({"info", "r"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.out.find("Run in r\n"), 0u) << text.out;
  for (const char* part :
       {SONDE_EXAMPLES "/counter\n", "Exit code          0\n", "Processes that recorded\n",
        "\ncounter ", "in order", "Machine\n", "Cores "}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << text.out;
  }
  EXPECT_EQ(sonde({"run", "-q", "-o", "k", "--", "sh", "-c", "kill -TERM $$"}).status, 143);
  const ProcessResult killed = sonde({"info", "k", "--format", "json"});
  for (const char* part :
       {R"("command": "sh -c 'kill -TERM $$'")", R"("exit_code": 143)", R"("signal": 15)",
        R"("start_unix_ns": 1)", R"("end_unix_ns": 1)", R"("memory_bytes": )"}) {
    EXPECT_NE(killed.out.find(part), std::string::npos) << part << killed.out;
  }
}

}  // namespace
}  // namespace sonde
