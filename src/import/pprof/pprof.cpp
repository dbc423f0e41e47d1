#include "import/pprof/pprof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/json_writer.hpp"
#include "import/input/read_whole.hpp"
#include "import/pprof/pprof_tables.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

constexpr std::size_t kMaxTypes = 64;

std::int32_t line_of(std::int64_t line) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(line, 0, INT32_MAX));
}

// What a unit is called in a trace, and how many of them one of the file's units is.
struct Unit {
  std::string_view name;
  double factor = 1;
};

Unit unit_of(std::string_view unit) {
  if (unit == "nanoseconds" || unit == "nanosecond" || unit == "ns") return {"ns", 1};
  if (unit == "microseconds" || unit == "us") return {"ns", 1e3};
  if (unit == "milliseconds" || unit == "ms") return {"ns", 1e6};
  if (unit == "seconds" || unit == "s") return {"ns", 1e9};
  if (unit == "bytes" || unit == "byte") return {"bytes", 1};
  if (unit == "kilobytes") return {"bytes", 1024};
  if (unit == "megabytes") return {"bytes", 1024.0 * 1024};
  return {unit, 1};
}

class PprofReader {
 public:
  PprofReader(const PprofTables& tables, TraceBuilder& builder)
      : tables_(tables), builder_(builder), names_(builder) {}

  void read() {
    add_types();
    PprofSample sample;
    for (const std::string_view message : tables_.samples) {
      ++builder_.meta().file_events;
      if (!read_pprof_sample(message, tables_, sample)) {
        lose("sample_unusable", "Samples that cannot be read; they were passed over.");
        continue;
      }
      add_sample(sample);
    }
  }

 private:
  void lose(std::string_view name, std::string_view sentence) {
    builder_.losses().add(name, Severity::Warning, sentence);
  }

  void add_types() {
    for (const PprofTables::ValueType& type : tables_.types) {
      if (factors_.size() == kMaxTypes) {
        lose("too_many_types", "More than 64 types of values; the rest was passed over.");
        break;
      }
      const Unit unit = unit_of(tables_.text(type.unit));
      factors_.push_back(unit.factor);
      builder_.add_sample_type(
          {names_.intern(tables_.text(type.type)), names_.intern(unit.name), false});
    }
  }

  void add_sample(const PprofSample& sample) {
    if (sample.values.size() != tables_.types.size()) {
      lose("values_unequal", "Samples that have not one value for each type.");
    }
    builder_.losses().add("labels_left_out", Severity::Info,
                          "Labels of samples other than thread and process; they are not shown.",
                          sample.other_labels);
    StackId stack;
    for (std::size_t i = sample.locations.size(); i-- > 0;) {
      stack = push_location(stack, sample.locations[i]);
    }
    const TrackId track = track_of(sample);
    const std::size_t count = std::min(sample.values.size(), factors_.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (sample.values[i] == 0) continue;  // Go writes all types with every sample
      builder_.add_sample({0, track, stack, static_cast<double>(sample.values[i]) * factors_[i],
                           static_cast<std::uint32_t>(i)});
    }
  }

  StackId push_location(StackId stack, std::uint64_t id) {
    const auto known = tables_.locations.find(id);
    if (known == tables_.locations.end()) {
      lose("location_missing", "Frames whose place is not in the file.");
      return builder_.intern_stack({stack, builder_.intern("[unknown]"), StringId(), 0});
    }
    const PprofTables::Location& location = known->second;
    const StringId object = object_of(location.mapping);
    if (location.line_count == 0) {
      return builder_.intern_stack(
          {stack, builder_.intern(fmt::format("{:#x}", location.address)), object, 0});
    }
    for (std::uint32_t i = location.line_count; i-- > 0;) {
      const PprofTables::Line& line = tables_.lines[location.first_line + i];
      const auto found = tables_.functions.find(line.function);
      PprofTables::Function function;
      if (found == tables_.functions.end()) {
        lose("function_missing", "Frames whose function is not in the file.");
      } else {
        function = found->second;
      }
      std::string_view name = tables_.text(function.name);
      if (name.empty()) name = tables_.text(function.system_name);
      const std::string_view file = tables_.text(function.file);
      stack =
          builder_.intern_stack({stack, names_.intern(name.empty() ? "[unknown]" : name),
                                 file.empty() ? object : names_.intern(file), line_of(line.line)});
    }
    return stack;
  }

  StringId object_of(std::uint64_t mapping) {
    const auto found = tables_.mappings.find(mapping);
    if (found == tables_.mappings.end()) return {};
    const std::string_view file = tables_.text(found->second);
    return file.empty() ? StringId() : names_.intern(file);
  }

  TrackId track_of(const PprofSample& sample) {
    const StringId name = names_.intern(sample.thread_name);
    const auto [at, inserted] = tracks_.try_emplace({sample.pid, sample.thread_id, name});
    if (inserted) {
      Track track;
      track.pid = sample.pid;
      track.tid = sample.thread_id;
      track.name = name;
      at->second = builder_.add_track(track);
    }
    return at->second;
  }

  const PprofTables& tables_;
  TraceBuilder& builder_;
  NamePool names_;
  std::vector<double> factors_;
  std::map<std::tuple<std::int64_t, std::int64_t, StringId>, TrackId> tracks_;
};

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, mend_utf8(text));
  return out;
}

// Follows the fields of a message from its start: the number of fields that a Profile may begin
// with.
class FieldWalk {
 public:
  explicit FieldWalk(std::string_view bytes) : bytes_(bytes) {}

  bool varint(std::uint64_t& out) {
    out = 0;
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      out |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool skip(std::uint64_t count) {
    if (count > bytes_.size() - at_) return false;
    at_ += static_cast<std::size_t>(count);
    return true;
  }
  bool ended() const { return at_ >= bytes_.size(); }
  std::string_view rest() const { return bytes_.substr(at_); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// A ValueType holds two small numbers and nothing else.
bool is_value_type(std::string_view message) {
  FieldWalk walk(message);
  while (!walk.ended()) {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    if (!walk.varint(key) || !walk.varint(value)) return false;
    if ((key != 0x08 && key != 0x10) || value > 1'000'000) return false;
  }
  return true;
}

}  // namespace

// The message has no mark of its own: it begins with the types of its values, two numbers each, and
// goes on with samples or mappings.
bool looks_like_pprof(std::string_view head) {
  FieldWalk walk(head);
  std::size_t types = 0;
  for (std::size_t fields = 0; fields < 100 && !walk.ended(); ++fields) {
    std::uint64_t key = 0;
    std::uint64_t size = 0;
    if (!walk.varint(key)) return types > 0 && fields > 1;
    const std::uint64_t tag = key >> 3;
    if (tag == 0 || tag > 15) return false;
    if ((key & 7) == 0) {
      if (tag < 7 || !walk.varint(size)) return false;
      continue;
    }
    if ((key & 7) != 2 || (tag > 6 && tag != 11 && tag != 13)) return false;
    if (!walk.varint(size)) return types > 0 && fields > 1;
    if (tag == 1) {
      if (size > 22 || !is_value_type(walk.rest().substr(0, size))) return false;
      ++types;
    } else if (types == 0 && fields == 0) {
      return false;  // other messages begin with longer fields
    }
    if (!walk.skip(size)) return types > 0 && head.size() >= kHeadBytes;
  }
  return types > 0;
}

Result<Trace> import_pprof(const ImportInput& input) {
  Result<std::string> bytes = read_whole(input);
  if (!bytes) return bytes.error();
  PprofTables tables;
  const bool whole = read_pprof_tables(*bytes, tables);
  if (tables.types.empty() || (!whole && tables.strings.empty())) {
    return Error{ErrorCode::BrokenInput,
                 "looks like a profile of pprof, but breaks off before its table of texts",
                 input.path,
                 {},
                 "nothing could be read; copy the file again"};
  }
  TraceBuilder builder;
  TraceMeta& meta = builder.meta();
  meta.format = "pprof";
  meta.producer = "pprof";
  meta.input_bytes = bytes->size();
  if (tables.duration_nanos > 0) {
    meta.properties.emplace_back("duration_ns", std::to_string(tables.duration_nanos));
  }
  if (tables.time_nanos > 0) {
    meta.properties.emplace_back("time_ns", std::to_string(tables.time_nanos));
  }
  if (tables.period > 0) {
    meta.properties.emplace_back(
        "period",
        quoted(fmt::format("{} {} {}", tables.period, tables.text(tables.period_type.type),
                           tables.text(tables.period_type.unit))));
  }
  for (const std::int64_t comment : tables.comments) {
    if (meta.properties.size() >= 100) break;
    meta.properties.emplace_back("comment", quoted(tables.text(comment)));
  }
  if (!whole) {
    builder.losses().add(
        "profile_cut", Severity::Error,
        "The profile breaks off: it was cut or damaged. What came before is shown.");
  }
  PprofReader(tables, builder).read();
  if (meta.file_events == 0) {
    builder.losses().add("no_events", Severity::Warning, "The profile has no samples.");
  }
  builder.losses().merge(input.source.losses());
  builder.nest(1);
  return builder.finish();
}

}  // namespace sonde
