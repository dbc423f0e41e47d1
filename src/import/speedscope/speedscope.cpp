#include "import/speedscope/speedscope.hpp"

#include <simdjson.h>

#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "base/json_writer.hpp"
#include "import/input/read_whole.hpp"
#include "import/text/numbers.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

std::string_view text_member(object from, std::string_view key) {
  std::string_view text;
  return from[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::optional<double> number_of(simdjson::simdjson_result<element> value) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS || !std::isfinite(number)) return std::nullopt;
  return number;
}

// The nanoseconds of a unit of time; 0 for others.
double unit_nanos(std::string_view unit) {
  if (unit == "nanoseconds") return 1;
  if (unit == "microseconds") return 1e3;
  if (unit == "milliseconds") return 1e6;
  if (unit == "seconds") return 1e9;
  return 0;
}

struct Frame {
  StringId name;
  StringId file;
  std::int32_t line = 0;
};

class SpeedscopeReader {
 public:
  explicit SpeedscopeReader(TraceBuilder& builder) : builder_(builder), names_(builder) {}

  void read_frames(array frames) {
    for (const element value : frames) {
      object frame;
      Frame row{builder_.intern("[no name]"), StringId(), 0};
      if (value.get(frame) == simdjson::SUCCESS) {
        std::string_view name;
        if (frame["name"].get(name) == simdjson::SUCCESS) row.name = names_.intern(name);
        if (const auto file = text_member(frame, "file"); !file.empty())
          row.file = names_.intern(file);
        const std::optional<double> line = number_of(frame["line"]);
        if (line && *line >= 0 && *line <= INT32_MAX) row.line = static_cast<std::int32_t>(*line);
      }
      frames_.push_back(row);
    }
  }

  void read_profile(object profile) {
    const std::string_view type = text_member(profile, "type");
    unit_ = text_member(profile, "unit");
    nanos_ = unit_nanos(unit_);
    Track track;
    track.tid = static_cast<std::int64_t>(builder_.track_count());
    track.name = names_.intern(text_member(profile, "name"));
    track_ = builder_.add_track(track);
    if (type == "sampled") {
      read_sampled(profile);
    } else if (type == "evented") {
      read_evented(profile);
    } else {
      lose("profile_unknown",
           "Profiles that are neither sampled nor evented; they were passed over.");
    }
  }

 private:
  void lose(std::string_view name, std::string_view sentence, std::uint64_t count = 1) {
    builder_.losses().add(name, Severity::Warning, sentence, count);
  }

  std::uint32_t sample_type() {
    const auto [at, inserted] = types_.try_emplace(std::string(unit_));
    if (!inserted) return at->second;
    SampleType type;
    const bool timed = nanos_ > 0;
    type.name = builder_.intern(timed ? "time" : unit_ == "bytes" ? "memory" : "weight");
    type.unit = builder_.intern(timed ? "ns" : unit_ == "bytes" ? "bytes" : "");
    type.timed = timed;
    // All units of time are one type.
    for (const auto& [unit, known] : types_) {
      if (timed && unit != unit_ && unit_nanos(unit) > 0) return at->second = known;
    }
    return at->second = builder_.add_sample_type(type);
  }

  // The time of `value` from the start of the file's clock.
  std::optional<Nanos> time_of(double value) const {
    return to_nanos(value, nanos_ > 0 ? nanos_ : 1);
  }

  StackId push(StackId caller, std::uint64_t index) {
    const Frame& frame = frames_[index];
    return builder_.intern_stack({caller, frame.name, frame.file, frame.line});
  }

  void read_sampled(object profile) {
    array samples;
    array weights;
    if (profile["samples"].get(samples) != simdjson::SUCCESS ||
        profile["weights"].get(weights) != simdjson::SUCCESS) {
      return lose("profile_broken", "Profiles without their list of samples or events.");
    }
    const std::uint32_t type = sample_type();
    double at = number_of(profile["startValue"]).value_or(0);
    auto weight_at = weights.begin();
    std::uint64_t unequal = 0;
    for (const element value : samples) {
      ++builder_.meta().file_events;
      std::optional<double> weight;
      if (weight_at != weights.end()) {
        weight = number_of(*weight_at);
        ++weight_at;
      } else {
        ++unequal;
      }
      array frames;
      StackId stack;
      bool usable = weight.has_value() && value.get(frames) == simdjson::SUCCESS;
      if (usable) usable = push_all(frames, stack);
      const std::optional<Nanos> time = nanos_ > 0 ? time_of(at) : std::optional<Nanos>(0);
      if (!usable || !time) {
        lose("sample_unusable",
             "Samples with a frame or a weight that does not exist; they were passed over.");
      } else {
        builder_.add_sample({*time, track_, stack, nanos_ > 0 ? *weight * nanos_ : *weight, type});
      }
      at += weight.value_or(0);
    }
    for (; weight_at != weights.end(); ++weight_at) ++unequal;
    if (unequal > 0) lose("weights_unequal", "There are not as many weights as samples.", unequal);
  }

  bool push_all(array frames, StackId& stack) {
    for (const element frame : frames) {
      std::uint64_t index = 0;
      if (frame.get(index) != simdjson::SUCCESS || index >= frames_.size()) return false;
      stack = push(stack, index);
    }
    return true;
  }

  struct Open {
    std::uint64_t frame;
    StackId stack;
    SliceId slice;  // invalid where the profile becomes samples
  };

  void read_evented(object profile) {
    array events;
    if (profile["events"].get(events) != simdjson::SUCCESS) {
      return lose("profile_broken", "Profiles without their list of samples or events.");
    }
    const bool bytes = unit_ == "bytes";
    if (nanos_ == 0 && !bytes) {
      builder_.losses().add("no_unit", Severity::Info,
                            "Profiles without a unit: one of their units is shown as 1 ns.");
    }
    std::vector<Open> open;
    double last = number_of(profile["startValue"]).value_or(0);
    const auto advance = [&](double at) {
      if (bytes && at > last && !open.empty()) {
        builder_.add_sample({0, track_, open.back().stack, at - last, sample_type()});
      }
      last = at;
    };
    for (const element value : events) {
      ++builder_.meta().file_events;
      object event;
      std::uint64_t frame = 0;
      std::optional<double> at;
      std::string_view type;
      if (value.get(event) == simdjson::SUCCESS) {
        at = number_of(event["at"]);
        type = text_member(event, "type");
      }
      if (!at || (type != "O" && type != "C") || event["frame"].get(frame) != simdjson::SUCCESS ||
          frame >= frames_.size()) {
        lose("event_unusable",
             "Events without a type, a time or a frame that exists; they were passed over.");
        continue;
      }
      if (*at < last) {
        lose("event_out_of_order",
             "Events that lie before the one in front of them; they were moved up to it.");
        at = last;
      }
      advance(*at);
      if (type == "O") {
        // Stacks are for samples; a profile of bytes has no time line.
        const StackId caller = open.empty() ? StackId() : open.back().stack;
        open.push_back({frame, bytes ? push(caller, frame) : StackId(),
                        bytes ? SliceId() : open_slice(frame, *at)});
        continue;
      }
      close(open, frame, *at);
    }
    if (!open.empty()) {
      lose("frame_never_closed",
           "Frames that were never closed; they last until the end of the profile.", open.size());
      const double end = std::max(last, number_of(profile["endValue"]).value_or(last));
      advance(end);
      while (!open.empty()) close_last(open, end);
    }
  }

  // Frames close in the reverse order of their opening. Where they do not, those inside of the
  // closed one end with it.
  void close(std::vector<Open>& open, std::uint64_t frame, double at) {
    constexpr std::size_t kSearch = 64;
    std::size_t i = open.size();
    while (i > 0 && open.size() - i < kSearch && open[i - 1].frame != frame) --i;
    if (i == 0 || open[i - 1].frame != frame) {
      return lose("close_without_open",
                  "Frames that were closed, but not open; the event was passed over.");
    }
    if (i < open.size()) {
      lose("closed_out_of_order",
           "Frames that were closed before those inside of them; these were closed with them.");
    }
    while (open.size() >= i) close_last(open, at);
  }

  // Slices are added when they open, the outer one first: that is how equal times are nested.
  SliceId open_slice(std::uint64_t index, double at) {
    const std::optional<Nanos> start = time_of(at);
    if (!start) {
      lose_time();
      return {};
    }
    const Frame& frame = frames_[index];
    const SliceId slice = builder_.add_slice(*start, 0, track_, frame.name, SliceKind::Other);
    builder_.add_category(slice, builder_.intern("function"));
    if (frame.file.valid()) {
      builder_.add_argument(SliceArg(slice, builder_.intern("file"), frame.file));
    }
    if (frame.line > 0) {
      builder_.add_argument(SliceArg(slice, builder_.intern("line"), std::int64_t{frame.line}));
    }
    return slice;
  }

  void close_last(std::vector<Open>& open, double at) {
    const SliceId slice = open.back().slice;
    open.pop_back();
    if (!slice.valid()) return;
    const std::optional<Nanos> end = time_of(at);
    const Nanos start = builder_.slices().start(slice);
    if (!end || *end - start > kMaxDuration) return lose_time();
    builder_.set_duration(slice, *end - start);
  }

  void lose_time() {
    lose("time_unusable",
         "Frames whose time is beyond what a clock can show; they have no length.");
  }

  TraceBuilder& builder_;
  NamePool names_;
  std::vector<Frame> frames_;
  std::map<std::string, std::uint32_t> types_;
  std::string_view unit_;
  double nanos_ = 0;
  TrackId track_;
};

Error broken(const ImportInput& input, std::string reason) {
  return {ErrorCode::BrokenInput, std::move(reason), input.path, {}, "copy the file again"};
}

}  // namespace

bool looks_like_speedscope(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos || head[first] != '{') return false;
  const auto has = [&](std::string_view part) { return head.find(part) != std::string_view::npos; };
  if (has("speedscope.app/file-format-schema.json") && has("\"$schema\"")) return true;
  return has("\"shared\"") && has("\"frames\"") && has("\"profiles\"") && has("\"startValue\"");
}

Result<Trace> import_speedscope(const ImportInput& input) {
  Result<std::string> text = read_whole(input);
  if (!text) return text.error();
  if (text->starts_with("\xEF\xBB\xBF")) text->erase(0, 3);
  simdjson::dom::parser parser;
  element document;
  const simdjson::error_code failed = parser.parse(text->data(), text->size()).get(document);
  if (failed != simdjson::SUCCESS) {
    return broken(input, std::string("speedscope's format, but no well-formed JSON: ") +
                             simdjson::error_message(failed));
  }
  object root;
  object shared;
  array frames;
  array profiles;
  if (document.get(root) != simdjson::SUCCESS ||
      root["profiles"].get(profiles) != simdjson::SUCCESS) {
    return broken(input, "speedscope's format, but without a list of profiles");
  }
  TraceBuilder builder;
  SpeedscopeReader reader(builder);
  if (root["shared"].get(shared) == simdjson::SUCCESS &&
      shared["frames"].get(frames) == simdjson::SUCCESS) {
    reader.read_frames(frames);
  }
  TraceMeta& meta = builder.meta();
  meta.format = "speedscope";
  meta.producer = "speedscope";
  if (const auto exporter = text_member(root, "exporter"); !exporter.empty()) {
    meta.version = mend_utf8(exporter);
  }
  if (const auto name = text_member(root, "name"); !name.empty()) {
    std::string quoted;
    append_json_string(quoted, mend_utf8(name));
    meta.properties.emplace_back("name", std::move(quoted));
  }
  for (const element value : profiles) {
    object profile;
    if (value.get(profile) == simdjson::SUCCESS) {
      reader.read_profile(profile);
    } else {
      builder.losses().add("profile_unknown", Severity::Warning,
                           "Profiles that are neither sampled nor evented; they were passed over.");
    }
  }
  meta.input_bytes = text->size();
  builder.losses().merge(input.source.losses());
  if (meta.file_events == 0) {
    builder.losses().add("no_events", Severity::Warning,
                         "The profiles are empty: nothing was recorded.");
  }
  builder.nest(1);
  return builder.finish();
}

}  // namespace sonde
