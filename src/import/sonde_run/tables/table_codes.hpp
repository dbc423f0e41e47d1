#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.hpp"
#include "import/sonde_run/tables/tables_file.hpp"

namespace sonde {

// What the numbers of texts, codes and frames stand for. A number that nothing stands behind is
// counted as a loss.
class TableCodes {
 public:
  TableCodes(const TablesFile& file, TraceBuilder& builder);

  struct Code {
    StringId name;
    StringId qualified_name;  // invalid where it is not known
    StringId file;
    std::int32_t line = 0;
    std::uint32_t flags = 0;

    StringId best_name() const { return qualified_name.valid() ? qualified_name : name; }
  };

  // 0 is none, which is nothing bad.
  StringId text(std::uint32_t id);
  const Code* code(std::uint32_t id);
  StackId stack(std::uint32_t frame);

  void tell_losses();

 private:
  void read_codes(const TablesFile& file);
  void read_frames(const TablesFile& file);

  TraceBuilder& builder_;
  const FlatMap<StringId>& texts_;
  std::vector<Code> codes_;
  FlatMap<std::uint32_t> code_rows_;
  FlatMap<StackId> stacks_;
  std::uint64_t bad_numbers_ = 0;
  std::uint64_t circles_ = 0;
};

}  // namespace sonde
