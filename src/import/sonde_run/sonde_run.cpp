#include "import/sonde_run/sonde_run.hpp"

#include <string.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "base/format.hpp"
#include "base/json_writer.hpp"
#include "import/sonde_run/companions.hpp"
#include "import/sonde_run/record_assembler.hpp"
#include "import/sonde_run/run_file.hpp"
#include "import/sonde_run/tick_clock.hpp"
#include "import/trace_event/correlation.hpp"
#include "trace/selection.hpp"

namespace sonde {
namespace {

std::string_view program_of(const file::FileHeader& header) {
  return {header.program, ::strnlen(header.program, sizeof header.program)};
}

void add_drops(const file::FileHeader& header, LossLedger& losses) {
  // A handler that interrupts the recorder in a record cannot write one of its own.
  const std::uint64_t in_signals = std::min(header.dropped_in_signals, header.dropped_records);
  if (in_signals > 0) {
    losses.add("dropped_in_signals", Severity::Warning,
               "Records from signal handlers that interrupted the recorder at work", in_signals);
  }
  if (header.dropped_records == in_signals) return;
  const std::string reason = header.drop_reason == 0
                                 ? "the size limit of the recording was reached"
                                 : std::string("there was no more space (") +
                                       std::strerror(static_cast<int>(header.drop_reason)) + ")";
  losses.add("dropped_records", Severity::Warning,
             "Records that the recorder could not keep, since " + reason,
             header.dropped_records - in_signals);
}

void add_header_losses(const RunFile& file, const TickClock& clock, LossLedger& losses) {
  const file::FileHeader& header = file.header;
  if (header.clean_end != 1) {
    losses.add(
        "unclean_end", Severity::Info,
        "The program was killed, crashed, left by _exit() or is still running; everything up "
        "to then is here");
  }
  add_drops(header, losses);
  if (header.limit == file::Limit::KeepLast && file.last_sequence > file.chunks_seen) {
    losses.add("kept_last", Severity::Info,
               "The recording kept its last " +
                   format_bytes(static_cast<double>(header.max_bytes)) +
                   " only, as it was asked to; what came before is not here");
  }
  if (header.chunks > file.chunks_seen && header.chunks < UINT32_MAX) {
    const std::uint64_t expected = file::chunk_offset(header.chunks, header.chunk_bytes);
    if (file.bytes < expected) {
      losses.add("file_cut", Severity::Warning,
                 "The file is shorter than what was recorded; what it holds is read", 1,
                 file.bytes);
    }
  }
  if (!clock.rate_known()) {
    losses.add("clock_unknown", Severity::Warning,
               "The recording ended before its clock was measured; its durations are in ticks, not "
               "in nanoseconds");
  }
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace

bool looks_like_sonde_run(std::string_view head) {
  return head.starts_with(std::string_view(file::kMagic, sizeof file::kMagic));
}

Result<Trace> import_sonde_run(const ImportInput& input) {
  TraceBuilder builder;
  builder.select(input.options.selection);
  Selection* selection = builder.selection();
  RunFile file;
  RunReading reading;
  std::optional<TickClock> clock_of_header;
  std::optional<ProcessTracks> tracks;
  std::optional<RecordAssembler> records;
  const auto assembler_of = [&]() -> RecordAssembler& {
    if (!records) {
      clock_of_header.emplace(file.header);
      tracks.emplace(file.header.pid, builder);
      records.emplace(file, *clock_of_header, *tracks, builder);
    }
    return *records;
  };
  // What lies beside the recording is read whole.
  if (selection != nullptr && has_companions(input.path)) selection->give_up();
  // Names stand anywhere in the file. For a piece they are read in a reading of their own, so that
  // the records need not wait for them in memory.
  const std::shared_ptr<RunNames> names =
      selection == nullptr ? nullptr : std::static_pointer_cast<RunNames>(selection->state());
  const auto fresh_names = std::make_shared<RunNames>();
  if (selection != nullptr && !names) {
    reading.keep_names = fresh_names.get();
    selection->state() = fresh_names;
    selection->ask_again();
  } else if (selection != nullptr) {
    reading.names = names.get();
    reading.chunk = [&](RecordChunk&& chunk) { assembler_of().add_chunk(chunk); };
  }
  const Result<bool> in_order = read_run_file(input, builder, file, reading);
  if (!in_order) return in_order.error();
  if (selection != nullptr && !*in_order) selection->give_up();

  RecordAssembler& assembler = assembler_of();
  const TickClock& clock = *clock_of_header;
  std::size_t count = 0;
  for (const RecordChunk& chunk : file.chunks) count += chunk.size / sizeof(file::Record);
  if (selection == nullptr) builder.make_room(count, 0, 0, 0, 1);
  for (RecordChunk& chunk : file.chunks) {
    assembler.add_chunk(chunk);
    chunk.bytes.reset();
  }
  unsigned threads = input.options.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  assembler.finish();
  const auto companions = read_companions(
      input.path,
      {clock, *tracks, builder, input.options, file.header.clean_end == 1, &assembler.places()});
  assembler.places().finish(builder);
  assembler.name_tracks();
  builder.nest(threads);
  assembler.add_links();
  if (assembler.has_operators()) link_by_sequence(builder);
  for (const auto& companion : companions) companion->link(builder);

  TraceMeta& meta = builder.meta();
  meta.format = "sonde";
  meta.producer = "Sonde";
  meta.base_time = clock.wall_base();
  meta.wall_clock = clock.wall_known();
  meta.input_bytes += file.bytes;
  meta.file_events += assembler.records();
  meta.properties.emplace_back("program", json_text(program_of(file.header)));
  meta.properties.emplace_back("pid", std::to_string(file.header.pid));
  meta.properties.emplace_back("parent_pid", std::to_string(file.header.parent_pid));
  if (file.header.rank_and_1 > 0 && file.header.world_size_and_1 > file.header.rank_and_1) {
    meta.rank = file.header.rank_and_1 - 1;
    meta.world_size = file.header.world_size_and_1 - 1;
    if (file.header.local_rank_and_1 > 0) {
      meta.properties.emplace_back("local_rank", std::to_string(file.header.local_rank_and_1 - 1));
    }
  }
  add_header_losses(file, clock, builder.losses());
  builder.losses().merge(input.source.losses());
  return builder.finish();
}

}  // namespace sonde
