#include "trace/loss_ledger.hpp"

#include <algorithm>

namespace sonde {
namespace {

constexpr std::size_t kExampleBytes = 60;

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kExampleBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 0x20 && byte < 0x7F ? c : '?';
  }
  if (text.size() > kExampleBytes) out += "...";
  return out;
}

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::Info:
      return "info";
    case Severity::Warning:
      return "warning";
    case Severity::Error:
      return "error";
  }
  return "error";
}

void LossLedger::add(std::string_view name, Severity severity, std::string_view sentence,
                     std::uint64_t count, std::uint64_t offset, std::string_view example) {
  if (count == 0) return;
  auto entry = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& e) { return e.name == name; });
  if (entry == entries_.end()) {
    entries_.push_back(
        {std::string(name), severity, std::string(sentence), count, offset, printable(example)});
    return;
  }
  entry->count += count;
  if (offset < entry->first_offset) {
    entry->first_offset = offset;
    entry->example = printable(example);
  }
}

void LossLedger::merge(const LossLedger& other) {
  for (const Entry& e : other.entries_) {
    add(e.name, e.severity, e.sentence, e.count, e.first_offset, e.example);
  }
}

const LossLedger::Entry* LossLedger::find(std::string_view name) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return e.name == name; });
  return entry == entries_.end() ? nullptr : &*entry;
}

}  // namespace sonde
