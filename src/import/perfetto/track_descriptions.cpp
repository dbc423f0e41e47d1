#include <algorithm>
#include <iterator>

#include "import/json/json_document.hpp"
#include "import/perfetto/tracks.hpp"

namespace sonde::perfetto_import {

// {"sonde": {"type": "stream", "pid": 1, …}}; any other text is for people.
void TrackTable::read_description(std::string_view text, Descriptor& descriptor) {
  using Stated = Descriptor::Stated;
  constexpr std::string_view kBegin = R"({"sonde": {)";
  constexpr std::size_t kMost = std::size_t{1} << 20;
  if (!text.starts_with(kBegin) || text.size() > kMost) return;
  simdjson::dom::parser parser;
  simdjson::dom::element facts;
  if (parser.parse(text.data(), text.size())["sonde"].get(facts) != simdjson::SUCCESS) return;
  const auto name = [&](std::string_view key) {
    const std::string_view content = json_text(json_member(facts, key));
    return content.empty() ? StringId() : names_.intern(content);
  };
  const std::string_view type = json_text(json_member(facts, "type"));
  if (type == "lane") descriptor.stated = Stated::Lane;
  // The counter's track has a type of its own: what is counted is told by name.
  if (type == "counter" && json_member(facts, "series").is_string()) {
    descriptor.stated = Stated::Counter;
    descriptor.counter_name = name("counter");
    descriptor.counter_series = name("series");
    return;
  }
  constexpr std::string_view kTypes[] = {"thread", "stream", "async", "span", "counter"};
  const auto known = std::find(std::begin(kTypes), std::end(kTypes), type);
  if (type != "process" && known == std::end(kTypes)) return;
  Track& track = descriptor.facts;
  track.type = type == "process" ? TrackType::Async
                                 : static_cast<TrackType>(std::distance(std::begin(kTypes), known));
  descriptor.stated = type == "process" ? Stated::Process : Stated::Track;
  track.pid = json_integer(json_member(facts, "pid"), 0);
  track.tid = json_integer(json_member(facts, "tid"), 0);
  const std::int64_t device = json_integer(json_member(facts, "device"), -1);
  if (device >= 0 && device <= INT32_MAX) track.device = static_cast<std::int32_t>(device);
  track.sort_index = json_integer(json_member(facts, "sort_index"));
  track.process = name("process");
  track.labels = name("labels");
  track.name = name("name");
}

}  // namespace sonde::perfetto_import
