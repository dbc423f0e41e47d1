#include "import/trace_event/samples.hpp"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <string>
#include <unordered_map>

#include "import/json/json_cursor.hpp"

namespace sonde {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

std::string text_of(element value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  std::int64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return std::to_string(number);
  return {};
}

// Some writers put all numbers in quotes.
bool number_of(element value, double& out) {
  if (value.get(out) == simdjson::SUCCESS) return std::isfinite(out);
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return false;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && std::isfinite(out);
}

bool time_of(element value, Nanos& out) {
  std::int64_t whole = 0;
  if (value.get(whole) == simdjson::SUCCESS) return micros_to_nanos(std::to_string(whole), out);
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return micros_to_nanos(text, out);
  double micros = 0;
  if (value.get(micros) != simdjson::SUCCESS || !(std::fabs(micros) <= 4e15)) return false;
  out = static_cast<Nanos>(std::llround(micros * 1000));
  return true;
}

std::string member_text(object from, std::string_view key) {
  element value;
  return from[key].get(value) == simdjson::SUCCESS ? text_of(value) : std::string();
}

std::int32_t line_of(object frame) {
  std::int64_t line = 0;
  if (frame["line"].get(line) != simdjson::SUCCESS || line < 0 || line > INT32_MAX) return 0;
  return static_cast<std::int32_t>(line);
}

// stackFrames: {"7": {"name": …, "category": …, "parent": "6"}, …}; Sonde writes a "line" besides.
class FrameTable {
 public:
  FrameTable(TraceBuilder& builder, object frames) : builder_(builder) {
    for (const auto& [id, value] : frames) {
      object frame;
      if (value.get(frame) != simdjson::SUCCESS) continue;
      frames_.emplace(std::string(id), Frame{member_text(frame, "name"),
                                             member_text(frame, "category"),
                                             member_text(frame, "parent"),
                                             line_of(frame),
                                             {},
                                             false});
    }
  }

  // Walks up to the first frame that is interned already, then down again: no recursion, and a
  // ring of parents ends where it meets itself.
  StackId stack(const std::string& id) {
    std::vector<Frame*> chain;
    StackId caller;
    for (auto at = frames_.find(id); at != frames_.end(); at = frames_.find(at->second.parent)) {
      Frame& frame = at->second;
      if (frame.stack.valid()) {
        caller = frame.stack;
        break;
      }
      if (frame.visited) break;
      frame.visited = true;
      chain.push_back(&frame);
    }
    for (auto frame = chain.rbegin(); frame != chain.rend(); ++frame) {
      caller = builder_.intern_stack({caller, builder_.intern((*frame)->name),
                                      builder_.intern((*frame)->category), (*frame)->line});
      (*frame)->stack = caller;
    }
    return caller;
  }

 private:
  struct Frame {
    std::string name;
    std::string category;
    std::string parent;
    std::int32_t line = 0;
    StackId stack;
    bool visited = false;
  };
  TraceBuilder& builder_;
  std::unordered_map<std::string, Frame> frames_;
};

const std::string* raw_value(const Metadata& metadata, std::string_view key) {
  for (const auto& [name, value] : metadata) {
    if (name == key) return &value;
  }
  return nullptr;
}

void add_sample_list(TraceBuilder& builder, FrameTable& frames, const std::string& raw) {
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  if (parser.parse(raw).get(list) != simdjson::SUCCESS) return;
  std::unordered_map<std::string, TrackId> tracks;
  std::uint64_t unusable = 0;
  for (const element entry : list) {
    object sample;
    element at;
    Nanos time = 0;
    if (entry.get(sample) != simdjson::SUCCESS || sample["ts"].get(at) != simdjson::SUCCESS ||
        !time_of(at, time)) {
      ++unusable;
      continue;
    }
    const std::string tid = member_text(sample, "tid");
    auto [track, fresh] = tracks.try_emplace(tid);
    if (fresh) {
      Track made;
      made.name = builder.intern(tid.empty() ? "samples" : "samples of thread " + tid);
      track->second = builder.add_track(made);
    }
    double weight = 1;
    if (sample["weight"].get(at) == simdjson::SUCCESS && !number_of(at, weight)) weight = 1;
    if (builder.takes(Point::Sample, time))
      builder.add_sample({time, track->second, frames.stack(member_text(sample, "sf")), weight});
  }
  builder.losses().add("sample_unusable", Severity::Warning,
                       "Samples without a usable time; they were passed over.", unusable);
}

}  // namespace

void add_samples(TraceBuilder& builder, const std::vector<PendingSample>& samples,
                 const Metadata& metadata) {
  const std::string* raw_frames = raw_value(metadata, "stackFrames");
  const std::string* raw_samples = raw_value(metadata, "samples");
  if (samples.empty() && raw_samples == nullptr) return;
  simdjson::dom::parser parser;
  object frame_object;
  const bool has_frames =
      raw_frames != nullptr && parser.parse(*raw_frames).get(frame_object) == simdjson::SUCCESS;
  simdjson::dom::parser empty_parser;
  if (!has_frames && empty_parser.parse(std::string("{}")).get(frame_object) != simdjson::SUCCESS)
    return;
  FrameTable frames(builder, frame_object);
  for (const PendingSample& sample : samples) {
    StackId stack = frames.stack(std::string(builder.text(sample.frame)));
    if (!stack.valid())
      stack = builder.intern_stack({StackId(), sample.name, StringId(std::uint32_t{0}), 0});
    builder.add_sample({sample.time, sample.track, stack, sample.weight});
  }
  if (raw_samples != nullptr) add_sample_list(builder, frames, *raw_samples);
}

}  // namespace sonde
