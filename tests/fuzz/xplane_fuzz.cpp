// An XPlane profile of any content gives a trace or an error, never anything worse; so do the
// answers of XProf, which are known by their first bytes only.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_trace.hpp"
#include "import/xplane/xplane.hpp"
#include "import/xprof_tool/xprof_tool.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sonde::looks_like_xplane(bytes);
  sonde::looks_like_xprof_tool(bytes);
  sonde::fuzz::import_and_check(bytes, sonde::import_xplane);
  return 0;
}
