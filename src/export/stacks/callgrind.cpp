#include "export/stacks/callgrind.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analysis/call_sums.hpp"
#include "export/stacks/frame_text.hpp"
#include "export/text_forms.hpp"
#include "sonde_version.hpp"

namespace sonde {
namespace {

// A name that could be read as "(12)", a reference, gets a quote in front.
std::string safe_name(std::string_view text) {
  std::string out = one_line(text.empty() ? "???" : text);
  while (!out.empty() && out.front() == ' ') out.erase(0, 1);
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (out.empty()) out = "???";
  if (out.size() > 1 && out[0] == '(' && std::isdigit(static_cast<unsigned char>(out[1])))
    out.insert(0, "'");
  return out;
}

// Each name is spelled out once, then referred to by its number.
class NameTable {
 public:
  void append(std::string& out, const std::string& name) {
    const auto [at, fresh] = ids_.try_emplace(name, ids_.size() + 1);
    out += '(';
    append_unsigned(out, at->second);
    out += ')';
    if (fresh) out += " " + name;
  }

 private:
  std::unordered_map<std::string, std::size_t> ids_;
};

class CallgrindWriter {
 public:
  CallgrindWriter(const CallSums& sums, const std::string& title, BufferedOutput& output)
      : sums_(sums), title_(title), output_(output), out_(output.buffer()) {
    name_functions();
    calls_of_.resize(sums.functions.size());
    for (std::size_t i = 0; i < sums.calls.size(); ++i) {
      if (sums.calls[i].caller < calls_of_.size() && sums.calls[i].callee < calls_of_.size())
        calls_of_[sums.calls[i].caller].push_back(i);
    }
    lines_of_.resize(sums.functions.size());
    for (std::size_t i = 0; i < sums.lines.size(); ++i)
      lines_of_[sums.lines[i].function].push_back(i);
  }

  void write() {
    write_header();
    for (std::size_t f = 0; f < sums_.functions.size() && !output_.failed(); ++f) {
      write_function(f);
      output_.settle();
    }
  }

 private:
  // Functions are told apart by name, file and object: homonyms get their line behind the name.
  void name_functions() {
    using Key = std::tuple<std::string, std::string_view, std::string_view>;
    std::map<Key, int> homonyms;
    const auto key = [&](const CallSums::Function& f) {
      return Key(safe_name(f.name), f.file, f.module);
    };
    for (const CallSums::Function& f : sums_.functions) ++homonyms[key(f)];
    std::set<Key> taken;
    for (const CallSums::Function& f : sums_.functions) {
      std::string name = safe_name(f.name);
      if (homonyms[key(f)] > 1) name += ":" + std::to_string(f.line);
      const std::string base = name;
      for (int n = 2; !taken.insert(Key(name, f.file, f.module)).second; ++n)
        name = base + "_" + std::to_string(n);
      names_.push_back(std::move(name));
    }
  }

  void write_header() {
    out_ += "# callgrind format\nversion: 1\ncreator: sonde ";
    out_ += kVersion;
    out_ += "\ncmd: ";
    out_ += one_line(title_);
    out_ += "\npart: 1\npositions: line\n";
    std::string names;
    std::set<std::string> taken;
    for (const CallValueType& type : sums_.types) {
      std::string name = is_time_unit(type.unit) ? "ns" : type.name;
      std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
      if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "e" + name;
      const std::string base = name;
      for (int n = 2; !taken.insert(name).second; ++n) name = base + std::to_string(n);
      const std::string unit = is_time_unit(type.unit) ? "nanoseconds" : type.unit;
      std::string long_name = one_line(type.name) + (unit.empty() ? "" : ", " + unit);
      std::replace_if(
          long_name.begin(), long_name.end(), [](char c) { return c == '=' || c == ':'; }, ' ');
      out_ += "event: " + name + " : " + long_name + "\n";
      names += " " + name;
    }
    out_ += "events:" + names + "\nsummary:";
    for (std::size_t t = 0; t < sums_.types.size(); ++t) {
      std::int64_t sum = 0;
      for (std::size_t f = 0; f < sums_.functions.size(); ++f) sum += self(f, t);
      out_ += ' ';
      append_integer(out_, sum);
    }
    out_ += "\n";
  }

  std::int64_t nanos(std::int64_t cost, std::size_t type) const {
    const double factor = nanos_per(sums_.types[type].unit);
    if (cost <= 0) return 0;
    return factor == 1 ? cost : static_cast<std::int64_t>(static_cast<double>(cost) * factor);
  }
  std::int64_t self(std::size_t f, std::size_t t) const {
    return nanos(sums_.cost(sums_.function_self, f, t), t);
  }

  void write_costs(std::int32_t line, const std::vector<std::int64_t>& costs) {
    append_integer(out_, std::max(line, 0));
    for (const std::int64_t cost : costs) {
      out_ += ' ';
      append_integer(out_, cost);
    }
    out_ += '\n';
  }

  void write_function(std::size_t f) {
    const CallSums::Function& function = sums_.functions[f];
    out_ += '\n';
    if (!function.module.empty()) {
      out_ += "ob=";
      objects_.append(out_, safe_name(function.module));
      out_ += '\n';
      had_object_ = true;
    } else if (had_object_) {
      out_ += "ob=";
      objects_.append(out_, "???");
      out_ += '\n';
    }
    out_ += "fl=";
    files_.append(out_, safe_name(function.file));
    out_ += "\nfn=";
    functions_.append(out_, names_[f]);
    out_ += '\n';
    write_self(f);
    for (const std::size_t call : calls_of_[f]) write_call(call);
  }

  // Line by line where the lines are known; what they do not hold stands at the function's own
  // line.
  void write_self(std::size_t f) {
    const CallSums::Function& function = sums_.functions[f];
    const std::size_t types = sums_.types.size();
    std::vector<std::int64_t> rest(types);
    for (std::size_t t = 0; t < types; ++t) rest[t] = self(f, t);
    std::vector<std::vector<std::int64_t>> rows;
    bool usable = true;
    for (const std::size_t line : lines_of_[f]) {
      std::vector<std::int64_t>& row = rows.emplace_back(types);
      for (std::size_t t = 0; t < types; ++t) {
        row[t] = nanos(sums_.cost(sums_.line_self, line, t), t);
        rest[t] -= row[t];
        usable = usable && rest[t] >= 0;
      }
    }
    if (!usable) {
      rows.clear();
      for (std::size_t t = 0; t < types; ++t) rest[t] = self(f, t);
    }
    const auto any = [](const std::vector<std::int64_t>& costs) {
      return std::any_of(costs.begin(), costs.end(), [](std::int64_t c) { return c != 0; });
    };
    if (rows.empty() || any(rest)) write_costs(function.line, rest);
    std::string_view file = function.file;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const CallSums::Line& line = sums_.lines[lines_of_[f][i]];
      if (!any(rows[i]) && rows.size() > 1) continue;
      const std::string_view here = line.file.empty() ? function.file : line.file;
      if (here != file) {
        out_ += here == function.file ? "fe=" : "fi=";
        files_.append(out_, safe_name(here));
        out_ += '\n';
        file = here;
      }
      write_costs(line.line, rows[i]);
    }
    if (file != function.file) {
      out_ += "fe=";
      files_.append(out_, safe_name(function.file));
      out_ += '\n';
    }
  }

  void write_call(std::size_t i) {
    const CallSums::Call& call = sums_.calls[i];
    const CallSums::Function& caller = sums_.functions[call.caller];
    const CallSums::Function& callee = sums_.functions[call.callee];
    if (callee.module != caller.module) {
      out_ += "cob=";
      objects_.append(out_, callee.module.empty() ? "???" : safe_name(callee.module));
      out_ += '\n';
    }
    out_ += "cfi=";
    files_.append(out_, safe_name(callee.file));
    out_ += "\ncfn=";
    functions_.append(out_, names_[call.callee]);
    out_ += "\ncalls=";
    append_integer(out_, std::max<std::int64_t>(call.calls, 0));
    out_ += ' ';
    append_integer(out_, std::max(callee.line, 0));
    out_ += '\n';
    std::vector<std::int64_t> costs(sums_.types.size());
    for (std::size_t t = 0; t < costs.size(); ++t)
      costs[t] = nanos(sums_.cost(sums_.call_total, i, t), t);
    write_costs(call.line > 0 ? call.line : caller.line, costs);
  }

  const CallSums& sums_;
  const std::string& title_;
  BufferedOutput& output_;
  std::string& out_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::size_t>> calls_of_;
  std::vector<std::vector<std::size_t>> lines_of_;
  NameTable objects_;
  NameTable files_;
  NameTable functions_;
  bool had_object_ = false;
};

}  // namespace

Result<ExportNotes> write_callgrind(const ExportInput& input, BufferedOutput& out) {
  Result<CallSums> sums = sum_calls(input.trace, input.weight);
  if (!sums) return sums.error();
  CallgrindWriter(*sums, input.title, out).write();
  ExportNotes notes;
  if (sums->sampled) notes.push_back("numbers of calls are numbers of samples");
  return notes;
}

}  // namespace sonde
