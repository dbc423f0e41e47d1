#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/flat_map.hpp"
#include "import/sqlite/sqlite_file.hpp"
#include "import/text/utf8.hpp"
#include "trace/builder.hpp"

namespace sonde::nsys {

// What all tables of one export share: its texts, its processes, threads and streams.
class ReportFile {
 public:
  ReportFile(SqliteFile& database, TraceBuilder& builder);

  SqliteFile& database() { return database_; }
  TraceBuilder& builder() { return builder_; }
  NamePool& names() { return names_; }

  // A text of StringIds. Only what is asked for is ever read: the table also holds what programs
  // printed and their environment.
  StringId text(std::optional<std::int64_t> id);

  // Ids of threads hold those of their process and machine.
  static std::int64_t process_of(std::int64_t global_tid) {
    return global_tid & ~std::int64_t{0xFFFFFF};
  }
  static std::int64_t pid_of(std::int64_t global_id) { return global_id >> 24 & 0xFFFFFF; }
  static std::int64_t tid_of(std::int64_t global_tid) { return global_tid & 0xFFFFFF; }

  TrackId thread(std::int64_t global_tid);
  TrackId stream(std::int64_t global_pid, std::int64_t device, std::int64_t context,
                 std::int64_t stream);
  // A lane of a process for what lies on no thread; process 0 for what belongs to none.
  TrackId lane(std::int64_t global_pid, std::string_view name, TrackType type);

  // Correlation ids count up in each process by itself.
  std::int64_t correlation(std::int64_t global_id, std::optional<std::int64_t> id);

  // A slice with checked times; invalid where they are impossible or the slice is not wanted. A
  // missing end is the last moment.
  SliceId add_slice(std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                    TrackId track, StringId name, SliceKind kind, const SliceIds& ids = {});
  // As add_slice(), for names that are put into the trace only where the slice is taken.
  template <class MakeName>
  SliceId add_slice_named(std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                          TrackId track, SliceKind kind, const SliceIds& ids,
                          std::string_view shown, MakeName make_name) {
    count_row();
    Nanos from = 0;
    Nanos duration = 0;
    if (!place(start, end, from, duration)) return {};
    if (builder_.takes(from, duration, track, kind, ids, shown) == Taken::No) return {};
    return builder_.add_slice(from, duration, track, make_name(), kind);
  }
  // Whether a slice there may be kept whole: what belongs to no other is not looked up.
  bool wants(std::optional<std::int64_t> start, std::optional<std::int64_t> end) const;
  // A checked time, or nothing.
  std::optional<Nanos> time(std::optional<std::int64_t> value);

  void set_thread_name(std::int64_t global_tid, StringId name) { thread_names_[global_tid] = name; }
  void set_last_moment(Nanos time) { last_moment_ = time; }

  // After a table's last row.
  void note_damage(const SqliteFile::Table& table, const TableReader& reader);
  void count_row() { ++rows_; }
  std::uint64_t rows() const { return rows_; }

  // Names of processes, threads and streams: after the last table.
  void name_tracks();

  std::vector<Device>& devices() { return builder_.meta().devices; }
  std::int64_t multiprocessors(std::int64_t device) const;

 private:
  bool place(std::optional<std::int64_t> start, std::optional<std::int64_t> end, Nanos& from,
             Nanos& duration);

  using StreamKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  SqliteFile& database_;
  TraceBuilder& builder_;
  NamePool names_;
  std::unique_ptr<TableReader> strings_;
  FlatMap<std::int64_t> string_rows_;  // where StringIds has no key
  bool strings_by_key_ = false;
  FlatMap<StringId> known_;
  std::map<std::int64_t, TrackId> threads_;
  std::map<StreamKey, TrackId> streams_;
  std::map<std::pair<std::int64_t, std::string>, TrackId> lanes_;
  std::map<std::int64_t, std::int64_t> processes_;  // in the order of their first correlation id
  std::map<std::int64_t, StringId> thread_names_;
  Nanos last_moment_ = 0;
  std::uint64_t rows_ = 0;
};

// One function for each group of tables. They read what is there.
void read_target_info(ReportFile& file);  // devices, session, names, diagnostics
void read_cuda_tables(
    ReportFile& file);  // calls, kernels, copies, memsets, synchronisation, graphs
void read_memory_usage(ReportFile& file);  // allocations
void read_nvtx(ReportFile& file);
void read_host_tables(ReportFile& file);  // operating system calls, overhead, libraries
void read_samples(ReportFile& file);      // CPU samples and scheduling
void read_metrics(ReportFile& file);      // GPU metrics and generic events
void note_unread_tables(ReportFile& file);

// Whether any of the functions above reads the table, or it is known to hold nothing for a trace.
bool is_known_table(std::string_view name);
// Tables of library calls: start, end, globalTid and a name, whatever the library.
bool is_call_table(const SqliteFile::Table& table);

}  // namespace sonde::nsys
