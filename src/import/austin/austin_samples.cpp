#include "import/austin/austin_samples.hpp"

#include <algorithm>
#include <cmath>

#include "base/json_writer.hpp"
#include "import/text/numbers.hpp"

namespace sonde {

void AustinSamples::add_metadata(std::string_view key, std::string_view value) {
  TraceMeta& meta = builder_.meta();
  const std::string text = mend_utf8(value.substr(0, 4096));
  if (key == "mode") mode_ = text;
  if (key == "austin") meta.version = "Austin " + text;
  if (key == "python" && !text.empty()) {
    meta.version += (meta.version.empty() ? "Python " : ", Python ") + text;
  }
  constexpr std::size_t kMaxProperties = 100;
  if (meta.properties.size() >= kMaxProperties) return;
  std::string quoted;
  append_json_string(quoted, text);
  meta.properties.emplace_back(mend_utf8(key.substr(0, 256)), std::move(quoted));
}

TrackId AustinSamples::track(std::int64_t pid, std::int64_t interpreter, std::string_view thread) {
  const auto [at, inserted] = tracks_.try_emplace({pid, interpreter, std::string(thread)});
  if (inserted) {
    Track track;
    track.pid = pid;
    // Austin has thread ids in hexadecimal.
    track.tid = parse_integer(thread, 16).value_or(static_cast<std::int64_t>(tracks_.size()));
    std::string name = "thread ";
    if (interpreter > 0) name = "interpreter " + std::to_string(interpreter) + ", thread ";
    track.name = names_.intern(name + std::string(thread));
    at->second = builder_.add_track(track);
  }
  return at->second;
}

StackId AustinSamples::push(StackId caller, std::string_view function, std::string_view file,
                            std::int64_t line) {
  return builder_.intern_stack(
      {caller, names_.intern(function.empty() ? "[unknown]" : function),
       file.empty() ? StringId() : names_.intern(file),
       static_cast<std::int32_t>(std::clamp<std::int64_t>(line, 0, INT32_MAX))});
}

std::uint32_t AustinSamples::type(std::string_view name, std::string_view unit) {
  const auto known = types_.find(name);
  if (known != types_.end()) return known->second;
  const std::uint32_t id =
      builder_.add_sample_type({builder_.intern(name), builder_.intern(unit), false});
  types_.emplace(name, id);
  return id;
}

void AustinSamples::add(TrackId track, StackId stack, const AustinMetrics& metrics) {
  ++builder_.meta().file_events;
  const bool full = metrics.micros && metrics.bytes;
  if (metrics.micros) {
    const double nanos = *metrics.micros * 1000;
    const std::uint32_t wall = type(mode_ == "cpu" ? "cpu" : "wall", "ns");
    builder_.add_sample({0, track, stack, nanos, wall});
    if (full && !metrics.idle) builder_.add_sample({0, track, stack, nanos, type("cpu", "ns")});
  }
  if (metrics.bytes && (!full || *metrics.bytes != 0)) {
    builder_.add_sample({0, track, stack, *metrics.bytes, type("memory", "bytes")});
  }
}

}  // namespace sonde
