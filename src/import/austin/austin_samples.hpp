#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "import/text/utf8.hpp"
#include "trace/builder.hpp"

namespace sonde {

// What one sample measured; which of them are there depends on Austin's mode.
struct AustinMetrics {
  std::optional<double> micros;
  std::optional<double> bytes;
  bool idle = false;
};

// Puts Austin's samples into a trace, whichever format they come from. The mode decides about the
// kinds of weights: time on the wall or on the CPU, bytes, or all three of them.
class AustinSamples {
 public:
  explicit AustinSamples(TraceBuilder& builder) : builder_(builder), names_(builder) {}

  // "mode", "wall" and the like.
  void add_metadata(std::string_view key, std::string_view value);
  // `interpreter` is -1 where the file has none; `thread` is Austin's own text.
  TrackId track(std::int64_t pid, std::int64_t interpreter, std::string_view thread);
  StackId push(StackId caller, std::string_view function, std::string_view file, std::int64_t line);
  void add(TrackId track, StackId stack, const AustinMetrics& metrics);

 private:
  std::uint32_t type(std::string_view name, std::string_view unit);

  TraceBuilder& builder_;
  NamePool names_;
  std::string mode_ = "wall";
  std::map<std::string, std::uint32_t, std::less<>> types_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, TrackId> tracks_;
};

}  // namespace sonde
