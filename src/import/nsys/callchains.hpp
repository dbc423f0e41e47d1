#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "import/nsys/report_file.hpp"

namespace sonde::nsys {

// The stacks of one *_CALLCHAINS table.
class Callchains {
 public:
  // The stacks that calls (column callchainId) or samples (column id) of the other table name, as
  // far as those are wanted.
  static Callchains of_calls(ReportFile& file, std::string_view table,
                             const SqliteFile::Table& calls);
  static Callchains of_samples(ReportFile& file, std::string_view table,
                               const SqliteFile::Table& samples);

  bool empty() const { return stacks_.empty(); }
  StackId stack(std::optional<std::int64_t> id) const;
  // Functions joined by ';', innermost first; invalid where there is no such stack.
  StringId text(std::optional<std::int64_t> id) const;

 private:
  // Null: all.
  using Wanted = std::optional<std::unordered_set<std::int64_t>>;
  Callchains(ReportFile& file, std::string_view table, const Wanted& wanted);

  std::unordered_map<std::int64_t, StackId> stacks_;
  std::unordered_map<std::int64_t, StringId> texts_;
};

}  // namespace sonde::nsys
