#include <algorithm>
#include <charconv>
#include <filesystem>
#include <thread>

#include "import/csv/csv_reader.hpp"
#include "import/rocprof/csv_tables.hpp"
#include "import/rocprof/rocprof.hpp"

namespace sonde {
namespace {

namespace fs = std::filesystem;

// What rocprofv3 calls its files, behind the run's own name and "_".
constexpr std::string_view kEndings[] = {
    "agent_info",        "counter_collection",   "kernel_trace",
    "memory_copy_trace", "hip_api_trace",        "hip_trace",
    "hip_runtime_trace", "hip_compile_trace",    "hsa_api_trace",
    "hsa_trace",         "marker_api_trace",     "marker_trace",
    "rccl_api_trace",    "rccl_trace",           "rocdecode_api_trace",
    "rocjpeg_api_trace", "scratch_memory_trace", "memory_allocation_trace",
};

// "123_" of "123_kernel_trace.csv"; empty for names of another form.
std::string run_prefix(const std::string& file) {
  for (const std::string_view ending : kEndings) {
    for (const std::string_view type : {".csv", ".csv.gz", ".csv.zst"}) {
      const std::string whole = "_" + std::string(ending) + std::string(type);
      if (file.size() > whole.size() && file.ends_with(whole)) {
        return file.substr(0, file.size() - whole.size() + 1);
      }
    }
  }
  return {};
}

// rocprofv3 calls a run after its process where nothing else is asked for.
std::int64_t pid_of_run(const std::string& prefix) {
  std::int64_t pid = 0;
  const auto parsed = std::from_chars(prefix.data(), prefix.data() + prefix.size(), pid);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == prefix.data() + prefix.size() - 1;
  return whole && pid > 0 && pid <= INT32_MAX ? pid : 0;
}

// The files of the same run, in the order in which they are read: what describes others first.
std::vector<std::string> files_of_run(const std::string& path) {
  const std::string prefix = run_prefix(fs::path(path).filename().string());
  std::vector<std::string> out;
  if (prefix.empty()) return out;
  const fs::path folder = fs::path(path).parent_path();
  for (const std::string_view ending : kEndings) {
    for (const std::string_view type : {".csv", ".csv.gz", ".csv.zst"}) {
      const fs::path file = folder / (prefix + std::string(ending) + std::string(type));
      std::error_code error;
      if (fs::is_regular_file(file, error)) {
        out.push_back(file.string());
        break;
      }
    }
  }
  return out;
}

}  // namespace

bool looks_like_rocprof_csv(std::string_view head) {
  return rocprof::csv_table(csv_header(head)) != rocprof::CsvTable::Unknown;
}

bool is_brought_along_by_rocprof(const std::string& path) {
  const std::string file = fs::path(path).filename().string();
  if (file.find("_stats.csv") != std::string::npos) {
    // Sums of what the traces beside them hold.
    const fs::path folder = fs::path(path).parent_path();
    const std::string prefix = file.substr(0, file.find('_') + 1);
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const std::string other = it->path().filename().string();
      if (other.starts_with(prefix) && other.find("_trace.csv") != std::string::npos) return true;
    }
    return false;
  }
  const std::vector<std::string> files = files_of_run(path);
  // The last one, which in every run is a trace and no description, stands for all.
  return !files.empty() && fs::path(files.back()).filename() != fs::path(path).filename();
}

Result<Trace> import_rocprof_csv(const ImportInput& input) {
  TraceBuilder builder;
  rocprof::RecordAssembler assembler(builder);
  std::uint64_t bytes = 0;
  const std::vector<std::string> files = files_of_run(input.path);
  std::uint64_t others = 0;
  const std::int64_t pid = pid_of_run(run_prefix(fs::path(input.path).filename().string()));
  for (const std::string& file : files) {
    const bool own = fs::path(file).filename() == fs::path(input.path).filename();
    if (own) {
      Result<bool> read = read_csv_table(input.source, pid, assembler, builder, bytes);
      if (!read) return read.error();
      continue;
    }
    Result<OpenedInput> opened = open_input(file);
    if (!opened) {
      builder.losses().add("files_unread", Severity::Warning,
                           "Files of the same run that could not be opened.", 1,
                           LossLedger::kNoOffset, opened.error().text());
      continue;
    }
    if (!looks_like_rocprof_csv(opened->head)) continue;
    Result<bool> read = read_csv_table(*opened->source, pid, assembler, builder, bytes);
    if (!read) return read.error();
    ++others;
  }
  if (files.empty()) {
    Result<bool> read = read_csv_table(input.source, pid, assembler, builder, bytes);
    if (!read) return read.error();
  }
  unsigned threads = input.options.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  assembler.finish(threads);
  TraceMeta& meta = builder.meta();
  meta.format = "rocprof";
  meta.producer = "rocprof";
  meta.device_family = "ROCm";
  meta.input_bytes = bytes;
  meta.file_events = assembler.records();
  if (others > 0) {
    meta.properties.emplace_back("files_read_along", std::to_string(others));
  }
  builder.losses().add("no_events", Severity::Warning, "The table has no row.",
                       assembler.records() == 0 ? 1 : 0);
  return builder.finish();
}

}  // namespace sonde
