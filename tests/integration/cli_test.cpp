#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/support/golden.hpp"
#include "tests/support/process.hpp"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::ProcessResult;
using testing::read_file;
using testing::run_on_terminal;
using testing::run_process;

const std::string kBinary = SONDE_BINARY;
const std::string kTrace = std::string(SONDE_TEST_DATA) + "/ddp_rank0.pt.trace.json.gz";

ProcessResult sonde(std::vector<std::string> arguments, const std::string& input = {},
                    const testing::Environment& environment = {}) {
  arguments.insert(arguments.begin(), kBinary);
  return run_process(arguments, input, environment);
}

// A folder of its own for each test, gone afterwards.
class Cli : public ::testing::Test {
 protected:
  Cli() {
    std::string name = (fs::temp_directory_path() / "sonde-cli-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Cli() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  fs::path folder_;
};

struct WrongUsage {
  std::vector<std::string> arguments;
  std::string message;
};

TEST_F(Cli, WrongUsageIsExit2AndOneLine) {
  const std::string see = " (see 'sonde report --help')\n";
  const std::vector<WrongUsage> cases = {
      {{"reprot", "x"}, "unknown command 'reprot'; did you mean 'report'? (see 'sonde --help')\n"},
      {{"--verison"},
       "unknown option '--verison'; did you mean '--version'? (see 'sonde --help')\n"},
      {{"help", "infro"}, "unknown command 'infro'; did you mean 'info'? (see 'sonde --help')\n"},
      {{"report", kTrace, "--vew", "steps"},
       "unknown option '--vew'; did you mean '--view'?" + see},
      {{"report", kTrace, "--vew=steps"}, "unknown option '--vew'; did you mean '--view'?" + see},
      {{"report", kTrace, "-q"}, "unknown option '-q'" + see},
      {{"report", kTrace, "--view"}, "--view needs a value" + see},
      {{"report", kTrace, "--view", "--sort", "total"}, "--view needs a value" + see},
      {{"report", kTrace, "--view", "stps"}, "unknown view 'stps'; did you mean 'steps'?" + see},
      {{"report", kTrace, "--style", "trch"}, "unknown style 'trch'; did you mean 'torch'?" + see},
      {{"report", kTrace, "--style", "torch", "--view", "steps"},
       "style 'torch' has no view 'steps'; it has operators" + see},
      {{"report", kTrace, "--style", "torch", "--sort", "cpu_time_totl"},
       "unknown sort key 'cpu_time_totl'; did you mean 'cpu_time_total'?" + see},
      {{"report", kTrace, "--sort", "x"}, "view 'summary' of style 'sonde' has no sort key" + see},
      {{"report", kTrace, "--format", "jsn"}, "unknown format 'jsn'; did you mean 'json'?" + see},
      {{"report", kTrace, "--group-by", "stak"},
       "unknown group-by 'stak'; did you mean 'stack'?" + see},
      {{"report", kTrace, "--view", "kernels", "--file", "train.py"},
       "--file is for view 'source', not for view 'kernels'" + see},
      {{"report", kTrace, "--against", "start"},
       "--snapshot and --against are for view 'objects', not for view 'summary'" + see},
      {{"report", kTrace, "--limit", "ten"}, "--limit needs a whole number, not 'ten'" + see},
      {{"report", kTrace, "--limit", "-5"}, "--limit must be -1 or more, not -5" + see},
      {{"report", kTrace, "--style", "tensorboard", "--view", "operation/stack"},
       "view 'operation/stack' needs --operator NAME" + see},
      {{"serve", "a", "b"}, "'serve' takes no further argument 'b' (see 'sonde serve --help')\n"},
      {{"serve", "a", "--port", "70000"},
       "--port must be from 0 to 65535, not 70000 (see 'sonde serve --help')\n"},
      {{"completion", "fish"},
       "unknown shell 'fish'; there is bash, zsh (see 'sonde completion --help')\n"},
  };
  for (const WrongUsage& wrong : cases) {
    const ProcessResult result = sonde(wrong.arguments);
    EXPECT_EQ(result.status, 2) << wrong.message;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "sonde: " + wrong.message);
  }
}

TEST_F(Cli, UnreadableInputIsExit1AndOneLine) {
  const std::vector<std::string> paths = {path("missing.json"), write("empty.json", ""),
                                          write("binary.json", std::string("\x7F"
                                                                           "ELF\0\1\2",
                                                                           7))};
  for (const std::string& bad : paths) {
    for (const char* command : {"report", "info"}) {
      const ProcessResult result = sonde({command, bad});
      EXPECT_EQ(result.status, 1) << bad;
      EXPECT_EQ(result.out, "");
      EXPECT_EQ(result.err.rfind("sonde: " + bad + ": ", 0), 0u) << result.err;
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
  }
}

TEST_F(Cli, AFileNameCannotPaintTheTerminal) {
  const ProcessResult result = sonde({"report", "no\x1b[31m\nsuch"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST_F(Cli, ABadFileAmongGoodOnesIsLeftOutWithAWarning) {
  const ProcessResult result = sonde({"report", kTrace, write("broken.json", "")});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("Average step"), std::string::npos);
  EXPECT_EQ(result.err.rfind("sonde: warning: left out " + path("broken.json"), 0), 0u)
      << result.err;
}

TEST_F(Cli, ReadsStandardInput) {
  const ProcessResult from_file = sonde({"report", kTrace, "--view", "kernels", "--format", "csv"});
  const ProcessResult from_input =
      sonde({"report", "-", "--view", "kernels", "--format", "csv"}, read_file(kTrace));
  EXPECT_EQ(from_input.status, 0) << from_input.err;
  EXPECT_EQ(from_input.out, from_file.out);
}

TEST_F(Cli, OptionsMayStandBeforeAndAfterPaths) {
  const ProcessResult after = sonde({"report", kTrace, "-v", "kernels", "-n", "3"});
  EXPECT_EQ(after.status, 0) << after.err;
  EXPECT_EQ(sonde({"report", "-v", "kernels", "-n", "3", kTrace}).out, after.out);
  EXPECT_EQ(sonde({"report", "--view=kernels", "--limit=3", kTrace}).out, after.out);
  EXPECT_EQ(sonde({"report", "-v", "steps", "--view", "kernels", "-n3", "--", kTrace}).out,
            after.out);
}

TEST_F(Cli, WritesToAFileWholeOrNotAtAll) {
  const std::string expected = sonde({"report", kTrace}).out;
  const std::string target = write("out.txt", "old");
  const ProcessResult result = sonde({"report", kTrace, "-o", target});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(read_file(target), expected);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "a scratch file was left";

  const ProcessResult failed = sonde({"report", path("missing.json"), "-o", target});
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(read_file(target), expected);

  const std::string nowhere = path("no/such/folder/out.txt");
  const ProcessResult unwritable = sonde({"report", kTrace, "-o", nowhere});
  EXPECT_EQ(unwritable.status, 1);
  EXPECT_EQ(unwritable.err,
            "sonde: " + nowhere +
                ": cannot write: No such file or directory (make the folder first, or choose "
                "another one)\n");
}

TEST_F(Cli, AFullDiskIsToldAndAReaderThatLeavesIsNot) {
  const std::string quoted = "'" + kBinary + "' report '" + kTrace + "' --view operators --limit 0";
  const ProcessResult full = run_process({"sh", "-c", quoted + " > /dev/full"});
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(full.err,
            "sonde: standard output: cannot write: No space left on device (make room, or write "
            "somewhere "
            "else)\n");

  const ProcessResult left =
      run_process({"bash", "-c", quoted + " | head -c 10 > /dev/null; echo ${PIPESTATUS[0]}"});
  EXPECT_EQ(left.out, "0\n");
  EXPECT_EQ(left.err, "");
  const ProcessResult closed =
      run_process({"bash", "-c", "{ sleep 0.2; " + quoted + "; echo $? >&2; } | true"});
  EXPECT_EQ(closed.err, "0\n");
}

TEST_F(Cli, PlainInAPipeColouredOnATerminal) {
  const std::vector<std::string> command = {kBinary, "report", kTrace};
  const testing::Environment plain = {{"NO_COLOR", ""}, {"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}};
  const ProcessResult piped = run_process(command, "", plain);
  EXPECT_EQ(piped.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(piped.out.find("█"), std::string::npos);

  const ProcessResult terminal = run_on_terminal(command, 90, plain);
  EXPECT_EQ(terminal.status, 0);
  EXPECT_NE(terminal.out.find("\x1b[1"), std::string::npos);
  EXPECT_NE(terminal.out.find("█"), std::string::npos);

  testing::Environment no_color = plain;
  no_color[0].second = "1";
  EXPECT_EQ(run_on_terminal(command, 90, no_color).out.find("\x1b["), std::string::npos);

  const std::vector<std::string> always = {kBinary, "report", kTrace, "--color", "always"};
  EXPECT_NE(run_process(always, "", no_color).out.find("\x1b[1"), std::string::npos);
  const std::vector<std::string> never = {kBinary, "report", kTrace, "--color", "never"};
  EXPECT_EQ(run_on_terminal(never, 90, plain).out.find("\x1b["), std::string::npos);
}

TEST_F(Cli, FitsTheTerminal) {
  const testing::Environment plain = {{"NO_COLOR", "1"}, {"LC_ALL", "C"}};
  for (const int width : {60, 80, 120}) {
    const ProcessResult result = run_on_terminal({kBinary, "report", kTrace}, width, plain);
    std::size_t at = 0;
    while (at < result.out.size()) {
      const std::size_t end = std::min(result.out.find("\r\n", at), result.out.size());
      EXPECT_LE(end - at, static_cast<std::size_t>(width)) << result.out.substr(at, end - at);
      at = end + 2;
    }
  }
}

TEST_F(Cli, SlowReadingShowsProgressOnATerminalOnly) {
  const std::string slow = "{ head -c 9000 '" + kTrace + "'; sleep 1.3; tail -c +9001 '" + kTrace +
                           "'; } | '" + kBinary + "' report - > /dev/null";
  const ProcessResult terminal = run_on_terminal({"bash", "-c", slow}, 80);
  EXPECT_EQ(terminal.status, 0) << terminal.out;
  EXPECT_NE(terminal.out.find("\rreading standard input"), std::string::npos) << terminal.out;
  EXPECT_EQ(terminal.out.substr(terminal.out.rfind('\r')), "\r\x1b[K") << "the line stays";
  EXPECT_EQ(run_process({"bash", "-c", slow}).err, "");
}

TEST_F(Cli, EqualRunsGiveEqualBytesInAnyLocale) {
  const std::vector<std::string> command = {"report", kTrace, "--format", "json"};
  const std::string first = sonde(command).out;
  EXPECT_EQ(sonde(command).out, first);
  EXPECT_EQ(sonde(command, "", {{"LC_ALL", "de_DE.UTF-8"}}).out, first);
}

TEST_F(Cli, HelpAndVersion) {
  const ProcessResult help = sonde({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* name :
       {"run", "report", "info", "export", "convert", "cut", "serve", "completion", "help"}) {
    EXPECT_NE(help.out.find(std::string("\n  ") + name), std::string::npos) << name;
    const ProcessResult one = sonde({"help", name});
    EXPECT_EQ(one.status, 0);
    EXPECT_EQ(one.out, sonde({name, "--help"}).out);
    EXPECT_NE(one.out.find(std::string("Usage: sonde ") + name), std::string::npos);
  }
  EXPECT_EQ(help.out.find("__man"), std::string::npos);
  EXPECT_EQ(sonde({}).out, help.out);
  EXPECT_EQ(sonde({"help"}).out, help.out);
  const ProcessResult formats = sonde({"help", "formats"});
  EXPECT_EQ(formats.status, 0);
  EXPECT_NE(formats.out.find("PyTorch profiler (Kineto) trace"), std::string::npos) << formats.out;
  const ProcessResult version = sonde({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("sonde ", 0), 0u);
}

TEST_F(Cli, InfoTellsWhatTheFileIs) {
  const ProcessResult text = sonde({"info", kTrace});
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.out.find("Format"), std::string::npos);
  EXPECT_NE(text.out.find("kineto"), std::string::npos);
  EXPECT_NE(text.out.find("kernel"), std::string::npos);
  const ProcessResult json = sonde({"info", kTrace, "--format", "json"});
  EXPECT_NE(json.out.find("\"losses\": ["), std::string::npos);
}

TEST_F(Cli, BashCompletionLoadsAndCompletes) {
  const std::string script = write("sonde.bash", sonde({"completion", "bash"}).out);
  EXPECT_EQ(run_process({"bash", "-n", script}).status, 0);
  const ProcessResult loaded =
      run_process({"bash", "-c", "source '" + script + "'; complete -p sonde"});
  EXPECT_EQ(loaded.status, 0);
  EXPECT_NE(loaded.out.find("-F _sonde sonde"), std::string::npos);

  const auto offers = [&](const std::string& words) {
    return run_process({"bash", "-c",
                        "source '" + script + "'; COMP_WORDS=(" + words +
                            "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sonde; "
                            "echo \"${COMPREPLY[@]}\""})
        .out;
  };
  EXPECT_EQ(offers("sonde rep"), "report\n");
  EXPECT_EQ(offers("sonde report --vi"), "--view\n");
  EXPECT_EQ(offers("sonde report --view ker"), "kernels kernel-stats kernel/table kernel\n");
  EXPECT_EQ(offers("sonde report --style tor"), "torch\n");
  EXPECT_EQ(offers("sonde report --format m"), "markdown\n");
  EXPECT_EQ(offers("sonde report --group-by ''"), "input_shape stack\n");
  EXPECT_EQ(offers("sonde report --sort gpu_s"), "gpu_self\n");
  EXPECT_EQ(offers("sonde help com"), "completion\n");
}

TEST_F(Cli, ZshCompletionParses) {
  const ProcessResult script = sonde({"completion", "zsh"});
  EXPECT_EQ(script.status, 0);
  EXPECT_EQ(script.out.rfind("#compdef sonde\n", 0), 0u);
  if (run_process({"sh", "-c", "command -v zsh"}).status != 0) GTEST_SKIP() << "no zsh here";
  EXPECT_EQ(run_process({"zsh", "-n", write("_sonde", script.out)}).status, 0);
}

TEST_F(Cli, ManPagesParse) {
  ASSERT_EQ(sonde({"__man", folder_.string()}).status, 0);
  for (const char* page : {"sonde.1", "sonde-report.1", "sonde-info.1", "sonde-serve.1",
                           "sonde-completion.1", "sonde-help.1"}) {
    ASSERT_TRUE(fs::exists(path(page))) << page;
  }
  EXPECT_FALSE(fs::exists(path("sonde-__man.1")));
  if (run_process({"sh", "-c", "command -v man && command -v groff"}).status != 0) {
    GTEST_SKIP() << "no man here";
  }
  for (const auto& page : fs::directory_iterator(folder_)) {
    const ProcessResult shown =
        run_process({"man", "--warnings", "-l", page.path().string()}, "",
                    {{"LC_ALL", "C.UTF-8"}, {"MANWIDTH", "80"}, {"MANROFFOPT", ""}});
    EXPECT_EQ(shown.status, 0) << page.path();
    EXPECT_EQ(shown.err, "") << page.path();
    EXPECT_NE(shown.out.find("sonde"), std::string::npos);
  }
}

TEST_F(Cli, ServeWithoutAFolderIsExit1) {
  const ProcessResult result = sonde({"serve", path("missing"), "--port", "0"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err.rfind("sonde: " + path("missing"), 0), 0u) << result.err;
}

TEST_F(Cli, ServeEndsCleanlyAndWarnsOfOpenAddresses) {
  const std::string line = "'" + kBinary + "' serve '" + std::string(SONDE_TEST_DATA) +
                           "' --port 0 --host $0 & pid=$!; "
                           "sleep 1; kill -INT $pid; wait $pid; echo status $?";
  const ProcessResult loopback = run_process({"bash", "-c", line, "127.0.0.1"});
  EXPECT_NE(loopback.out.find("serving at http://127.0.0.1:"), std::string::npos) << loopback.out;
  EXPECT_NE(loopback.out.find("status 0\n"), std::string::npos) << loopback.out;
  EXPECT_EQ(loopback.err, "");
  const ProcessResult open = run_process({"bash", "-c", line, "0.0.0.0"});
  EXPECT_NE(open.err.find("can be reached from other machines"), std::string::npos) << open.err;
  EXPECT_NE(open.out.find("status 0\n"), std::string::npos) << open.out;
}

}  // namespace
}  // namespace sonde
