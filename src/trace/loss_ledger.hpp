#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// How much a loss matters to the reader of a report.
enum class Severity : std::uint8_t {
  Info,     // nothing that a number depends on
  Warning,  // some events are missing or were mended
  Error,    // a part of the input could not be read at all
};

std::string_view severity_name(Severity severity);

// Everything that an importer could not use, counted by name. Every report shows it.
class LossLedger {
 public:
  struct Entry {
    std::string name;  // snake_case, stable: scripts read it
    Severity severity = Severity::Info;
    std::string sentence;  // for the user
    std::uint64_t count = 0;
    std::uint64_t first_offset = kNoOffset;  // byte offset in the inflated input
    std::string example;                     // the start of the first raw text, made printable
  };
  static constexpr std::uint64_t kNoOffset = UINT64_MAX;

  void add(std::string_view name, Severity severity, std::string_view sentence,
           std::uint64_t count = 1, std::uint64_t offset = kNoOffset,
           std::string_view example = {});
  void merge(const LossLedger& other);

  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  const Entry* find(std::string_view name) const;

 private:
  std::vector<Entry> entries_;  // in the order of first appearance
};

}  // namespace sonde
