#include "import/pprofile/pprofile.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "base/json_writer.hpp"
#include "base/trim.hpp"
#include "import/profile/call_profile_builder.hpp"
#include "import/text/line_reader.hpp"
#include "import/text/numbers.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

// One row of the listing: a line of source, or a call made on the line before.
struct Row {
  StringId file;
  std::int32_t line = 0;
  std::int64_t count = 0;
  std::int64_t nanos = 0;
  bool is_call = false;
  bool is_head = false;      // begins a function or a class, or decorates one
  std::uint32_t indent = 0;  // of the source
  StringId callee_file;      // of a call
  std::int32_t callee_line = 0;
  StringId callee;
};

std::int32_t to_line(std::int64_t line) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(line, 0, INT32_MAX));
}

class PprofileReader {
 public:
  explicit PprofileReader(const ImportInput& input)
      : reader_(input), names_(builder_), table_(builder_.call_profile(), 1) {
    builder_.meta().format = "pprofile";
    builder_.meta().producer = "pprofile";
    builder_.call_profile().types.push_back({builder_.intern("time"), builder_.intern("ns")});
  }

  Result<Trace> read() {
    std::string_view line;
    while (true) {
      Result<bool> more = reader_.next(line);
      if (!more) return more.error();
      if (!*more) break;
      if (!add_line(line)) {
        builder_.losses().add("line_unusable", Severity::Warning,
                              "Lines that are no row of the listing; they were passed over.", 1,
                              reader_.offset(), line.substr(0, 80));
      }
    }
    assign_rows();
    reader_.finish(builder_);
    table_.sum_totals();
    if (rows_.empty()) {
      builder_.losses().add("no_events", Severity::Warning,
                            "The listing has no lines: nothing ran while the profiler was on.");
    }
    builder_.nest(1);
    return builder_.finish();
  }

 private:
  bool add_line(std::string_view line) {
    if (line.empty() || line.starts_with("Line #|") || line.starts_with("------+")) return true;
    SourceListing& listing = builder_.source_listing();
    if (line.starts_with("Total duration:")) {
      parse_duration(line.substr(15), listing.seconds, nullptr);
      return true;
    }
    if (line.starts_with("File duration:")) {
      if (listing.files.empty()) return false;
      SourceListing::File& file = listing.files.back();
      parse_duration(line.substr(14), file.seconds, &file.percent);
      return true;
    }
    if (line.starts_with("Command line:")) {
      listing.command = names_.intern(trim(line.substr(13)).substr(0, 4096));
      std::string quoted;
      append_json_string(quoted, mend_utf8(trim(line.substr(13)).substr(0, 4096)));
      builder_.meta().properties.emplace_back("command", std::move(quoted));
      return true;
    }
    if (line.starts_with("File: ")) {
      file_ = names_.intern(line.substr(6));
      listing.files.push_back({file_, 0, 0, {}});
      line_ = 0;
      return true;
    }
    return file_.valid() && add_row(line);
  }

  // "1.25s (90.57%)", the part in brackets only where it is wanted.
  static void parse_duration(std::string_view text, double& seconds, double* percent) {
    text = trim(text);
    seconds = parse_real(text.substr(0, text.find('s'))).value_or(0);
    const std::size_t open = text.find('(');
    const std::size_t sign = text.find('%');
    if (percent == nullptr || open == std::string_view::npos || sign == std::string_view::npos ||
        sign < open) {
      return;
    }
    *percent = parse_real(text.substr(open + 1, sign - open - 1)).value_or(0);
  }

  // "line|hits|time|time per hit|percent|source": the source may hold more bars.
  bool add_row(std::string_view text) {
    constexpr std::size_t kFields = 5;
    std::array<std::string_view, kFields> fields;
    for (std::string_view& field : fields) {
      const std::size_t bar = text.find('|');
      if (bar == std::string_view::npos) return false;
      field = trim(text.substr(0, bar));
      text.remove_prefix(bar + 1);
    }
    Row row;
    row.file = file_;
    row.is_call = fields[0] == "(call)";
    const std::optional<std::int64_t> count = parse_integer(fields[1]);
    const std::optional<double> seconds = parse_real(fields[2]);
    if (!count || !seconds || *count < 0) return false;
    row.count = *count;
    row.nanos = to_cost(*seconds * 1e9);
    if (row.is_call) {
      row.line = line_;
      if (!parse_callee(text, row)) return false;
    } else {
      const std::optional<std::int64_t> line = parse_integer(fields[0]);
      if (!line || *line < 0) return false;
      row.line = line_ = to_line(*line);
      parse_source(text, row);
    }
    rows_.push_back(row);
    if (fields[4].ends_with('%')) fields[4].remove_suffix(1);
    builder_.source_listing().files.back().rows.push_back(
        {names_.intern(row.is_call ? text.substr(2) : text), row.line, row.is_call, row.count,
         *seconds, parse_real(fields[3]).value_or(0), parse_real(fields[4]).value_or(0)});
    ++builder_.meta().file_events;
    return true;
  }

  // "# FILE:LINE NAME"
  bool parse_callee(std::string_view text, Row& row) {
    if (!text.starts_with("# ")) return false;
    text.remove_prefix(2);
    const std::size_t blank = text.rfind(' ');
    if (blank == std::string_view::npos) return false;
    const std::string_view place = text.substr(0, blank);
    const std::size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) return false;
    const std::optional<std::int64_t> line = parse_integer(place.substr(colon + 1));
    if (!line) return false;
    row.callee = names_.intern(text.substr(blank + 1));
    row.callee_file = names_.intern(place.substr(0, colon));
    row.callee_line = to_line(*line);
    functions_[{row.callee_file, row.callee_line}] = row.callee;
    return true;
  }

  static void parse_source(std::string_view source, Row& row) {
    const std::size_t first = source.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
      row.indent = UINT32_MAX;  // a blank line ends nothing
      return;
    }
    row.indent = static_cast<std::uint32_t>(first);
    const std::string_view code = source.substr(first);
    row.is_head = code.starts_with("def ") || code.starts_with("class ") || code.starts_with("@") ||
                  code.starts_with("async def ");
  }

  struct Scope {
    std::uint32_t indent;
    FunctionId function;
    bool has_body;
  };

  // The listing does not say which function a line belongs to: it is the innermost one that is
  // called somewhere and whose source is indented less.
  void assign_rows() {
    const StringId module = builder_.intern("<module>");
    std::vector<Scope> scopes;
    FunctionId of_file;
    StringId file;
    for (const Row& row : rows_) {
      if (row.file != file || !of_file.valid()) {
        file = row.file;
        of_file = table_.function(module, file, StringId(), 0);
        scopes.clear();
      }
      const auto current = [&] { return scopes.empty() ? of_file : scopes.back().function; };
      if (row.is_call) {
        // The line that begins a class runs outside of it, and calls its body.
        const bool outside = !scopes.empty() && row.callee_line == row.line &&
                             row.callee_file == row.file && !scopes.back().has_body;
        const FunctionId around = scopes.size() > 1 ? scopes[scopes.size() - 2].function : of_file;
        add_call(row, outside ? around : current());
        continue;
      }
      enter(row, scopes);
      const FunctionId function = current();
      CallProfile& profile = builder_.call_profile();
      const std::uint32_t at = table_.line(function, row.file, row.line);
      profile.lines[at].hits = add_costs(profile.lines[at].hits, row.count);
      table_.add(profile.line_self, at, {&row.nanos, 1});
      table_.add(profile.function_self, function.index(), {&row.nanos, 1});
    }
  }

  void enter(const Row& row, std::vector<Scope>& scopes) {
    const auto known = functions_.find({row.file, row.line});
    const bool begins = known != functions_.end() && row.line > 0;
    // Between a decorator and its function nothing ends.
    const bool goes_on = !begins && row.is_head && !scopes.empty() && !scopes.back().has_body &&
                         row.indent == scopes.back().indent;
    while (!goes_on && !scopes.empty() && row.indent <= scopes.back().indent) scopes.pop_back();
    if (!scopes.empty() && !row.is_head) scopes.back().has_body = true;
    if (!begins) return;
    const bool whole_file = builder_.text(known->second) == "<module>";
    if (whole_file) return;
    scopes.push_back(
        {row.indent, table_.function(known->second, row.file, StringId(), row.line), false});
  }

  void add_call(const Row& row, FunctionId caller) {
    const bool of_module = builder_.text(row.callee) == "<module>";
    const FunctionId callee =
        table_.function(row.callee, row.callee_file, StringId(), of_module ? 0 : row.callee_line);
    CallProfile& profile = builder_.call_profile();
    const std::uint32_t at = table_.call(caller, callee, row.line);
    profile.calls[at].calls = add_costs(profile.calls[at].calls, row.count);
    profile.functions[callee.index()].calls =
        add_costs(profile.functions[callee.index()].calls, row.count);
    if (caller != callee) {
      profile.calls[at].primitive_calls = add_costs(profile.calls[at].primitive_calls, row.count);
      profile.functions[callee.index()].primitive_calls =
          add_costs(profile.functions[callee.index()].primitive_calls, row.count);
    }
    table_.add(profile.call_total, at, {&row.nanos, 1});
  }

  LineReader reader_;
  TraceBuilder builder_;
  NamePool names_;
  CallProfileBuilder table_;
  std::vector<Row> rows_;
  std::map<std::pair<StringId, std::int32_t>, StringId> functions_;  // that are called somewhere
  StringId file_;
  std::int32_t line_ = 0;
};

}  // namespace

bool looks_like_pprofile(std::string_view head) {
  if (!head.starts_with("Command line:") && !head.starts_with("Total duration: ")) return false;
  return head.substr(0, 8192).find("Total duration: ") != std::string_view::npos;
}

Result<Trace> import_pprofile(const ImportInput& input) { return PprofileReader(input).read(); }

}  // namespace sonde
