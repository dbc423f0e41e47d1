#include "import/chrome/chrome.hpp"

#include "import/trace_event/correlation.hpp"
#include "import/trace_event/trace_event.hpp"

namespace sonde {

bool looks_like_chrome(std::string_view head) { return looks_like_trace_events(head); }

Result<Trace> import_chrome(const ImportInput& input) {
  TraceBuilder builder;
  builder.select(input.options.selection);
  builder.meta().format = "chrome";
  builder.meta().producer = "Chrome trace-event JSON";
  Result<EventFileFacts> facts = read_trace_events(input, Dialect::Chrome, builder);
  if (!facts) return facts.error();
  for (const auto& [key, value] : facts->metadata) {
    constexpr std::size_t kMaxKept = 4096;
    if (key != "stackFrames" && key != "samples") {
      builder.meta().properties.emplace_back(key, value.substr(0, kMaxKept));
    }
  }
  link_by_correlation(builder);
  return builder.finish();
}

}  // namespace sonde
