#include "import/loader.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "import/importer.hpp"
#include "import/input/byte_source.hpp"

namespace sonde {
namespace fs = std::filesystem;
namespace {

constexpr int kMaxFolderDepth = 8;

const Importer* importer_for(std::string_view head) {
  for (const Importer& importer : importers()) {
    if (importer.sniff(head)) return &importer;
  }
  return nullptr;
}

Error unknown_format(const std::string& path, std::string_view head) {
  const bool binary = head.substr(0, 512).find('\0') != std::string_view::npos;
  return {ErrorCode::UnknownFormat,
          binary ? "a binary file of a format that Sonde does not know"
                 : "not a trace of a format that Sonde knows",
          path,
          {},
          "'sonde help formats' lists what it reads"};
}

// Whether the file is worth opening: names tell nothing for sure, so the content is looked at.
// Where nothing can be read, a name that only traces have keeps it in the list: loading it tells
// why.
bool is_trace_file(const fs::path& path) {
  Result<OpenedInput> input = open_input(path.string());
  if (!input || input->head.empty()) {
    const std::string name = path.filename().string();
    return name.find(".pt.trace.json") != std::string::npos || name.ends_with(".xplane.pb");
  }
  const std::string_view head = input->head;
  const Importer* importer = importer_for(head);
  if (importer == nullptr || importer->refuses) return false;
  if (importer->is_brought_along != nullptr && importer->is_brought_along(path.string())) {
    return false;
  }
  if (importer->has_magic) return true;
  // In a folder any JSON file may lie about (a config, a report): it must speak of events.
  return head.find("\"traceEvents\"") != std::string_view::npos ||
         head.find("\"ph\"") != std::string_view::npos ||
         head.find("\"schemaVersion\"") != std::string_view::npos;
}

void collect(const fs::path& folder, const fs::path& root, int depth, std::vector<TraceFile>& out) {
  if (depth > kMaxFolderDepth) return;
  std::error_code error;
  std::vector<fs::path> folders;
  for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    if (path.filename().string().starts_with(".")) continue;
    std::error_code ignored;
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) {
      folders.push_back(path);
    } else if (it->is_regular_file(ignored) && is_trace_file(path)) {
      const std::string run = fs::relative(folder, root, ignored).generic_string();
      out.push_back({run.empty() ? "." : run, worker_name(path.string()), path.string()});
    }
  }
  for (const fs::path& sub : folders) collect(sub, root, depth + 1, out);
}

// TensorFlow and JAX leave the same recording twice: HOST.xplane.pb has everything,
// HOST.trace.json.gz and perfetto_trace.json.gz are made from it.
void drop_derived(std::vector<TraceFile>& files) {
  const auto has_profile = [&](const TraceFile& file, const std::string& host) {
    return std::any_of(files.begin(), files.end(), [&](const TraceFile& other) {
      return other.run == file.run && other.path.ends_with(".xplane.pb") &&
             (host.empty() || other.worker == host);
    });
  };
  std::vector<TraceFile> kept;
  for (const TraceFile& file : files) {
    const std::string name = fs::path(file.path).filename().string();
    const bool merged = name.starts_with("perfetto_trace.json");
    const std::size_t ending = name.find(".trace.json");
    const bool derived = merged || ending != std::string::npos;
    if (!derived || !has_profile(file, merged ? "" : name.substr(0, ending))) kept.push_back(file);
  }
  files = std::move(kept);
}

}  // namespace

std::string worker_name(const std::string& path) {
  const std::string file = fs::path(path).filename().string();
  const std::size_t at = file.find(".pt.trace.json");
  if (at == std::string::npos && file.ends_with(".sonde")) return file.substr(0, file.size() - 6);
  if (file.find(".paddle_trace.") != std::string::npos && file.rfind("_time_") != std::string::npos)
    return file.substr(0, file.rfind("_time_"));
  if (at == std::string::npos && file.ends_with(".xplane.pb"))
    return file.substr(0, file.size() - 10);
  return at == std::string::npos ? file : file.substr(0, at);
}

Result<std::vector<TraceFile>> find_trace_files(const std::string& path) {
  std::vector<TraceFile> files;
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) {
    files.push_back({".", path == "-" ? "stdin" : worker_name(path), path});
    return files;
  }
  fs::directory_iterator probe(path, error);
  if (error) {
    return Error{
        error == std::errc::permission_denied ? ErrorCode::NoPermission : ErrorCode::IoError,
        "cannot list the folder: " + error.message(),
        path,
        {},
        {}};
  }
  collect(path, path, 0, files);
  drop_derived(files);
  if (files.empty()) {
    return Error{ErrorCode::NoTraces,
                 "no trace in this folder or below it",
                 path,
                 {},
                 "expected files such as worker0.pt.trace.json.gz"};
  }
  std::sort(files.begin(), files.end(), [](const TraceFile& a, const TraceFile& b) {
    return std::tie(a.run, a.worker, a.path) < std::tie(b.run, b.worker, b.path);
  });
  return files;
}

Result<Trace> load_trace(const std::string& path, const LoadOptions& options) {
  Result<OpenedInput> input = open_input(path);
  if (!input) return input.error();
  const std::string shown = path == "-" ? "standard input" : path;
  if (input->head.empty()) {
    // A packed file may be cut before its first byte.
    if (const auto& losses = input->source->losses().entries(); !losses.empty()) {
      return Error{ErrorCode::BrokenInput, losses[0].sentence, shown, losses[0].first_offset,
                   "nothing could be read; copy the file again"};
    }
    return Error{ErrorCode::EmptyInput,
                 "the file is empty",
                 shown,
                 {},
                 "did the profiler finish writing it?"};
  }
  const Importer* importer = importer_for(input->head);
  if (importer == nullptr) return unknown_format(shown, input->head);
  Result<Trace> trace = importer->import({*input->source, input->disk_bytes, shown, options});
  if (!trace) {
    Error failure = trace.error();
    if (failure.path.empty()) failure.path = shown;
    return failure;
  }
  return trace;
}

Result<LoadedSet> load_traces(const std::vector<std::string>& paths, const LoadOptions& options) {
  LoadedSet set;
  for (const std::string& path : paths) {
    Result<std::vector<TraceFile>> files = find_trace_files(path);
    if (!files) {
      set.skipped.push_back(files.error());
      continue;
    }
    for (TraceFile& file : *files) {
      Result<Trace> trace = load_trace(file.path, options);
      if (trace)
        set.traces.push_back({file.run, file.worker, file.path, std::move(*trace)});
      else
        set.skipped.push_back(trace.error());
    }
  }
  if (set.traces.empty()) {
    if (!set.skipped.empty()) return set.skipped.front();
    return Error{ErrorCode::NoTraces, "no trace was given", {}, {}, {}};
  }
  return set;
}

}  // namespace sonde
