#include "import/tracemalloc/tracemalloc.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "import/pickle/pickle_reader.hpp"
#include "import/text/utf8.hpp"
#include "trace/builder.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kBytes = 0;
constexpr std::uint32_t kBlocks = 1;

class SnapshotReader {
 public:
  explicit SnapshotReader(TraceBuilder& builder) : builder_(builder), names_(builder) {
    builder.add_sample_type({builder.intern("memory"), builder.intern("bytes"), false});
    builder.add_sample_type({builder.intern("blocks"), builder.intern("count"), false});
  }

  // (domain, size, ((file, line), …), number of frames); the number came with Python 3.9.
  void add(PickleValue trace) {
    ++builder_.meta().file_events;
    const std::optional<std::int64_t> domain = trace.item(0).integer();
    const std::optional<std::int64_t> size = trace.item(1).integer();
    const PickleValue frames = trace.item(2);
    if (trace.size() < 3 || !domain || !size || *size < 0) {
      builder_.losses().add("trace_unusable", Severity::Warning,
                            "Blocks whose size or place cannot be read; they were passed over.");
      return;
    }
    const std::optional<std::int64_t> depth = trace.item(3).integer();
    if (depth && *depth > static_cast<std::int64_t>(frames.size())) ++cut_;
    const StackId stack = stack_of(frames);
    const TrackId track = track_of(*domain);
    builder_.add_sample({0, track, stack, static_cast<double>(*size), kBytes});
    builder_.add_sample({0, track, stack, 1, kBlocks});
  }

  std::uint64_t cut() const { return cut_; }

 private:
  // The most recent frame comes first. One traceback serves many blocks: it is read once.
  StackId stack_of(PickleValue frames) {
    const auto [at, inserted] = stacks_.try_emplace(frames.id());
    if (!inserted) return at->second;
    StackId stack;
    for (std::size_t i = frames.size(); i-- > 0;) {
      const PickleValue frame = frames.item(i);
      const std::string_view file = frame.item(0).text();
      const std::int64_t line =
          std::clamp<std::int64_t>(frame.item(1).integer().value_or(0), 0, INT32_MAX);
      // The snapshot knows no functions: a line stands for itself.
      const std::string_view base = file.substr(file.find_last_of("/\\") + 1);
      stack = builder_.intern_stack({stack,
                                     names_.intern(std::string(base) + ":" + std::to_string(line)),
                                     names_.intern(file), static_cast<std::int32_t>(line)});
    }
    return at->second = stack;
  }

  TrackId track_of(std::int64_t domain) {
    const auto [at, inserted] = tracks_.try_emplace(domain);
    if (inserted) {
      Track track;
      track.tid = domain;
      track.name =
          builder_.intern(domain == 0 ? "Python heap" : "domain " + std::to_string(domain));
      at->second = builder_.add_track(track);
    }
    return at->second;
  }

  TraceBuilder& builder_;
  NamePool names_;
  std::unordered_map<std::uint32_t, StackId> stacks_;
  std::map<std::int64_t, TrackId> tracks_;
  std::uint64_t cut_ = 0;
};

}  // namespace

bool looks_like_tracemalloc(std::string_view head) {
  const std::string_view start = head.substr(0, 256);
  return looks_like_pickle(head) && start.find("tracemalloc") != std::string_view::npos &&
         start.find("Snapshot") != std::string_view::npos;
}

Result<Trace> import_tracemalloc(const ImportInput& input) {
  const Result<PickleDocument> document = PickleDocument::read(input.source);
  if (!document) return document.error();
  const PickleValue traces = document->root().state().find("traces").state().find("_traces");
  if (!traces.is(PickleType::List)) {
    return Error{ErrorCode::BrokenInput,
                 "a snapshot of tracemalloc without its list of blocks",
                 input.path,
                 {},
                 "write it with Snapshot.dump()"};
  }
  TraceBuilder builder;
  builder.meta().format = "tracemalloc";
  builder.meta().producer = "Python tracemalloc";
  builder.meta().profile_memory = true;
  builder.meta().input_bytes = document->byte_count();
  SnapshotReader reader(builder);
  for (std::size_t i = 0; i < traces.size(); ++i) reader.add(traces.item(i));
  builder.losses().add("stack_cut", Severity::Info,
                       "Stacks that were deeper than tracemalloc kept; start it with more frames.",
                       reader.cut());
  if (builder.meta().file_events == 0) {
    builder.losses().add("no_events", Severity::Warning, "The snapshot holds no blocks.");
  }
  builder.losses().merge(input.source.losses());
  builder.nest(1);
  return builder.finish();
}

}  // namespace sonde
