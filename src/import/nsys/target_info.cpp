#include <algorithm>
#include <set>
#include <string>

#include "base/json_writer.hpp"
#include "import/nsys/report_file.hpp"

namespace sonde::nsys {
namespace {

void read_versions(ReportFile& file) {
  for (const char* name : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    const SqliteFile::Table* table = file.database().table(name);
    if (table == nullptr) continue;
    TableReader rows(file.database(), *table, {"name", "value"});
    while (rows.next()) {
      // The other rows name the user, the machine and its folders.
      if (rows.text(0) == "EXPORT_PRODUCT_VERSION") {
        file.builder().meta().version = std::string(rows.text(1).substr(0, 100));
      }
      if (rows.text(0) == "EXPORT_SCHEMA_VERSION") {
        std::string json;
        append_json_string(json, rows.text(1).substr(0, 100));
        file.builder().meta().properties.emplace_back("schema_version", json);
      }
    }
    file.note_damage(*table, rows);
  }
}

void read_session(ReportFile& file) {
  if (const SqliteFile::Table* table = file.database().table("TARGET_INFO_SESSION_START_TIME")) {
    TableReader rows(file.database(), *table, {"utcEpochNs"});
    if (rows.next()) {
      const auto start = rows.integer(0);
      if (start && *start > 0 && *start < kMaxTime) {
        file.builder().meta().base_time = *start;
        file.builder().meta().wall_clock = true;
      }
    }
    file.note_damage(*table, rows);
  }
  if (const SqliteFile::Table* table = file.database().table("ANALYSIS_DETAILS")) {
    TableReader rows(file.database(), *table, {"duration"});
    if (rows.next()) {
      const auto duration = rows.integer(0);
      if (duration && *duration > 0 && *duration < kMaxTime) file.set_last_moment(*duration);
    }
    file.note_damage(*table, rows);
  }
}

void read_devices(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("TARGET_INFO_GPU");
  if (table == nullptr) return;
  // Events count devices as CUDA does, this table in the order of the bus.
  std::multimap<std::int64_t, std::int64_t> cuda_ids;
  if (const SqliteFile::Table* ids = file.database().table("TARGET_INFO_CUDA_DEVICE")) {
    TableReader rows(file.database(), *ids, {"gpuId", "cudaId"});
    while (rows.next()) cuda_ids.emplace(rows.integer(0, -1), rows.integer(1, -1));
    file.note_damage(*ids, rows);
  }
  std::set<std::int64_t> seen;
  TableReader rows(file.database(), *table,
                   {"id", "name", "totalMemory", "smCount", "computeMajor", "computeMinor",
                    "maxWarpsPerSm", "threadsPerWarp"});
  const auto positive = [&](int column) {
    return std::max<std::int64_t>(rows.integer(column, 0), 0);
  };
  while (rows.next()) {
    Device device;
    device.name = mend_utf8(rows.text(1));
    device.memory_bytes = positive(2);
    device.multiprocessors = positive(3);
    device.compute_major = positive(4);
    device.compute_minor = positive(5);
    device.warp_size = positive(7);
    const std::int64_t warps = positive(6);
    if (warps < 10'000 && device.warp_size < 10'000) {
      device.max_threads_per_multiprocessor = warps * device.warp_size;
    }
    const std::int64_t gpu = rows.integer(0, 0);
    const auto [first, last] = cuda_ids.equal_range(gpu);
    for (auto at = first; at != last; ++at) {
      device.id = at->second;
      if (seen.insert(device.id).second) file.devices().push_back(device);
    }
    device.id = gpu;
    if (first == last && seen.insert(gpu).second) file.devices().push_back(device);
  }
  file.note_damage(*table, rows);
  std::sort(file.devices().begin(), file.devices().end(),
            [](const Device& a, const Device& b) { return a.id < b.id; });
}

// What Nsight Systems itself had to say about the recording.
void read_diagnostics(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("DIAGNOSTIC_EVENT");
  if (table == nullptr) return;
  constexpr std::int64_t kWarning = 2;
  constexpr std::int64_t kError = 3;
  constexpr std::size_t kShown = 6;
  std::vector<std::string> messages;
  std::uint64_t count = 0;
  bool errors = false;
  TableReader rows(file.database(), *table, {"severity", "text"});
  while (rows.next()) {
    const std::int64_t severity = rows.integer(0, 0);
    if (severity != kWarning && severity != kError) continue;
    errors |= severity == kError;
    ++count;
    std::string text = mend_utf8(rows.text(1).substr(0, 300));
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    if (!text.ends_with('.') && !text.ends_with('?') && !text.ends_with('!')) text += '.';
    if (messages.size() < kShown &&
        std::find(messages.begin(), messages.end(), text) == messages.end()) {
      messages.push_back(std::move(text));
    }
  }
  file.note_damage(*table, rows);
  if (count == 0) return;
  std::string sentence = "Nsight Systems warned while it recorded:";
  for (const std::string& message : messages) sentence += ' ' + message;
  file.builder().losses().add("nsys_warnings", errors ? Severity::Warning : Severity::Info,
                              sentence, count);
}

}  // namespace

bool is_known_table(std::string_view name) {
  for (const std::string_view prefix : {"ENUM_", "TARGET_INFO_", "META_DATA_", "ANALYSIS_"}) {
    if (name.starts_with(prefix)) return true;
  }
  constexpr std::string_view kKnown[] = {"StringIds",
                                         "EXPORT_META_DATA",
                                         "ProcessStreams",
                                         "PROCESSES",
                                         "ThreadNames",
                                         "DIAGNOSTIC_EVENT",
                                         "CUPTI_ACTIVITY_KIND_KERNEL",
                                         "CUPTI_ACTIVITY_KIND_MEMCPY",
                                         "CUPTI_ACTIVITY_KIND_MEMSET",
                                         "CUPTI_ACTIVITY_KIND_RUNTIME",
                                         "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                         "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                         "CUDA_GRAPH_NODE_EVENTS",
                                         "CUDA_GRAPH_EVENTS",
                                         "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                         "NVTX_EVENTS",
                                         "OSRT_API",
                                         "OSRT_CALLCHAINS",
                                         "CUDA_CALLCHAINS",
                                         "SAMPLING_CALLCHAINS",
                                         "COMPOSITE_EVENTS",
                                         "SCHED_EVENTS",
                                         "PROFILER_OVERHEAD",
                                         "GENERIC_EVENTS",
                                         "GPU_METRICS"};
  return std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown);
}

void read_target_info(ReportFile& file) {
  read_versions(file);
  read_session(file);
  read_devices(file);
  read_diagnostics(file);
}

void note_unread_tables(ReportFile& file) {
  std::string names;
  std::uint64_t count = 0;
  for (const SqliteFile::Table& table : file.database().tables()) {
    if (is_known_table(table.name) || is_call_table(table) || table.columns.empty()) continue;
    TableReader rows(file.database(), table, {table.columns.front().c_str()});
    if (!rows.next()) continue;
    ++count;
    if (!names.empty()) names += ", ";
    if (names.size() < 300) names += mend_utf8(table.name);
  }
  if (count == 0) return;
  file.builder().losses().add("unread_tables", Severity::Info,
                              "Tables of the export that Sonde does not read: " + names + ".",
                              count);
}

}  // namespace sonde::nsys
