#include "sampler/code_cache.hpp"

#include <algorithm>

namespace sonde {
namespace {

constexpr std::size_t kMaxEntries = 200'000;
constexpr std::size_t kMaxLineTable = 1 << 20;
constexpr std::size_t kMaxKnownLines = 4096;

}  // namespace

const FunctionInfo* CodeCache::intern(FunctionInfo info) {
  std::string key = info.file + '\0' + info.name + '\0' + info.qualified_name + '\0' +
                    std::to_string(info.first_line) + (info.native ? "n" : "");
  const auto [at, is_new] = by_name_.try_emplace(std::move(key), nullptr);
  if (is_new) at->second = &functions_.emplace_back(std::move(info));
  return at->second;
}

CodeCache::Entry* CodeCache::read_code(Address code, const Identity& identity) {
  if (identity.first_line < 0 || objects_.type_name(code) != "code") return nullptr;
  const PythonLayout& layout = objects_.layout();
  std::optional<std::string> file = objects_.text(identity.file);
  std::optional<std::string> name = objects_.text(identity.name);
  std::optional<std::string> lines = objects_.bytes(identity.lines, kMaxLineTable);
  if (!file || !name || !lines) return nullptr;
  Entry entry;
  entry.identity = identity;
  // What the interpreter puts between C and Python.
  const bool own = *file == "<shim>" || (name->empty() && file->empty());
  if (!own) {
    FunctionInfo info;
    info.file = std::move(*file);
    info.name = std::move(*name);
    info.first_line = identity.first_line;
    objects_.memory().get(code + layout.code.flags, info.flags);
    Address qualified = 0;
    if (layout.code.qualified_name != 0 &&
        objects_.memory().get(code + layout.code.qualified_name, qualified)) {
      info.qualified_name = objects_.text(qualified).value_or("");
    }
    entry.function = intern(std::move(info));
    entry.lines = std::move(*lines);
  }
  // A program that makes code without end: begin anew.
  if (entries_.size() >= kMaxEntries) entries_.clear();
  return &(entries_[code] = std::move(entry));
}

bool CodeCache::knows(const std::vector<RawFrame>& frames) const {
  return std::all_of(frames.begin(), frames.end(),
                     [&](const RawFrame& frame) { return entries_.contains(frame.code); });
}

bool CodeCache::resolve(const std::vector<RawFrame>& frames, std::vector<SampledFrame>& out) {
  return resolve(frames, out, unused_);
}

bool CodeCache::resolve(const std::vector<RawFrame>& frames, std::vector<SampledFrame>& out,
                        std::vector<FrameEntry>& entries) {
  out.clear();
  entries.clear();
  const auto& code = objects_.layout().code;
  identities_.assign(frames.size(), {});
  pieces_.clear();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Address at = frames[i].code;
    Identity& identity = identities_[i];
    pieces_.push_back({at + code.file, &identity.file, sizeof identity.file});
    pieces_.push_back({at + code.name, &identity.name, sizeof identity.name});
    pieces_.push_back({at + code.lines, &identity.lines, sizeof identity.lines});
    pieces_.push_back({at + code.first_line, &identity.first_line, sizeof identity.first_line});
  }
  objects_.memory().read_all(pieces_);
  bool all = true;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    for (std::size_t piece = 4 * i; piece < 4 * i + 4; ++piece) all &= pieces_[piece].read;
    if (!all) return false;
    const auto found = entries_.find(frames[i].code);
    Entry* entry = found == entries_.end() ? nullptr : &found->second;
    if (!entry || entry->identity != identities_[i]) {
      entry = read_code(frames[i].code, identities_[i]);
    }
    if (!entry) return false;
    if (!entry->function) {
      if (frames[i].is_entry && !entries.empty()) entries.back() = {true, frames[i].activation};
      continue;
    }
    const auto known = entry->known_lines.find(frames[i].instruction);
    int line = 0;
    if (known != entry->known_lines.end()) {
      line = known->second;
    } else {
      line = line_at(objects_.layout().lines, entry->lines, entry->function->first_line,
                     frames[i].instruction);
      if (entry->known_lines.size() < kMaxKnownLines) {
        entry->known_lines.emplace(frames[i].instruction, line);
      }
    }
    out.push_back({entry->function, line});
    entries.push_back({frames[i].is_entry, frames[i].activation});
  }
  return true;
}

}  // namespace sonde
