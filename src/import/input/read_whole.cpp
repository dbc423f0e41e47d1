#include "import/input/read_whole.hpp"

#include "base/format.hpp"

namespace sonde {

Result<std::string> read_whole(const ImportInput& input, std::uint64_t limit) {
  constexpr std::size_t kStep = 256 * 1024;
  std::string out;
  while (true) {
    const std::size_t size = out.size();
    out.resize(size + kStep);
    const Result<std::size_t> count = input.source.read({out.data() + size, kStep});
    if (!count) return count.error();
    out.resize(size + *count);
    if (input.options.progress) {
      input.options.progress({input.path, input.source.consumed(), input.disk_bytes});
    }
    if (*count == 0) return out;
    if (out.size() > limit) {
      return Error{ErrorCode::Unsupported,
                   "the file is larger than " + format_bytes(static_cast<double>(limit)) +
                       ", and files of this kind are read whole",
                   input.path,
                   {},
                   "profile a shorter part of the program"};
    }
  }
}

}  // namespace sonde
