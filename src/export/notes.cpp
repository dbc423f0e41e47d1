#include "export/notes.hpp"

#include "base/format.hpp"

namespace sonde {

void note_left_out(ExportNotes& notes, std::string_view what, std::uint64_t count) {
  if (count == 0) return;
  notes.push_back(format_count(static_cast<std::int64_t>(count)) + " " + std::string(what) +
                  " left out: the format has no place for them");
}

}  // namespace sonde
