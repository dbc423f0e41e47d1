#include "server/trace_store.hpp"

#include <algorithm>

namespace sonde {
namespace {

// Traces beyond this are forgotten, the least recently used first.
constexpr std::size_t kMaxBytes = std::size_t{4} << 30;

}  // namespace

TraceStore::TraceStore(std::string folder) : folder_(std::move(folder)) {}

bool TraceStore::contains(const std::string& path) const {
  std::error_code failed;
  const auto root = std::filesystem::canonical(folder_, failed);
  if (failed) return false;
  const auto real = std::filesystem::canonical(path, failed);
  if (failed) return false;
  const auto [in_root, in_path] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  return in_root == root.end();
}

Result<std::vector<TraceFile>> TraceStore::discover() {
  std::vector<TraceFile> found;
  Result<std::vector<TraceFile>> all = find_trace_files(folder_);
  if (all) {
    for (TraceFile& file : *all) {
      if (contains(file.path)) found.push_back(std::move(file));
    }
  } else if (all.error().code != ErrorCode::NoTraces) {
    return all.error();
  }
  const std::lock_guard lock(mutex_);
  files_ = found;
  return found;
}

Result<std::vector<TraceFile>> TraceStore::files() {
  {
    const std::lock_guard lock(mutex_);
    if (files_) return *files_;
  }
  return discover();
}

std::optional<TraceStore::Stamp> TraceStore::stamp_of(const std::string& path) {
  std::error_code failed;
  Stamp stamp;
  stamp.size = std::filesystem::file_size(path, failed);
  if (failed) return std::nullopt;
  stamp.time = std::filesystem::last_write_time(path, failed);
  if (failed) return std::nullopt;
  return stamp;
}

Result<std::shared_ptr<const Trace>> TraceStore::load(const TraceFile& file) {
  const std::optional<Stamp> stamp = stamp_of(file.path);
  // Looked at again, since the file may have become a link since the discovery.
  if (!stamp || !contains(file.path)) {
    return Error{ErrorCode::NotFound, "the trace is gone", file.path, {}, {}};
  }
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry>& known = entries_[file.path];
    if (!known) known = std::make_shared<Entry>();
    entry = known;
  }
  const std::lock_guard reading(entry->reading);
  {
    const std::lock_guard lock(mutex_);
    if (entry->trace && entry->stamp == *stamp) {
      entry->last_use = ++clock_;
      return entry->trace;
    }
  }
  Result<Trace> trace = load_trace(file.path);
  if (!trace) return trace.error();
  const std::lock_guard lock(mutex_);
  entry->trace = std::make_shared<const Trace>(std::move(*trace));
  entry->stamp = *stamp;
  entry->last_use = ++clock_;
  make_room(*entry);
  return entry->trace;
}

void TraceStore::make_room(const Entry& keep) {
  for (;;) {
    std::size_t bytes = 0;
    Entry* oldest = nullptr;
    for (const auto& [path, entry] : entries_) {
      if (!entry->trace) continue;
      bytes += entry->trace->bytes();
      if (entry.get() != &keep && (!oldest || entry->last_use < oldest->last_use)) {
        oldest = entry.get();
      }
    }
    if (bytes <= kMaxBytes || !oldest) return;
    oldest->trace.reset();
  }
}

}  // namespace sonde
