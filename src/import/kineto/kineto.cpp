#include "import/kineto/kineto.hpp"

#include "import/kineto/metadata.hpp"
#include "import/trace_event/correlation.hpp"
#include "import/trace_event/trace_event.hpp"

namespace sonde {
namespace {

// What Sonde writes of other sources has Kineto's categories, but neither its clock nor its rules.
constexpr std::string_view kWrittenBySonde = R"("otherData": {"writer": "sonde")";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

bool looks_like_kineto(std::string_view head) {
  if (!looks_like_trace_events(head) || contains(head, kWrittenBySonde)) return false;
  return contains(head, "\"schemaVersion\"") || contains(head, "\"deviceProperties\"") ||
         contains(head, "\"baseTimeNanoseconds\"") || contains(head, "\"External id\"") ||
         contains(head, "\"external id\"") || contains(head, "\"cpu_op\"") ||
         contains(head, "\"cuda_runtime\"") || contains(head, "\"CPU functions\"");
}

Result<Trace> import_kineto(const ImportInput& input) {
  TraceBuilder builder;
  builder.select(input.options.selection);
  builder.meta().format = "kineto";
  builder.meta().producer = "PyTorch profiler (Kineto)";
  Result<EventFileFacts> facts = read_trace_events(input, Dialect::Kineto, builder);
  if (!facts) return facts.error();
  read_kineto_metadata(facts->metadata, builder);
  guess_kineto_origin(builder);
  link_by_correlation(builder);
  if (!facts->has_backward_flows) link_by_sequence(builder);
  return builder.finish();
}

}  // namespace sonde
