#include "import/nsys/report_file.hpp"
#include "trace/selection.hpp"

#include <algorithm>

namespace sonde::nsys {
namespace {

constexpr const char* kStrings = "StringIds";

}  // namespace

ReportFile::ReportFile(SqliteFile& database, TraceBuilder& builder)
    : database_(database), builder_(builder), names_(builder) {
  const SqliteFile::Table* strings = database.table(kStrings);
  if (strings == nullptr) return;
  strings_by_key_ = strings->row_key == "id";
  if (strings_by_key_) {
    strings_ = std::make_unique<TableReader>(
        database, *strings, std::initializer_list<const char*>{"value"}, TableReader::ByRowKey());
    return;
  }
  // Without a key every question would be a walk over the whole table: one walk for all, which
  // keeps the row's number only.
  SqliteFile::Table by_row = *strings;
  by_row.columns.emplace_back("rowid");
  by_row.row_key = "rowid";
  TableReader ids(database, by_row, {"id", "rowid"});
  while (ids.next()) {
    const auto id = ids.integer(0);
    const auto row = ids.integer(1);
    if (id && row) string_rows_.set(static_cast<std::uint64_t>(*id), *row);
  }
  note_damage(*strings, ids);
  strings_ = std::make_unique<TableReader>(
      database, by_row, std::initializer_list<const char*>{"value"}, TableReader::ByRowKey());
}

StringId ReportFile::text(std::optional<std::int64_t> id) {
  if (!id || !strings_) return {};
  bool fresh = false;
  StringId& known = known_.get_or_insert(static_cast<std::uint64_t>(*id), StringId(), &fresh);
  if (!fresh) return known;
  std::int64_t row = *id;
  if (!strings_by_key_) {
    const std::int64_t* found = string_rows_.find(static_cast<std::uint64_t>(*id));
    if (found == nullptr) return known;
    row = *found;
  }
  strings_->seek(row);
  if (strings_->next()) known = names_.intern(strings_->text(0));
  return known;
}

TrackId ReportFile::thread(std::int64_t global_tid) {
  const auto [at, added] = threads_.try_emplace(global_tid);
  if (added) {
    Track track;
    track.pid = pid_of(global_tid);
    track.tid = tid_of(global_tid);
    at->second = builder_.add_track(track);
  }
  return at->second;
}

TrackId ReportFile::stream(std::int64_t global_pid, std::int64_t device, std::int64_t context,
                           std::int64_t stream) {
  const auto [at, added] = streams_.try_emplace({global_pid, device, context, stream});
  if (added) {
    Track track;
    track.type = TrackType::Stream;
    track.pid = pid_of(global_pid);
    track.tid = stream;
    track.device = device >= 0 && device <= INT32_MAX ? static_cast<std::int32_t>(device) : -1;
    at->second = builder_.add_track(track);
  }
  return at->second;
}

TrackId ReportFile::lane(std::int64_t global_pid, std::string_view name, TrackType type) {
  const auto [at, added] = lanes_.try_emplace({global_pid, std::string(name)});
  if (added) {
    Track track;
    track.type = type;
    track.pid = pid_of(global_pid);
    track.name = builder_.intern(name);
    at->second = builder_.add_track(track);
  }
  return at->second;
}

std::int64_t ReportFile::correlation(std::int64_t global_id, std::optional<std::int64_t> id) {
  if (!id) return kNoNumber;
  const auto next = static_cast<std::int64_t>(processes_.size());
  const std::int64_t process = processes_.try_emplace(process_of(global_id), next).first->second;
  // The first process keeps its numbers as they are.
  constexpr std::int64_t kApart = std::int64_t{1} << 32;
  if (process == 0 || *id < 0 || *id >= kApart || process >= (std::int64_t{1} << 30)) return *id;
  return process * kApart + *id;
}

std::optional<Nanos> ReportFile::time(std::optional<std::int64_t> value) {
  if (value && *value >= -kMaxTime && *value <= kMaxTime) return value;
  builder_.losses().add("bad_time", Severity::Warning,
                        "Rows with a missing or impossible time; they are left out.");
  return std::nullopt;
}

bool ReportFile::place(std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                       Nanos& from, Nanos& duration) {
  const std::optional<Nanos> checked = time(start);
  if (!checked) return false;
  from = *checked;
  Nanos to = end ? std::clamp(*end, -kMaxTime, kMaxTime) : std::max(last_moment_, from);
  if (to < from) {
    builder_.losses().add("negative_duration", Severity::Warning,
                          "Events that end before they start; they are kept with 0.");
    to = from;
  }
  duration = std::min(to - from, kMaxDuration);
  return true;
}

SliceId ReportFile::add_slice(std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                              TrackId track, StringId name, SliceKind kind, const SliceIds& ids) {
  return add_slice_named(
      start, end, track, kind, ids, name.valid() ? builder_.text(name) : std::string_view(), [&] {
        if (name.valid()) return name;
        builder_.losses().add("unknown_names", Severity::Warning,
                              "Events whose name is not in the file; they are called "
                              "\"(unknown)\".");
        return builder_.intern("(unknown)");
      });
}

bool ReportFile::wants(std::optional<std::int64_t> start, std::optional<std::int64_t> end) const {
  const Selection* selection = builder_.selection();
  if (selection == nullptr) return true;
  if (selection->phase() != Selection::Phase::Build || !start) return false;
  const Nanos to = std::max(end ? *end : last_moment_, *start);
  return selection->may_hold(*start, to, SliceKind::Other);
}

void ReportFile::note_damage(const SqliteFile::Table& table, const TableReader& reader) {
  if (reader.damage().empty()) return;
  builder_.losses().add("broken_tables", Severity::Error,
                        "Tables that are damaged; what could be read of them is here.", 1,
                        LossLedger::kNoOffset, table.name + ": " + reader.damage());
}

std::int64_t ReportFile::multiprocessors(std::int64_t device) const {
  for (const Device& known : builder_.meta().devices) {
    if (known.id == device) return known.multiprocessors;
  }
  return 0;
}

void ReportFile::name_tracks() {
  std::map<std::int64_t, StringId> processes;
  const auto process_name = [&](std::int64_t global_pid) {
    const auto found = processes.find(global_pid);
    return found == processes.end() ? StringId() : found->second;
  };
  if (const SqliteFile::Table* table = database_.table("PROCESSES")) {
    TableReader rows(database_, *table, {"globalPid", "name"});
    while (rows.next()) {
      const auto pid = rows.integer(0);
      if (!pid) continue;
      // The list has every process of the machine: those without events are none of our business.
      const auto of_process = [&](std::int64_t id) { return process_of(id) == *pid; };
      const bool used =
          std::any_of(threads_.begin(), threads_.end(),
                      [&](const auto& entry) { return of_process(entry.first); }) ||
          std::any_of(streams_.begin(), streams_.end(),
                      [&](const auto& entry) { return of_process(std::get<0>(entry.first)); }) ||
          std::any_of(lanes_.begin(), lanes_.end(),
                      [&](const auto& entry) { return of_process(entry.first.first); });
      if (used) processes[*pid] = names_.intern(rows.text(1));
    }
    note_damage(*table, rows);
  }
  if (const SqliteFile::Table* table = database_.table("ThreadNames")) {
    TableReader rows(database_, *table, {"globalTid", "nameId"});
    while (rows.next()) {
      const auto tid = rows.integer(0);
      if (tid && threads_.contains(*tid)) thread_names_.try_emplace(*tid, text(rows.integer(1)));
    }
    note_damage(*table, rows);
  }
  for (const auto& [tid, track_id] : threads_) {
    Track& track = builder_.track(track_id);
    track.process = process_name(process_of(tid));
    if (const auto name = thread_names_.find(tid); name != thread_names_.end()) {
      track.name = name->second;
    }
  }
  // Only where two contexts of a process have a stream of the same number the context is told.
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, int> same_number;
  for (const auto& [key, track_id] : streams_) {
    ++same_number[{std::get<0>(key), std::get<1>(key), std::get<3>(key)}];
  }
  for (const auto& [key, track_id] : streams_) {
    const auto& [pid, device, context, stream] = key;
    std::string name = "stream " + std::to_string(stream);
    if (same_number[{pid, device, stream}] > 1) name += ", context " + std::to_string(context);
    Track& track = builder_.track(track_id);
    track.name = builder_.intern(name);
    track.process = process_name(process_of(pid));
  }
  for (const auto& [key, track_id] : lanes_) {
    builder_.track(track_id).process = process_name(process_of(key.first));
  }
}

}  // namespace sonde::nsys
