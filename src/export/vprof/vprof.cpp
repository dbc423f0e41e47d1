#include "export/vprof/vprof.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/call_sums.hpp"
#include "analysis/call_tree.hpp"
#include "analysis/source_costs.hpp"
#include "base/json_writer.hpp"
#include "export/notes.hpp"
#include "export/stacks/frame_text.hpp"
#include "export/vprof/memory_part.hpp"

namespace sonde {
namespace {

// The viewer takes files of its own version only; this is its last one.
constexpr std::string_view kVprofVersion = "0.38";
// JSON readers allow about a thousand levels, and a frame takes two.
constexpr std::size_t kDeepest = 400;
// As vprof does: longer runs of lines without a cost are left out of longer files.
constexpr std::size_t kLongFile = 100;
constexpr std::size_t kLongRun = 10;

// zlib's checksum, by which the viewer picks colours.
std::uint32_t adler32(std::string_view text) {
  constexpr std::uint32_t kModulus = 65521;
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : text) {
    a = (a + static_cast<unsigned char>(c)) % kModulus;
    b = (b + a) % kModulus;
  }
  return b << 16 | a;
}

std::uint32_t colour_of(std::string_view function, std::string_view file) {
  return adler32(std::string(function) + " @ " + std::string(file));
}

double rounded(double value, double digits) { return std::round(value * digits) / digits; }
double seconds(double nanos) { return rounded(nanos / 1e9, 1e9); }

class VprofWriter {
 public:
  VprofWriter(const ExportInput& input, ExportNotes& notes) : input_(input), notes_(notes) {}

  // Whether there was anything to write.
  bool write() {
    json_.begin_object();
    bool any = write_vprof_memory(input_, object_name(), json_, notes_);
    any = write_flame_graph() || any;
    any = write_heat_map() || any;
    any = write_functions() || any;
    json_.member("version", kVprofVersion);
    json_.end_object();
    const ProcessMemory& memory = input_.trace.process_memory();
    note_left_out(notes_, "places of allocations", memory.sites.size());
    // The objects between the first and the last one are there.
    note_left_out(notes_, "snapshots of objects",
                  memory.snapshots.size() > 2 ? memory.snapshots.size() - 2 : 0);
    return any;
  }

  std::string take() { return json_.take(); }

 private:
  std::string object_name() const { return input_.title + " (module)"; }

  bool write_flame_graph() {
    if (input_.trace.samples().empty()) return false;
    const Result<std::vector<CallTree>> trees =
        build_call_trees(input_.trace, {input_.weight, false});
    if (!trees || trees->front().source != CallTree::Source::Samples) return false;
    const CallTree& tree = trees->front();
    const std::vector<CallTree::Node>& nodes = tree.nodes();
    std::vector<std::int64_t> counts(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) counts[i] = nodes[i].count;
    for (std::size_t i = nodes.size(); i-- > 1;) counts[nodes[i].parent] += counts[i];
    const double weight = tree.totals(tree.main_type)[0];
    const bool time = is_time_unit(tree.types()[tree.main_type].unit);
    const double nanos = time ? weight * nanos_per(tree.types()[tree.main_type].unit) : 0;
    json_.key("c");
    json_.begin_object();
    json_.member("objectName", object_name());
    json_.member("sampleInterval",
                 counts[0] > 0 ? seconds(nanos / static_cast<double>(counts[0])) : 0.0);
    json_.member("runTime", seconds(nanos));
    json_.member("totalSamples", counts[0]);
    json_.member("timestamp", 0);
    json_.key("callStats");
    write_tree(tree, counts);
    json_.end_object();
    return true;
  }

  // The viewer shows one root: where there are several, the title stands above them.
  void write_tree(const CallTree& tree, const std::vector<std::int64_t>& counts) {
    const std::vector<CallTree::Node>& nodes = tree.nodes();
    std::vector<std::vector<std::uint32_t>> children(nodes.size());
    for (std::uint32_t i = 1; i < nodes.size(); ++i) {
      if (counts[i] > 0) children[nodes[i].parent].push_back(i);
    }
    struct Open {
      std::uint32_t node;
      std::size_t next = 0;
    };
    const bool single = children[0].size() == 1 && nodes[0].count == 0;
    const std::uint32_t root = single ? children[0].front() : 0;
    std::vector<Open> path{{root}};
    begin_node(tree, root, counts);
    std::uint64_t cut = 0;
    while (!path.empty()) {
      Open& open = path.back();
      if (open.next == children[open.node].size() || path.size() > kDeepest) {
        if (path.size() > kDeepest) cut += children[open.node].size();
        json_.end_array();
        json_.end_object();
        path.pop_back();
        continue;
      }
      const std::uint32_t child = children[open.node][open.next++];
      begin_node(tree, child, counts);
      path.push_back({child});
    }
    note_left_out(notes_, "calls deeper than 400 frames", cut);
  }

  void begin_node(const CallTree& tree, std::uint32_t node,
                  const std::vector<std::int64_t>& counts) {
    const CallFrame frame =
        node == 0 ? CallFrame{std::string_view(input_.title), {}, 0} : tree.frame_of(node);
    json_.begin_object();
    json_.key("stack");
    json_.begin_array();
    json_.value(frame.name);
    json_.value(frame.file);
    json_.value(frame.line);
    json_.end_array();
    json_.member("sampleCount", counts[node]);
    const double whole = static_cast<double>(std::max<std::int64_t>(counts[0], 1));
    json_.member("samplePercentage", rounded(100 * static_cast<double>(counts[node]) / whole, 10));
    json_.member("colorHash", colour_of(frame.name, frame.file));
    json_.key("children");
    json_.begin_array();
  }

  bool write_heat_map() {
    const SourceCosts costs = source_costs(input_.trace, input_.weight);
    if (!costs.has_cost || costs.cost.unit != "ns") return false;
    double whole = 0;
    for (const SourceFile& file : costs.files) whole += file.cost;
    json_.key("h");
    json_.begin_object();
    json_.member("objectName", object_name());
    json_.member("runTime", seconds(whole));
    json_.key("heatmaps");
    json_.begin_array();
    std::uint64_t without_source = 0;
    for (const SourceFile& file : costs.files) {
      if (file.hits == 0 && !(file.cost > 0)) continue;
      json_.begin_object();
      json_.member("name", file.file);
      json_.key("heatmap");
      json_.begin_object();
      for (const SourceLine& line : file.lines) {
        if (line.hits > 0 || line.cost > 0)
          json_.member(std::to_string(line.line), seconds(line.cost));
      }
      json_.end_object();
      json_.key("executionCount");
      json_.begin_object();
      for (const SourceLine& line : file.lines) {
        if (line.hits > 0 || line.cost > 0) json_.member(std::to_string(line.line), line.hits);
      }
      json_.end_object();
      json_.member("runTime", seconds(file.cost));
      json_.key("srcCode");
      if (!write_source(file)) ++without_source;
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
    if (costs.hits_are_samples) {
      notes_.emplace_back("executions of lines are samples");
    }
    if (without_source > 0) {
      notes_.push_back("files whose source is not on this machine: " +
                       std::to_string(without_source));
    }
    return true;
  }

  bool write_source(const SourceFile& file) {
    const std::vector<std::string> source = read_source(file.file);
    json_.begin_array();
    const auto line_item = [&](std::size_t number, const std::string& text) {
      json_.begin_array();
      json_.value("line");
      json_.value(number);
      json_.value(text);
      json_.end_array();
    };
    std::vector<bool> hot(source.size());
    for (const SourceLine& line : file.lines) {
      const auto at = static_cast<std::size_t>(line.line) - 1;
      if (at < hot.size()) hot[at] = true;
    }
    for (std::size_t i = 0; i < source.size();) {
      std::size_t end = i;
      while (end < source.size() && !hot[end]) ++end;
      if (source.size() >= kLongFile && end - i > kLongRun) {
        json_.begin_array();
        json_.value("skip");
        json_.value(end - i);
        json_.end_array();
        i = end;
        continue;
      }
      for (; i < end; ++i) line_item(i + 1, source[i]);
      if (i < source.size()) {
        line_item(i + 1, source[i]);
        ++i;
      }
    }
    json_.end_array();
    return !source.empty();
  }

  bool write_functions() {
    if (input_.trace.call_profile().empty() || !input_.trace.call_profile().self_known)
      return false;
    const Result<CallSums> sums = sum_calls(input_.trace, "time");
    if (!sums || sums->types.empty()) return false;
    const double unit = nanos_per(sums->types[0].unit);
    const auto time = [&](const std::vector<std::int64_t>& costs, std::size_t f) {
      return static_cast<double>(sums->cost(costs, f, 0)) * unit;
    };
    double whole = 0;
    std::int64_t calls = 0;
    std::int64_t primitive = 0;
    std::vector<std::size_t> order(sums->functions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (const std::size_t f : order) {
      whole += time(sums->function_self, f);
      calls += sums->functions[f].calls;
      primitive += sums->functions[f].primitive_calls;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return time(sums->function_total, a) > time(sums->function_total, b);
    });
    json_.key("p");
    json_.begin_object();
    json_.member("objectName", object_name());
    json_.member("totalTime", seconds(whole));
    json_.member("primitiveCalls", primitive);
    json_.member("totalCalls", calls);
    json_.member("timestamp", 0);
    json_.key("callStats");
    json_.begin_array();
    for (const std::size_t f : order) {
      const CallSums::Function& function = sums->functions[f];
      json_.begin_array();
      json_.value(function.file);
      json_.value(function.line);
      json_.value(function.name);
      json_.value(seconds(time(sums->function_total, f)));
      json_.value(whole > 0 ? rounded(100 * time(sums->function_total, f) / whole, 1e4) : 0.0);
      json_.value(function.calls);
      json_.value(function.primitive_calls);
      json_.value(seconds(time(sums->function_self, f)));
      json_.value(function.file);
      json_.value(colour_of(function.name, function.file));
      json_.end_array();
    }
    json_.end_array();
    json_.end_object();
    return true;
  }

  const ExportInput& input_;
  ExportNotes& notes_;
  JsonWriter json_{JsonWriter::Layout::Indented};
};

}  // namespace

Result<ExportNotes> write_vprof(const ExportInput& input, BufferedOutput& out) {
  ExportNotes notes;
  VprofWriter writer(input, notes);
  if (!writer.write()) {
    return Error{
        ErrorCode::Unsupported,
        "the trace has nothing that vprof shows: neither samples nor lines, functions or memory",
        {},
        {},
        "record a run with 'sonde run --python function,line'"};
  }
  out.write(writer.take());
  out.write("\n");
  return notes;
}

}  // namespace sonde
