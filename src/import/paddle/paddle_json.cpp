#include "import/paddle/json_reader.hpp"
#include "import/paddle/paddle.hpp"
#include "import/trace_event/trace_event.hpp"

namespace sonde {

bool looks_like_paddle_json(std::string_view head) {
  if (!looks_like_trace_events(head)) return false;
  const auto has = [&](std::string_view part) { return head.find(part) != std::string_view::npos; };
  if (has("\"span_indx\"")) return true;
  return has("\"start_time\"") && has("\"end_time\"") &&
         (has("(Python)\"") || has("(C++)\"") || has("\"ProfileStep\""));
}

Result<Trace> import_paddle_json(const ImportInput& input) {
  TraceBuilder builder;
  builder.meta().format = "paddle";
  builder.meta().producer = "PaddlePaddle profiler";
  PaddleAssembler assembler(builder);
  PaddleJsonReader reader(assembler);
  EventSplitter splitter(input.source);
  EventBlock block;
  for (;;) {
    const Result<bool> more = splitter.next(block);
    if (!more) return more.error();
    if (!*more) break;
    reader.read(block);
    if (input.options.progress)
      input.options.progress({input.path, input.source.consumed(), input.disk_bytes});
  }
  if (!splitter.found_events_array()) {
    const bool cut = splitter.ends_early();
    return Error{cut ? ErrorCode::BrokenInput : ErrorCode::UnknownFormat,
                 cut ? "the file ends before its list of events: it was cut"
                     : "JSON, but no trace: it has no \"traceEvents\" list",
                 input.path, splitter.bytes_read(),
                 "export the profile again, or copy the file again"};
  }
  reader.finish();
  reader.read_metadata(splitter.metadata());
  builder.losses().merge(splitter.losses());
  builder.losses().merge(input.source.losses());
  builder.losses().add(
      "no_events", Severity::Warning,
      "The list of events is empty: the profiler recorded nothing, or its file was cut.",
      reader.events() == 0 ? 1 : 0);
  assembler.finish(input.options.threads);
  TraceMeta& meta = builder.meta();
  meta.input_bytes = splitter.bytes_read();
  meta.file_events = reader.events();
  constexpr Nanos kYear2001 = Nanos{1'000'000'000} * 1'000'000'000;
  meta.wall_clock = meta.origin > kYear2001;
  return builder.finish();
}

}  // namespace sonde
