#include "cli/run_folder_writer.hpp"

#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/format.hpp"
#include "base/json_writer.hpp"
#include "base/write_error.hpp"
#include "import/sonde_run/run_folder.hpp"
#include "sonde_version.hpp"
#include "system/machine.hpp"

namespace sonde {
namespace fs = std::filesystem;
namespace {

std::int64_t wall_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// "python3-20261115-093012", in local time: it is read by people.
std::string run_name(const std::string& program, std::int64_t start) {
  std::string name = fs::path(program).filename().string();
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-' || c == '+';
    if (!plain) c = '_';
  }
  // A folder whose name begins with a dot is not searched for traces.
  while (name.starts_with('.')) name.erase(0, 1);
  if (name.empty()) name = "program";
  name.resize(std::min<std::size_t>(name.size(), 64));
  const time_t seconds = start / 1'000'000'000;
  tm parts{};
  ::localtime_r(&seconds, &parts);
  char time[32];
  std::strftime(time, sizeof time, "-%Y%m%d-%H%M%S", &parts);
  return name + time;
}

Error cannot_make(const std::string& path, const std::error_code& error) {
  const bool denied =
      error == std::errc::permission_denied || error == std::errc::read_only_file_system;
  return {denied ? ErrorCode::NoPermission : ErrorCode::IoError,
          "cannot make the folder of the run: " + error.message(),
          path,
          {},
          "choose another one with -o DIR"};
}

// The outermost folder of `path` that does not exist yet.
std::string first_missing(const fs::path& path) {
  std::error_code ignored;
  std::string missing;
  for (fs::path at = path; !at.empty() && !fs::exists(at, ignored); at = at.parent_path()) {
    missing = at.string();
  }
  return missing;
}

void remove_old_run(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> old;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path ending = it->path().extension();
    if (ending == ".sonde" || ending == ".tables" || ending == ".samples" || ending == ".memory" ||
        ending == ".cupti" || it->path().filename() == kRunFile ||
        it->path().filename() == "notes") {
      old.push_back(it->path());
    }
  }
  for (const fs::path& path : old) fs::remove_all(path, error);
}

}  // namespace

Result<RunFolderWriter> RunFolderWriter::begin(const std::string& path,
                                               const std::vector<std::string>& command,
                                               bool force) {
  Result<RunFolderWriter> out = make(path, command, force);
  if (!out || out->write(std::nullopt, std::nullopt)) return out;
  const Error error = write_error("cannot write run.json", out->path(), errno);
  out->remove();
  return error;
}

Result<RunFolderWriter> RunFolderWriter::make(const std::string& path,
                                              const std::vector<std::string>& command, bool force) {
  RunFolderWriter out;
  out.command_ = command;
  out.start_ = wall_now();
  std::error_code error;
  if (path.empty()) {
    const fs::path base = fs::path(kRunsFolder) / run_name(command.front(), out.start_);
    out.made_ = first_missing(base);
    fs::create_directories(base.parent_path(), error);
    if (error) return cannot_make(base.string(), error);
    // Two runs may begin in the same second; the one that makes the folder has it.
    fs::path folder = base;
    for (int i = 2; !fs::create_directory(folder, error); ++i) {
      if (error) return cannot_make(folder.string(), error);
      folder = base.string() + "-" + std::to_string(i);
    }
    if (folder != base || out.made_.empty()) out.made_ = folder.string();
    out.path_ = folder.string();
  } else {
    out.path_ = path;
    const bool there = fs::exists(path, error);
    if (there && !fs::is_directory(path, error)) {
      return Error{ErrorCode::IoError,
                   "is a file, not a folder",
                   path,
                   {},
                   "choose another folder with -o DIR"};
    }
    if (there && !fs::is_empty(path, error) && !error) {
      if (!force) {
        return Error{ErrorCode::IoError,
                     "the folder is not empty",
                     path,
                     {},
                     "choose another one, or replace the run in it with --force"};
      }
      remove_old_run(path);
    }
    out.made_ = there ? "" : first_missing(fs::path(path).lexically_normal());
    fs::create_directories(path, error);
    if (error) return cannot_make(path, error);
  }
  out.full_path_ = fs::canonical(out.path_, error).string();
  if (error) return cannot_make(out.path_, error);
  return out;
}

void RunFolderWriter::remove() const {
  std::error_code ignored;
  remove_old_run(path_);
  if (!made_.empty()) fs::remove_all(made_, ignored);
}

bool RunFolderWriter::write(std::optional<int> exit_code, std::optional<int> signal) const {
  JsonWriter json(JsonWriter::Layout::Indented);
  json.begin_object();
  json.member("sonde", kVersion);
  json.key("command");
  json.begin_array();
  for (const std::string& word : command_) json.value(word);
  json.end_array();
  std::error_code error;
  json.member("folder", fs::current_path(error).string());
  json.member("start", format_utc(start_));
  json.member("start_unix_ns", start_);
  if (exit_code) {
    const std::int64_t end = wall_now();
    json.member("end", format_utc(end));
    json.member("end_unix_ns", end);
    json.member("exit_code", *exit_code);
    if (signal) json.member("signal", *signal);
  }
  const MachineFacts machine = machine_facts();
  json.key("machine");
  json.begin_object();
  json.member("host", machine.host);
  json.member("system", machine.system);
  json.member("architecture", machine.architecture);
  if (!machine.cpu.empty()) json.member("cpu", machine.cpu);
  json.member("cores", machine.cores);
  json.member("memory_bytes", machine.memory_bytes);
  json.end_object();
  json.end_object();

  // Whole or as it was before, whatever happens meanwhile.
  const std::string path = full_path_ + "/" + kRunFile;
  const std::string scratch = path + ".new";
  std::ofstream file(scratch, std::ios::binary | std::ios::trunc);
  file << json.text() << '\n';
  file.close();
  if (!file || std::rename(scratch.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(scratch.c_str());
    errno = code;
    return false;
  }
  return true;
}

}  // namespace sonde
