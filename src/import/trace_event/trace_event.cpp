#include "import/trace_event/trace_event.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "import/json/pipeline.hpp"
#include "import/json/space.hpp"
#include "import/trace_event/assembler.hpp"

namespace sonde {
namespace {

// Batches that were put together, for the next blocks: their memory is worth more than they are.
class SpareBatches {
 public:
  std::unique_ptr<Batch> take() {
    const std::lock_guard lock(mutex_);
    if (spares_.empty()) return nullptr;
    std::unique_ptr<Batch> batch = std::move(spares_.back());
    spares_.pop_back();
    return batch;
  }

  void give(Batch&& batch) {
    auto spare = std::make_unique<Batch>(std::move(batch));
    spare->clear();
    const std::lock_guard lock(mutex_);
    spares_.push_back(std::move(spare));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Batch>> spares_;
};

unsigned thread_count(const LoadOptions& options) {
  const unsigned wanted =
      options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
  return std::clamp(wanted, 1u, 16u);
}

}  // namespace

bool looks_like_trace_events(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  std::size_t i = skip_space(head, 0);
  if (i >= head.size()) return false;
  if (head[i] == '{') {
    i = skip_space(head, i + 1);
    return i >= head.size() || head[i] == '"' || head[i] == '}';
  }
  if (head[i] != '[') return false;
  i = skip_space(head, i + 1);
  return i >= head.size() || head[i] == '{' || head[i] == ']';
}

Result<EventFileFacts> read_trace_events(const ImportInput& input, Dialect dialect,
                                         TraceBuilder& builder, PairHalves pair) {
  const unsigned threads = thread_count(input.options);
  EventSplitter splitter(input.source);
  // A thread's own strings are let go when they take this much, so that names that never come again
  // do not lie around in every thread.
  const std::size_t most_strings =
      builder.selection() == nullptr ? std::size_t{16} << 20 : std::size_t{2} << 20;
  std::vector<EventReader> readers;
  for (std::size_t i = 0; i < threads; ++i) readers.emplace_back(i, dialect, most_strings);
  SpareBatches spares;
  EventAssembler assembler(builder, std::move(pair));

  BlockPipeline<Batch> pipeline{
      splitter, threads,
      [&](std::size_t worker, const EventBlock& block) {
        return readers[worker].read(block, spares.take());
      },
      [&](Batch& batch) {
        const double done =
            input.disk_bytes == 0 ? 0 : double(batch.disk_offset) / double(input.disk_bytes);
        if (builder.selection() == nullptr)
          builder.make_room(batch.records.size(), batch.operators.size(), batch.launches.size(),
                            batch.device_work.size(), done);
        assembler.append(batch);
        spares.give(std::move(batch));
      },
      [&] {
        if (input.options.progress) {
          input.options.progress({input.path, input.source.consumed(), input.disk_bytes});
        }
      }};
  Result<bool> ran = pipeline.run();
  if (!ran) return ran.error();

  builder.losses().merge(splitter.losses());
  builder.losses().merge(input.source.losses());
  builder.meta().input_bytes = splitter.bytes_read();
  builder.meta().file_events = assembler.events();
  builder.losses().add(
      "no_events", Severity::Warning,
      "The list of events is empty: the profiler recorded nothing, or its file was cut.",
      splitter.found_events_array() && assembler.events() == 0 ? 1 : 0);
  assembler.finish(threads, splitter.metadata());

  if (!splitter.found_events_array() && splitter.ends_early()) {
    return Error{ErrorCode::BrokenInput, "the file ends before its list of events: it was cut",
                 input.path, splitter.bytes_read(), "nothing could be read; copy the file again"};
  }
  if (!splitter.found_events_array()) {
    return Error{ErrorCode::UnknownFormat,
                 "JSON, but no trace: it has no \"traceEvents\" list",
                 input.path,
                 {},
                 "Sonde reads trace-event JSON: {\"traceEvents\": […]} or […]"};
  }
  return EventFileFacts{splitter.metadata(), assembler.has_backward_flows()};
}

}  // namespace sonde
