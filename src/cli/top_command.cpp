#include "cli/top_command.hpp"

#include <fmt/format.h>
#include <time.h>

#include <cmath>
#include <optional>

#include "base/format.hpp"
#include "cli/live_terminal.hpp"
#include "cli/output.hpp"
#include "cli/process_argument.hpp"
#include "cli/run_sampler.hpp"
#include "cli/top_table.hpp"
#include "cli/usage.hpp"

namespace sonde {
namespace {

constexpr std::size_t kPlainRows = 20;

class TopSink : public ProcessSink {
 public:
  TopSink(TopSums& sums, const TopLook& look) : sums_(sums), look_(look) {}
  void add(const ThreadSample& sample) override { sums_.add(sample, look_); }
  void tell(const PythonProcess&, const SamplingStats&, double, std::uint64_t,
            bool ended) override {
    // The names of functions go with their process.
    if (ended) sums_.clear();
  }

 private:
  TopSums& sums_;
  const TopLook& look_;
};

std::optional<TopSort> parse_sort(const std::string& text) {
  if (text.empty() || text == "own") return TopSort::Own;
  if (text == "total") return TopSort::Total;
  if (text == "own-time") return TopSort::OwnTime;
  if (text == "total-time") return TopSort::TotalTime;
  return {};
}

const char* sort_name(TopSort sort) {
  switch (sort) {
    case TopSort::Own:
      return "own";
    case TopSort::Total:
      return "total";
    case TopSort::OwnTime:
      return "own time";
    case TopSort::TotalTime:
      return "total time";
  }
  return "";
}

std::string head(pid_t pid, const std::string& command, const PythonSampler& sampler,
                 const TopSums& sums) {
  const TopSums::Totals totals = sums.totals();
  return fmt::format(
      "Process {}{}: {}\n{} rounds/s of {}, {} missed; threads {}, {} busy; CPU {}, GIL {}\n", pid,
      sampler.processes() > 1 ? fmt::format(" and {} more", sampler.processes() - 1) : "", command,
      std::lround(sampler.actual_rate()), static_cast<int>(sampler.options().rate),
      sampler.missed_rounds(), totals.threads, totals.busy, format_percent(totals.cpu_percent),
      format_percent(totals.lock_percent));
}

// False: leave.
bool obey(char key, TopLook& look, TopSums& sums) {
  switch (key) {
    case 'q':
    case 3:
      return false;
    case 'o':
    case '1':
      look.sort = TopSort::Own;
      break;
    case 't':
    case '2':
      look.sort = TopSort::Total;
      break;
    case '3':
      look.sort = TopSort::OwnTime;
      break;
    case '4':
      look.sort = TopSort::TotalTime;
      break;
    case 'l':
      look.lines = !look.lines;
      sums.clear();
      break;
    case 'i':
      look.idle = !look.idle;
      sums.clear();
      break;
    case 'r':
      sums.clear();
      break;
    default:
      break;
  }
  return true;
}

}  // namespace

CommandInfo TopCommand::info() const {
  CommandInfo info;
  info.name = "top";
  info.description = "watch where a running Python program spends its time, live";
  info.details =
      "Functions (or lines) by their share of the time: 100 % is one thread all the time. Own is "
      "time in the function itself, total with what it called. The percentages are of the last "
      "interval, the times since the start. GIL is how much of the time some thread held the "
      "interpreter's lock.\n\n"
      "Keys: o, t, 3, 4 sort by own, total, own time, total time; l switches between functions "
      "and lines; i counts threads that wait too; r begins anew; q leaves. Where the output is no "
      "terminal, a table is printed for each interval.";
  info.examples = {{"sonde top 4711", "live, q to leave"},
                   {"sonde top 4711 --lines --sort total", "by line"},
                   {"sonde top 4711 --duration 10 --interval 5 > top.txt", "two tables in a file"}};
  return info;
}

void TopCommand::define(Options& options) {
  options.positional(process_, "PID", "the number of the process").required = true;
  options.text(interval_, "-i,--interval", "SECONDS", "time between two tables").default_text = "1";
  options.text(duration_, "-d,--duration", "SECONDS", "end after this time").default_text =
      "until q or Ctrl-C";
  Option& often = options.integer(rate_, "-r,--rate", "HZ", "samples of each thread a second");
  often.default_text = "100";
  often.lowest = 1;
  often.highest = 1000;
  Option& sort = options.text(sort_, "-s,--sort", "KEY", "order of the rows");
  sort.choices = {"own", "total", "own-time", "total-time"};
  sort.only_choices = true;
  sort.default_text = "own";
  Option& rows = options.integer(rows_, "-n,--rows", "N", "rows of the table");
  rows.default_text = "what fits; 20 where there is no terminal";
  rows.lowest = 1;
  rows.highest = 10'000;
  options.flag(lines_, "--lines", "lines instead of functions");
  options.flag(idle_, "--idle", "count threads that wait too");
  options.flag(native_, "--native", "C and C++ frames too");
  options.flag(no_stop_, "--no-stop", "never stop a thread while it is read");
  options.flag(no_children_, "--no-children", "this process alone, not its Python children");
}

int TopCommand::run() {
  const Result<pid_t> process = parse_process(process_);
  if (!process) return report_failure(process.error(), "top");
  const Result<double> interval = parse_seconds("--interval", interval_.empty() ? "1" : interval_);
  if (!interval) return report_failure(interval.error(), "top");
  const Result<double> duration =
      parse_seconds("--duration", duration_.empty() ? "1e9" : duration_);
  if (!duration) return report_failure(duration.error(), "top");
  if (native_ && no_stop_) {
    return report_failure(usage_error("--native needs threads to stop: not with --no-stop"), "top");
  }
  TopLook look{parse_sort(sort_).value_or(TopSort::Own), lines_, idle_};
  TopSums sums;
  SamplerOptions options = sampler_options(static_cast<double>(rate_), !no_stop_, native_);
  options.children = !no_children_;
  PythonSampler sampler(*process, options, [&](const PythonProcess&) {
    return std::make_unique<TopSink>(sums, look);
  });
  if (const std::optional<Error> error = sampler.open_root()) {
    print_error(error->text());
    return kExitFailure;
  }

  const std::atomic<bool>& stop = stop_on_signals();
  const std::string command = command_text(*process);
  int status = kExitOk;
  {
    const LiveTerminal terminal;
    const auto interval_nanos = static_cast<std::uint64_t>(*interval * 1e9);
    const std::uint64_t start = monotonic_nanos();
    const std::uint64_t end = start + static_cast<std::uint64_t>(*duration * 1e9);
    std::uint64_t interval_start = start;
    const auto show = [&] {
      RenderOptions render = render_options("auto", "");
      std::size_t rows = rows_ > 0 ? static_cast<std::size_t>(rows_) : kPlainRows;
      if (terminal.ok()) {
        render.width = terminal.width();
        if (rows_ == 0) rows = terminal.height() > 7 ? terminal.height() - 7 : 1;
      }
      std::string text = head(*process, command, sampler, sums);
      if (terminal.ok()) {
        text += fmt::format("by {}; o t 3 4 sort, l lines, i idle, r anew, q leave\n\n",
                            sort_name(look.sort));
        terminal.draw(text + render_text(sums.rows(look, rows), render));
      } else {
        status = write_output(text + render_text(sums.rows(look, rows), render) + "\n", "");
      }
    };
    bool go_on = true;
    while (go_on && !stop && sampler.alive() && status == kExitOk && monotonic_nanos() < end) {
      sampler.round();
      const std::uint64_t now = monotonic_nanos();
      if (now - interval_start >= interval_nanos) {
        sums.end_interval(now - interval_start);
        interval_start = now;
        show();
      }
      const std::uint64_t next = std::min(sampler.next_time(), end);
      sampler.settle(next);
      if (!terminal.ok()) {
        const timespec until{static_cast<time_t>(next / 1'000'000'000),
                             static_cast<long>(next % 1'000'000'000)};
        ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
        continue;
      }
      while (go_on && !stop && monotonic_nanos() < next) {
        const char key = terminal.key(next);
        if (key == 0) break;
        go_on = obey(key, look, sums);
        if (go_on) show();
      }
    }
    // The last interval, where it is worth a table.
    const std::uint64_t rest = monotonic_nanos() - interval_start;
    if (!terminal.ok() && sampler.processes() > 0 && rest > interval_nanos / 2) {
      sums.end_interval(rest);
      show();
    }
  }
  if (!sampler.alive()) print_note(fmt::format("process {} ended", *process));
  return status;
}

}  // namespace sonde
