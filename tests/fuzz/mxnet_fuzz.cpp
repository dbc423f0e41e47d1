// The MXNet reader, and the two tables over what it makes of any bytes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "import/importer.hpp"
#include "import/input/byte_source.hpp"
#include "import/mxnet/mxnet.hpp"
#include "report/styles/mxnet.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  looks_like_mxnet(bytes);
  Result<OpenedInput> input = open_raw(make_memory_reader(bytes));
  if (!input) return 0;
  LoadOptions options;
  options.threads = 1;
  const Result<Trace> trace = import_mxnet({*input->source, size, "fuzz", options});
  if (!trace) return 0;
  for (const SliceId slice : all_slices(*trace)) {
    require(trace->slices().start(slice) >= 0 && trace->slices().duration(slice) >= 0);
  }
  for (const MxnetTable table : {MxnetTable::Old, MxnetTable::New}) {
    MxnetRequest request;
    request.table = table;
    require(!mxnet_table(*trace, request).empty());
    require(!mxnet_json(*trace, request).empty());
  }
  return 0;
}
