#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "import/nsys/report_file.hpp"

namespace sonde::nsys {

// The stacks of one *_CALLCHAINS table.
class Callchains {
 public:
  Callchains(ReportFile& file, std::string_view table);

  bool empty() const { return stacks_.empty(); }
  StackId stack(std::optional<std::int64_t> id) const;
  // Functions joined by ';', innermost first; invalid where there is no such stack.
  StringId text(std::optional<std::int64_t> id) const;

 private:
  std::unordered_map<std::int64_t, StackId> stacks_;
  std::unordered_map<std::int64_t, StringId> texts_;
};

}  // namespace sonde::nsys
