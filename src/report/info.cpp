#include "report/info.hpp"

#include <fmt/format.h>

#include <set>

#include "analysis/trace_facts.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kTracksForPeople = 20;

std::string_view track_type_name(TrackType type) {
  switch (type) {
    case TrackType::Thread:
      return "thread";
    case TrackType::Stream:
      return "stream";
    case TrackType::Async:
      return "async";
    case TrackType::Span:
      return "span";
    case TrackType::Counter:
      return "counter";
  }
  return "";
}

std::string recorded_with(const TraceMeta& meta) {
  std::string out;
  const auto add = [&](bool on, const char* name) {
    if (on) out += (out.empty() ? "" : ", ") + std::string(name);
  };
  add(meta.record_shapes, "record_shapes");
  add(meta.profile_memory, "profile_memory");
  add(meta.with_stack, "with_stack");
  add(meta.with_modules, "with_modules");
  add(meta.with_flops, "with_flops");
  return out;
}

Block file_block(const NamedTrace& named, const TraceFacts& counted) {
  const Trace& trace = named.trace;
  const TraceMeta& meta = trace.meta();
  Facts facts;
  facts.push_back(
      {"path", "File", named.path == "-" ? "standard input" : named.path, CellType::Text, ""});
  facts.push_back({"format", "Format", meta.format, CellType::Text, ""});
  facts.push_back({"producer", "Producer", meta.producer.empty() ? Cell() : Cell(meta.producer),
                   CellType::Text, ""});
  facts.push_back({"version", "Version", meta.version.empty() ? Cell() : Cell(meta.version),
                   CellType::Text, ""});
  if (meta.rank >= 0) {
    facts.push_back(
        {"rank", "Rank", meta.rank, CellType::Integer,
         meta.world_size > 0 ? fmt::format("{} of {}", meta.rank, meta.world_size) : ""});
    facts.push_back({"world_size", "World size",
                     meta.world_size > 0 ? Cell(meta.world_size) : Cell(), CellType::Integer, ""});
  }
  if (!meta.backend.empty()) {
    facts.push_back({"backend", "Backend", meta.backend, CellType::Text, ""});
  }
  facts.push_back({"span_ns", "Span", trace.span_end(), CellType::Duration, ""});
  if (meta.wall_clock) {
    const Nanos start = meta.base_time + meta.origin;
    facts.push_back({"start_unix_ns", "Start", start, CellType::Integer, format_utc(start)});
  }
  facts.push_back({"steps", "Steps", count_cell(counted.steps), CellType::Integer, ""});
  facts.push_back(
      {"file_events", "File events", count_cell(meta.file_events), CellType::Integer, ""});
  facts.push_back({"slices", "Slices", count_cell(trace.slice_count()), CellType::Integer, ""});
  facts.push_back(
      {"instants", "Instants", count_cell(trace.markers().size()), CellType::Integer, ""});
  facts.push_back({"counter_values", "Counter values", count_cell(trace.counters().size()),
                   CellType::Integer, ""});
  facts.push_back({"allocations", "Allocations", count_cell(trace.allocations().size()),
                   CellType::Integer, ""});
  facts.push_back(
      {"samples", "Samples", count_cell(trace.samples().size()), CellType::Integer, ""});
  if (const CallProfile& profile = trace.call_profile(); !profile.empty()) {
    facts.push_back(
        {"functions", "Functions", count_cell(profile.functions.size()), CellType::Integer, ""});
    facts.push_back(
        {"calls", "Callers of functions", count_cell(profile.calls.size()), CellType::Integer, ""});
    facts.push_back(
        {"lines", "Lines of source", count_cell(profile.lines.size()), CellType::Integer, ""});
  }
  if (const ProcessMemory& memory = trace.process_memory(); !memory.empty()) {
    facts.push_back({"memory_sites", "Places of allocations", count_cell(memory.sites.size()),
                     CellType::Integer, ""});
    facts.push_back({"memory_lines", "Lines with memory", count_cell(memory.lines.size()),
                     CellType::Integer, ""});
    facts.push_back({"object_snapshots", "Snapshots of objects",
                     count_cell(memory.snapshots.size()), CellType::Integer, ""});
  }
  facts.push_back({"launch_links", "Launch links", count_cell(trace.launch_to_device().size()),
                   CellType::Integer, ""});
  facts.push_back({"backward_links", "Forward-backward links",
                   count_cell(trace.forward_to_backward().size()), CellType::Integer, ""});
  facts.push_back(
      {"tracks", "Tracks", count_cell(trace.tracks().size()), CellType::Integer,
       fmt::format(
           "{}, {}, {}",
           format_plural(static_cast<std::int64_t>(counted.threads), "thread", "threads"),
           format_plural(static_cast<std::int64_t>(counted.streams), "stream", "streams"),
           format_plural(static_cast<std::int64_t>(counted.other_tracks), "other", "others"))});
  const std::string options = recorded_with(meta);
  facts.push_back({"recorded_with", "Recorded with", options.empty() ? Cell() : Cell(options),
                   CellType::Text, ""});
  facts.push_back(
      {"input_bytes", "Size of text", count_cell(meta.input_bytes), CellType::Bytes, ""});
  facts.push_back({"memory_bytes", "Memory used", count_cell(trace.bytes()), CellType::Bytes, ""});
  return {"file", "", std::move(facts), "", {}};
}

Block kind_block(const TraceFacts& counted) {
  Table table;
  table.columns = {{.key = "kind", .header = "Kind"},
                   {.key = "slices", .header = "Slices", .type = CellType::Integer},
                   {.key = "time_ns", .header = "Summed time", .type = CellType::Duration}};
  for (const KindCount& kind : counted.kinds) {
    table.rows.push_back({text_cell(kind_name(kind.kind)), count_cell(kind.slices), kind.time});
  }
  Block out{"kinds", "Events by kind", std::move(table), "This trace holds no events.", {}};
  if (!counted.other_categories.empty()) {
    std::string note = "Categories under 'other':";
    for (std::size_t i = 0; i < counted.other_categories.size() && i < 10; ++i) {
      const auto& [name, count] = counted.other_categories[i];
      note += fmt::format("{} {} ({})", i ? "," : "", name.empty() ? "none" : name, count);
    }
    out.notes.push_back(std::move(note));
  }
  return out;
}

Block device_block(const TraceMeta& meta) {
  Table table;
  table.columns = {{.key = "id", .header = "Id", .type = CellType::Integer},
                   {.key = "name", .header = "Name"},
                   {.key = "memory_bytes", .header = "Memory", .type = CellType::Bytes},
                   {.key = "compute", .header = "Compute"},
                   {.key = "multiprocessors", .header = "SMs", .type = CellType::Integer}};
  for (const Device& device : meta.devices) {
    table.rows.push_back(
        {device.id, device.name, device.memory_bytes > 0 ? Cell(device.memory_bytes) : Cell(),
         device.compute_major > 0
             ? Cell(fmt::format("{}.{}", device.compute_major, device.compute_minor))
             : Cell(),
         device.multiprocessors > 0 ? Cell(device.multiprocessors) : Cell()});
  }
  return {"devices", "Devices", std::move(table), "The file describes no devices.", {}};
}

Block track_block(const Trace& trace, const std::string& format) {
  Table table;
  table.columns = {{.key = "type", .header = "Type"},
                   {.key = "process", .header = "Process", .cut = Cut::Middle},
                   {.key = "pid", .header = "Pid"},
                   {.key = "name", .header = "Track", .cut = Cut::Middle},
                   {.key = "tid", .header = "Tid"},
                   {.key = "slices", .header = "Slices", .type = CellType::Integer}};
  for (const Track& track : trace.tracks()) {
    table.rows.push_back({text_cell(track_type_name(track.type)),
                          text_cell(trace.text(track.process)), std::to_string(track.pid),
                          text_cell(trace.text(track.name)), std::to_string(track.tid),
                          count_cell(track.slices)});
  }
  Block out{"tracks", "Tracks", {}, "No tracks.", {}};
  if (format != "json" && format != "csv" && table.rows.size() > kTracksForPeople) {
    out.notes.push_back(
        format_count(static_cast<std::int64_t>(table.rows.size() - kTracksForPeople)) +
        " more; --format json has all");
    table.rows.resize(kTracksForPeople);
  }
  out.content = std::move(table);
  return out;
}

// `run` is that of one of the traces at least.
Document run_document(const RunFolder& run, const TraceSet& traces) {
  std::vector<const NamedTrace*> own;
  for (const NamedTrace& named : traces) {
    if (folder_of(named) == run.path) own.push_back(&named);
  }
  Document out;
  out.view = "info";
  out.run = own.front()->run;
  out.title = "Run in " + run.path;
  out.blocks = run_blocks(run, own);
  return out;
}

}  // namespace

std::string info_report(const TraceSet& traces, const std::vector<RunFolder>& runs,
                        const std::string& format, const RenderOptions& options) {
  std::vector<Document> documents;
  std::set<std::string> told;
  for (const NamedTrace& named : traces) {
    for (const RunFolder& run : runs) {
      if (run.path != folder_of(named) || !told.insert(run.path).second) continue;
      documents.push_back(run_document(run, traces));
    }
    const TraceFacts counted = trace_facts(named.trace);
    Document document;
    document.view = "info";
    document.run = named.run;
    document.title = named.path == "-" ? "standard input" : named.path;
    document.blocks = {file_block(named, counted), device_block(named.trace.meta()),
                       kind_block(counted), track_block(named.trace, format)};
    document.losses = collect_losses({&named, 1});
    documents.push_back(std::move(document));
  }
  return render_documents(documents, format, options);
}

}  // namespace sonde
