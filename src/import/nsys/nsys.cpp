#include "import/nsys/nsys.hpp"

#include <algorithm>
#include <thread>

#include "import/nsys/report_file.hpp"
#include "import/trace_event/correlation.hpp"
#include "trace/selection.hpp"

namespace sonde {
namespace {

// Why the database is no export of Nsight Systems, as far as its tables tell.
Error not_nsys(const SqliteFile& database, const std::string& path) {
  const auto any = [&](std::string_view part) {
    return std::any_of(
        database.tables().begin(), database.tables().end(),
        [&](const SqliteFile::Table& table) { return table.name.find(part) != std::string::npos; });
  };
  if (any("rocpd_")) {
    return {ErrorCode::Unsupported,
            "a rocpd database, which Sonde does not read",
            path,
            {},
            "write CSV or JSON: rocprofv3 --output-format csv json, or rocpd convert"};
  }
  if (database.table("StringTable") != nullptr) {
    return {ErrorCode::Unsupported,
            "a database of nvprof, which Sonde does not read",
            path,
            {},
            "record with nsys, and export with: nsys export --type sqlite"};
  }
  std::string names;
  for (const SqliteFile::Table& table : database.tables()) {
    if (names.size() > 100) break;
    if (!names.empty()) names += ", ";
    names += mend_utf8(table.name);
  }
  return {ErrorCode::UnknownFormat,
          "an SQLite file, but no export of Nsight Systems: it has no table StringIds",
          path,
          {},
          names.empty() ? "it has no tables at all" : "its tables: " + names};
}

}  // namespace

bool looks_like_nsys(std::string_view head) { return looks_like_sqlite(head); }

Result<Trace> import_nsys(const ImportInput& input) {
  Result<SqliteFile> database = SqliteFile::open(input);
  if (!database) return database.error();
  if (database->table("StringIds") == nullptr) return not_nsys(*database, input.path);

  TraceBuilder builder;
  builder.select(input.options.selection);
  nsys::ReportFile file(*database, builder);
  using Part = void (*)(nsys::ReportFile&);
  constexpr Part kParts[] = {nsys::read_target_info, nsys::read_cuda_tables,  nsys::read_nvtx,
                             nsys::read_host_tables, nsys::read_memory_usage, nsys::read_samples,
                             nsys::read_metrics};
  std::uint64_t done = 0;
  for (const Part part : kParts) {
    part(file);
    ++done;
    if (input.options.progress && database->bytes() > 0) {
      input.options.progress(
          {input.path, input.disk_bytes * done / std::size(kParts), input.disk_bytes});
    }
  }
  nsys::note_unread_tables(file);
  file.name_tracks();
  unsigned threads = input.options.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  builder.nest(threads);
  link_by_correlation(builder);
  link_by_sequence(builder);

  TraceMeta& meta = builder.meta();
  meta.format = "nsys";
  meta.producer = "Nsight Systems";
  const bool device_work = builder.selection() == nullptr ? !builder.device_work().empty()
                                                          : builder.selection()->has_device_work();
  if (device_work || !meta.devices.empty()) meta.device_family = "CUDA";
  meta.input_bytes = database->bytes();
  meta.file_events = file.rows();
  builder.losses().add("no_events", Severity::Warning,
                       "The export holds no event: the recording was empty.",
                       file.rows() == 0 ? 1 : 0);
  builder.losses().merge(input.source.losses());
  return builder.finish();
}

}  // namespace sonde
