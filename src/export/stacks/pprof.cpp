#include "export/stacks/pprof.hpp"

#include <cmath>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <unordered_map>

#include "analysis/call_tree.hpp"
#include "export/stacks/frame_text.hpp"

namespace sonde {
namespace {

// A sink in front of an exporter's output, for what packs itself.
class OutputSink : public ByteSink {
 public:
  explicit OutputSink(BufferedOutput& out) : out_(out) {}
  std::optional<Error> write(std::string_view bytes) override {
    out_.write(bytes);
    return std::nullopt;
  }

 private:
  BufferedOutput& out_;
};

std::string pprof_unit(const std::string& unit) {
  if (unit == "ns") return "nanoseconds";
  if (unit == "us") return "microseconds";
  if (unit == "ms") return "milliseconds";
  if (unit == "s") return "seconds";
  return unit.empty() ? "count" : unit;
}

// Messages may come in any order: samples first, what they refer to behind them.
class PprofWriter {
 public:
  PprofWriter(const Trace& trace, BufferedOutput& out) : trace_(trace), out_(out) { string(""); }

  void write(const std::vector<CallTree>& trees, bool tracks) {
    const CallTree& first = trees.front();
    // Slices and calls are counted too.
    counts_ = first.source != CallTree::Source::Samples;
    if (counts_)
      value_type(1, first.source == CallTree::Source::Allocations ? "alloc_objects" : "calls",
                 "count");
    for (const CallValueType& type : first.types()) {
      value_type(1, type.name.empty() ? "samples" : type.name, pprof_unit(type.unit));
    }
    for (const CallTree& tree : trees) {
      for (std::uint32_t i = 1; i < tree.nodes().size() && !out_.failed(); ++i)
        sample(tree, i, tracks);
    }
    for (std::size_t i = 0; i < locations_.size(); ++i) location(i);
    for (std::size_t i = 0; i < functions_.size(); ++i) function(i);
    const TraceMeta& meta = trace_.meta();
    std::string rest;
    protozero::pbf_writer tail(rest);
    if (meta.wall_clock) tail.add_int64(9, meta.base_time + meta.origin);
    if (trace_.span_end() > 0) tail.add_int64(10, trace_.span_end());
    const std::string& main = first.types()[first.main_type].name;
    tail.add_int64(14, string(main.empty() ? "samples" : main));
    for (const std::string& text : strings_) tail.add_string(6, text);
    out_.write(rest);
  }

 private:
  struct Function {
    std::int64_t name;
    std::int64_t file;
    std::int64_t line;
  };
  struct Location {
    std::uint64_t function;
    std::int64_t line;
  };

  std::int64_t string(const std::string& text) {
    const auto [at, fresh] =
        string_ids_.try_emplace(text, static_cast<std::int64_t>(strings_.size()));
    if (fresh) strings_.push_back(text);
    return at->second;
  }

  void value_type(protozero::pbf_tag_type tag, const std::string& name, const std::string& unit) {
    std::string text;
    protozero::pbf_writer profile(text);
    {
      protozero::pbf_writer type(profile, tag);
      type.add_int64(1, string(name));
      type.add_int64(2, string(unit));
    }
    out_.write(text);
  }

  std::uint64_t location_of(const CallFrame& frame) {
    const std::int64_t name = string(std::string(frame.name.empty() ? "(unnamed)" : frame.name));
    const std::int64_t file = string(std::string(frame.file));
    const auto [function, fresh] = function_ids_.try_emplace({name, file}, functions_.size() + 1);
    if (fresh) functions_.push_back({name, file, frame.line});
    Function& known = functions_[function->second - 1];
    if (frame.line > 0 && (known.line == 0 || frame.line < known.line)) known.line = frame.line;
    const auto [location, new_location] =
        location_ids_.try_emplace({function->second, frame.line}, locations_.size() + 1);
    if (new_location) locations_.push_back({function->second, frame.line});
    return location->second;
  }

  void sample(const CallTree& tree, std::uint32_t node, bool tracks) {
    std::vector<std::int64_t> values;
    if (counts_) values.push_back(tree.nodes()[node].count);
    bool any = counts_ && values[0] != 0;
    for (std::size_t t = 0; t < tree.types().size(); ++t) {
      const double self = tree.self(node, t);
      values.push_back(std::fabs(self) < 9e18 ? std::llround(self) : 0);
      any = any || values.back() != 0;
    }
    if (!any) return;
    std::vector<std::uint64_t> way;
    for (std::uint32_t at = node; at != 0; at = tree.nodes()[at].parent)
      way.push_back(location_of(tree.frame_of(at)));
    std::string text;
    protozero::pbf_writer profile(text);
    {
      protozero::pbf_writer message(profile, 2);
      message.add_packed_uint64(1, way.begin(), way.end());
      message.add_packed_int64(2, values.begin(), values.end());
      if (tracks) {
        const Track& track = trace_.track(tree.track);
        label(message, "thread name", tree.title);
        if (track.tid != 0) label(message, "thread id", track.tid);
        if (track.pid != 0) label(message, "pid", track.pid);
      }
    }
    out_.write(text);
  }

  void label(protozero::pbf_writer& sample, const std::string& key, const std::string& value) {
    protozero::pbf_writer message(sample, 3);
    message.add_int64(1, string(key));
    message.add_int64(2, string(value));
  }
  void label(protozero::pbf_writer& sample, const std::string& key, std::int64_t value) {
    protozero::pbf_writer message(sample, 3);
    message.add_int64(1, string(key));
    message.add_int64(3, value);
  }

  void location(std::size_t i) {
    std::string text;
    protozero::pbf_writer profile(text);
    {
      protozero::pbf_writer message(profile, 4);
      message.add_uint64(1, i + 1);
      protozero::pbf_writer line(message, 4);
      line.add_uint64(1, locations_[i].function);
      if (locations_[i].line > 0) line.add_int64(2, locations_[i].line);
    }
    out_.write(text);
  }

  void function(std::size_t i) {
    std::string text;
    protozero::pbf_writer profile(text);
    {
      protozero::pbf_writer message(profile, 5);
      message.add_uint64(1, i + 1);
      message.add_int64(2, functions_[i].name);
      message.add_int64(3, functions_[i].name);
      message.add_int64(4, functions_[i].file);
      if (functions_[i].line > 0) message.add_int64(5, functions_[i].line);
    }
    out_.write(text);
  }

  const Trace& trace_;
  BufferedOutput& out_;
  bool counts_ = false;
  std::vector<std::string> strings_;
  std::unordered_map<std::string, std::int64_t> string_ids_;
  std::vector<Function> functions_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> function_ids_;
  std::vector<Location> locations_;
  std::map<std::pair<std::uint64_t, std::int32_t>, std::uint64_t> location_ids_;
};

}  // namespace

Result<ExportNotes> write_pprof(const ExportInput& input, BufferedOutput& out) {
  Result<std::vector<CallTree>> trees = build_call_trees(input.trace, {input.weight, true});
  if (!trees) return trees.error();
  OutputSink below(out);
  const std::unique_ptr<ByteSink> packer = make_packer(Packing::Gzip, below);
  BufferedOutput packed(*packer);
  PprofWriter(input.trace, packed).write(*trees, trees->front().track.valid());
  if (std::optional<Error> error = packed.finish()) return *error;
  ExportNotes notes;
  if (trees->front().estimated)
    notes.push_back("the profile knows callers, not stacks: deeper frames are an estimate");
  return notes;
}

}  // namespace sonde
