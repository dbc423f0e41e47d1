#include "import/sonde_run/run_folder.hpp"

#include <simdjson.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace sonde {
namespace fs = std::filesystem;
namespace {

constexpr int kMaxDepth = 4;
constexpr std::uintmax_t kMaxRunFile = 16 << 20;

// Empty where it is none.
std::string text_of(simdjson::simdjson_result<simdjson::dom::element> value) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

struct Newest {
  fs::path folder;
  std::int64_t start = INT64_MIN;
};

void search(const fs::path& folder, int depth, Newest& best) {
  if (const std::optional<RunInfo> info = read_run_info(folder.string())) {
    // The names of runs that began at the same moment decide, so that the answer is always the
    // same.
    if (std::pair(info->start, folder) > std::pair(best.start, best.folder)) {
      best = {folder, info->start};
    }
    return;
  }
  if (depth == kMaxDepth) return;
  std::error_code error;
  for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) search(it->path(), depth + 1, best);
  }
}

}  // namespace

std::optional<RunInfo> read_run_info(const std::string& folder) {
  const fs::path path = fs::path(folder) / kRunFile;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > kMaxRunFile) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  simdjson::dom::parser parser;
  simdjson::dom::object run;
  if (parser.parse(text).get(run) != simdjson::SUCCESS) return std::nullopt;
  RunInfo out;
  // Without a start it is somebody else's run.json.
  if (run["start_unix_ns"].get(out.start) != simdjson::SUCCESS) return std::nullopt;
  std::int64_t number = 0;
  if (run["end_unix_ns"].get(number) == simdjson::SUCCESS) out.end = number;
  if (run["exit_code"].get(number) == simdjson::SUCCESS) out.exit_code = static_cast<int>(number);
  if (run["signal"].get(number) == simdjson::SUCCESS) out.signal = static_cast<int>(number);
  out.version = text_of(run["sonde"]);
  out.folder = text_of(run["folder"]);
  simdjson::dom::object machine;
  if (run["machine"].get(machine) == simdjson::SUCCESS) {
    out.host = text_of(machine["host"]);
    out.system = text_of(machine["system"]);
    out.architecture = text_of(machine["architecture"]);
    out.cpu = text_of(machine["cpu"]);
    if (machine["cores"].get(number) == simdjson::SUCCESS) out.cores = number;
    if (machine["memory_bytes"].get(number) == simdjson::SUCCESS) out.memory_bytes = number;
  }
  simdjson::dom::array command;
  if (run["command"].get(command) == simdjson::SUCCESS) {
    for (const simdjson::dom::element word : command) {
      std::string_view part;
      if (word.get(part) == simdjson::SUCCESS) out.command.emplace_back(part);
    }
  }
  return out;
}

Result<std::string> newest_run(const std::string& root) {
  Newest best;
  search(root, 0, best);
  if (best.folder.empty()) {
    return Error{ErrorCode::NoTraces,
                 "no PATH was given, and there is no run below " + root + "/",
                 {},
                 {},
                 "name a trace, or record a run: sonde run -- PROGRAM"};
  }
  return best.folder.string();
}

}  // namespace sonde
