#include "report/styles/pstats.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <numeric>
#include <optional>
#include <regex>

#include "analysis/python_stats.hpp"
#include "report/safe_text.hpp"
#include "report/styles/python_text.hpp"

namespace sonde {
namespace {

using Key = PythonStats::Key;
using Numbers = PythonStats::Numbers;
using Caller = PythonStats::Caller;

std::string f8(double number) { return fmt::format("{:8.3f}", number); }

std::string standard_name(const Key& key) { return safe_text(python_standard_name(key)); }

// "Sun Nov 15 08:32:47 2026    FILE": when the file was written, where there is such a file.
std::string file_line(const std::string& path) {
  struct stat facts {};
  std::tm local{};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      ::localtime_r(&facts.st_mtime, &local) == nullptr) {
    return safe_text(path);
  }
  constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{} {} {:2} {:02}:{:02}:{:02} {}    {}",
                     kDays[static_cast<std::size_t>(local.tm_wday)],
                     kMonths[static_cast<std::size_t>(local.tm_mon)], local.tm_mday, local.tm_hour,
                     local.tm_min, local.tm_sec, local.tm_year + 1900, safe_text(path));
}

// One step of making the list shorter.
struct Restriction {
  enum class Kind { Count, Share, Pattern };
  Kind kind = Kind::Pattern;
  std::int64_t count = 0;
  double share = 0;
  std::string pattern;
};

Restriction parse_restriction(const std::string& word) {
  Restriction out;
  const char* end = word.data() + word.size();
  if (const auto [at, error] = std::from_chars(word.data(), end, out.count);
      error == std::errc() && at == end) {
    out.kind = Restriction::Kind::Count;
    return out;
  }
  if (const auto [at, error] = std::from_chars(word.data(), end, out.share);
      error == std::errc() && at == end) {
    out.kind = Restriction::Kind::Share;
    return out;
  }
  out.pattern = word;
  return out;
}

// Python's syntax as far as the standard library's regular expressions go: a pattern may begin
// with (?i), and \A and \Z are its names for the ends.
std::optional<std::regex> compile(std::string pattern) {
  constexpr std::size_t kMaxPattern = 1000;
  if (pattern.size() > kMaxPattern) return std::nullopt;
  auto flags = std::regex::ECMAScript;
  if (pattern.starts_with("(?i)")) {
    flags |= std::regex::icase;
    pattern.erase(0, 4);
  }
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '\\') continue;
    if (pattern[i + 1] == 'A') pattern.replace(i, 2, "^");
    if (i + 1 < pattern.size() && pattern[i + 1] == 'Z') pattern.replace(i, 2, "$");
    if (pattern[i] == '\\') ++i;
  }
  try {
    return std::regex(pattern, flags);
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

bool matches(const std::regex& pattern, const std::string& name) {
  constexpr std::size_t kMaxName = 4096;  // the matcher's depth grows with the text
  try {
    return std::regex_search(
        name.begin(), name.begin() + static_cast<std::ptrdiff_t>(std::min(name.size(), kMaxName)),
        pattern);
  } catch (const std::regex_error&) {
    return false;
  }
}

class Printer {
 public:
  Printer(const PythonStats& stats, std::size_t longest_name, const PstatsRequest& request)
      : stats_(stats), longest_name_(longest_name), request_(request) {}

  std::string print() {
    for (const std::string& view : request_.views) {
      if (view == "stats") print_stats();
      if (view == "callers") print_callers();
      if (view == "callees") print_callees();
    }
    return std::move(out_);
  }

 private:
  void print_stats() {
    out_ += fmt::format("         {} function calls ", stats_.calls());
    if (stats_.calls() != stats_.primitive_calls()) {
      out_ += fmt::format("({} primitive calls) ", stats_.primitive_calls());
    }
    out_ += fmt::format("in {:.3f} {}\n\n", stats_.self(),
                        stats_.in_seconds() ? "seconds" : safe_text(stats_.cost().name));
    const std::vector<std::size_t> rows = choose();
    if (rows.empty()) return;
    out_ += "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n";
    for (const std::size_t row : rows) print_line(stats_.functions()[row]);
    out_ += "\n\n";
  }

  void print_line(const PythonStats::Function& row) {
    const Numbers& n = row.numbers;
    std::string calls = fmt::format("{}", n.calls);
    if (n.calls != n.primitive_calls) calls += fmt::format("/{}", n.primitive_calls);
    const std::string blank(8, ' ');
    out_ += fmt::format(
        "{:>9} {} {} {} {} {}\n", calls, f8(n.self),
        n.calls == 0 ? blank : f8(n.self / static_cast<double>(n.calls)), f8(n.total),
        n.primitive_calls == 0 ? blank : f8(n.total / static_cast<double>(n.primitive_calls)),
        standard_name(row.key));
  }

  void print_callers() {
    const std::vector<std::size_t> rows = choose();
    if (rows.empty()) return;
    print_heading("was called by...");
    for (const std::size_t row : rows) {
      print_calls(stats_.functions()[row].key, stats_.functions()[row].callers, "<-");
    }
    out_ += "\n\n";
  }

  void print_callees() {
    const std::vector<std::size_t> rows = choose();
    if (rows.empty()) return;
    const std::vector<std::vector<Caller>> callees = stats_.callees();
    print_heading("called...");
    for (const std::size_t row : rows) {
      print_calls(stats_.functions()[row].key, callees[row], "->");
    }
    out_ += "\n\n";
  }

  void print_heading(const char* title) {
    out_ += left_justified("Function ", width_) + title + "\n";
    const auto& functions = stats_.functions();
    const bool any = std::any_of(functions.begin(), functions.end(),
                                 [](const auto& function) { return !function.callers.empty(); });
    if (any && stats_.call_costs_known()) {
      out_ += std::string(width_, ' ') + "    ncalls  tottime  cumtime\n";
    }
  }

  void print_calls(const Key& of, std::vector<Caller> calls, const char* arrow) {
    out_ += left_justified(standard_name(of), width_) + arrow + " ";
    if (calls.empty()) out_ += "\n";
    std::sort(calls.begin(), calls.end(),
              [](const Caller& a, const Caller& b) { return a.key < b.key; });
    bool first = true;
    for (const Caller& call : calls) {
      const Numbers& n = call.numbers;
      std::string counts = fmt::format("{}", n.calls);
      if (stats_.call_costs_known()) {
        if (n.calls != n.primitive_calls) counts += fmt::format("/{}", n.primitive_calls);
        if (!first) out_.append(width_ + 1, ' ');
        out_ += fmt::format("{:>{}} {} {}  {}\n", counts, first ? 7 : 9, f8(n.self), f8(n.total),
                            standard_name(call.key));
      } else {
        // A count alone: what is shown beside it is the whole time of that function.
        const PythonStats::Function* known = stats_.find(call.key);
        if (!first) out_.append(width_ + 3, ' ');
        out_ += fmt::format("{}({}) {}\n", standard_name(call.key), counts,
                            f8(known ? known->numbers.total : 0));
      }
      first = false;
    }
  }

  // The rows to print; says how it came to them and sets the width of the names.
  std::vector<std::size_t> choose() {
    std::vector<std::size_t> rows;
    std::string message;
    if (request_.sort.empty()) {
      rows.resize(stats_.functions().size());
      std::iota(rows.begin(), rows.end(), std::size_t{0});
      message = "   Random listing order was used\n";
    } else {
      rows = sort_python_stats(stats_, request_.sort);
      std::string order;
      for (const std::string& word : request_.sort) {
        const auto key = python_sort_keys().find(word);
        if (key == python_sort_keys().end()) continue;
        order += (order.empty() ? "" : ", ") + key->second.description;
      }
      message = "   Ordered by: " + order + "\n";
    }
    for (const std::string& word : request_.restrictions) restrict(word, rows, message);
    if (rows.empty()) return rows;
    out_ += message + "\n";
    std::size_t width = longest_name_;
    if (rows.size() < stats_.functions().size()) {
      width = 0;
      for (const std::size_t row : rows) {
        width = std::max(width, python_length(standard_name(stats_.functions()[row].key)));
      }
    }
    width_ = width + 2;
    return rows;
  }

  void restrict(const std::string& word, std::vector<std::size_t>& rows, std::string& message) {
    const Restriction step = parse_restriction(word);
    const std::size_t before = rows.size();
    std::string shown;
    if (step.kind == Restriction::Kind::Pattern) {
      shown = python_repr(step.pattern);
      const std::optional<std::regex> pattern = compile(step.pattern);
      if (!pattern) {
        message += "   <Invalid regular expression " + shown + ">\n";
        return;
      }
      std::erase_if(rows, [&](std::size_t row) {
        return !matches(*pattern, python_standard_name(stats_.functions()[row].key));
      });
    } else if (step.kind == Restriction::Kind::Share) {
      shown = python_repr(step.share);
      if (step.share >= 0 && step.share < 1) {
        rows.resize(static_cast<std::size_t>(static_cast<double>(before) * step.share + .5));
      }
    } else {
      shown = fmt::format("{}", step.count);
      if (step.count >= 0 && static_cast<std::uint64_t>(step.count) < before) {
        rows.resize(static_cast<std::size_t>(step.count));
      }
    }
    if (rows.size() == before) return;
    message += fmt::format("   List reduced from {} to {} due to restriction <{}>\n", before,
                           rows.size(), shown);
  }

  const PythonStats& stats_;
  std::size_t longest_name_;
  const PstatsRequest& request_;
  std::size_t width_ = 0;
  std::string out_;
};

std::size_t longest_name(const PythonStats& stats) {
  std::size_t longest = 0;
  for (const PythonStats::Function& function : stats.functions()) {
    longest = std::max(longest, python_length(standard_name(function.key)));
  }
  return longest;
}

// What the numbers are, where they are not those of Python's profilers.
std::string what_they_are(const PythonStats& stats) {
  std::string out;
  if (stats.source() == ProfileSource::Slices) {
    out = "From a timeline: calls are its ranges, times their lengths.";
  } else if (stats.source() == ProfileSource::Samples || stats.sampled()) {
    out = "From samples: ncalls counts samples with the function on their stack.";
  }
  if (!stats.self_known()) {
    if (!out.empty()) out += " ";
    out += "tottime has what a function called.";
  }
  if (!stats.in_seconds()) {
    if (!out.empty()) out += " ";
    const std::string& unit = stats.cost().unit;
    out += "tottime and cumtime are " + stats.cost().name +
           (unit.empty() || unit == "count" ? "" : " in " + unit) + ", not seconds.";
  }
  return out.empty() ? out : safe_text(out) + "\n";
}

}  // namespace

std::vector<std::string> pstats_sort_keys() { return python_sort_names(); }

std::vector<std::string> pstats_abbreviations() {
  std::vector<std::string> out;
  for (const auto& [word, key] : python_sort_keys()) out.push_back(word);
  return out;
}

Result<bool> check_pstats_restriction(const std::string& word) {
  const Restriction step = parse_restriction(word);
  if (step.kind == Restriction::Kind::Share && !(step.share >= 0 && step.share <= 1)) {
    Error error;
    error.code = ErrorCode::UsageError;
    error.reason = "a share of the rows lies between 0 and 1, not '" + word + "'";
    return error;
  }
  return true;
}

Result<std::string> pstats_text(std::span<const NamedTrace> traces, const PstatsRequest& request) {
  // Python adds the first file and then the others from the last one on.
  std::vector<const NamedTrace*> order;
  for (const NamedTrace& named : traces) order.push_back(&named);
  if (order.size() > 1) std::reverse(order.begin() + 1, order.end());
  std::optional<PythonStats> sum;
  std::string files;
  std::size_t longest = 0;
  std::size_t left_out = 0;
  for (const NamedTrace* named : order) {
    const std::optional<PythonStats> one = PythonStats::of(named->trace);
    if (!one) continue;
    // Seconds and other things, calls and samples are never added up.
    if (sum && (one->source() != sum->source() || one->sampled() != sum->sampled() ||
                one->in_seconds() != sum->in_seconds())) {
      ++left_out;
      continue;
    }
    files += file_line(named->path) + "\n";
    longest = std::max(longest, longest_name(*one));
    if (sum) {
      sum->add(*one);
    } else {
      sum = one;
    }
  }
  if (!sum) {
    return nothing_to_show(traces.empty() ? "" : traces.front().path, "calls of functions",
                           "--python function");
  }
  std::string out = what_they_are(*sum);
  if (left_out > 0) {
    out += fmt::format("{} of another kind than the first one's are left out.\n",
                       left_out == 1 ? "The numbers of 1 trace"
                                     : fmt::format("The numbers of {} traces", left_out));
  }
  if (std::find(request.views.begin(), request.views.end(), "stats") != request.views.end()) {
    out += files + "\n";
  }
  if (request.strip_dirs) {
    sum->strip_dirs();
    longest = longest_name(*sum);
  }
  return out + Printer(*sum, longest, request).print();
}

}  // namespace sonde
