#include "import/austin/austin.hpp"
#include "import/callgrind/callgrind.hpp"
#include "import/chrome/chrome.hpp"
#include "import/collapsed/collapsed.hpp"
#include "import/execution_trace/execution_trace.hpp"
#include "import/importer.hpp"
#include "import/kineto/kineto.hpp"
#include "import/lprof/lprof.hpp"
#include "import/memory_snapshot/memory_snapshot.hpp"
#include "import/memory_timeline/memory_timeline.hpp"
#include "import/mprof/mprof.hpp"
#include "import/mxnet/mxnet.hpp"
#include "import/nsys/nsys.hpp"
#include "import/onnxruntime/onnxruntime.hpp"
#include "import/paddle/paddle.hpp"
#include "import/perf_script/perf_script.hpp"
#include "import/perfetto/perfetto.hpp"
#include "import/pprof/pprof.hpp"
#include "import/pprofile/pprofile.hpp"
#include "import/pstats/pstats.hpp"
#include "import/rocprof/rocprof.hpp"
#include "import/sonde_run/sonde_run.hpp"
#include "import/sonde_run/tables/tables.hpp"
#include "import/speedscope/speedscope.hpp"
#include "import/tensorflow_json/tensorflow_json.hpp"
#include "import/tracemalloc/tracemalloc.hpp"
#include "import/vprof/vprof.hpp"
#include "import/xplane/xplane.hpp"
#include "import/xprof_tool/xprof_tool.hpp"

namespace sonde {
namespace {

// Special formats before general ones: every Kineto trace is a Chrome trace too.
constexpr Importer kImporters[] = {
    {"sonde", "Sonde run", looks_like_sonde_run, import_sonde_run, true},
    {"tables", "sums and samples of a Sonde run", looks_like_tables, refuse_tables, true, true},
    {"paddle", "PaddlePaddle profiler dump", looks_like_paddle_dump, import_paddle_dump, true},
    {"paddle_json", "PaddlePaddle profiler trace", looks_like_paddle_json, import_paddle_json},
    {"pstats", "Python profile (.prof)", looks_like_pstats, import_pstats, true},
    {"lprof", "line_profiler's .lprof", looks_like_lprof, import_lprof, true},
    {"tracemalloc", "tracemalloc snapshot", looks_like_tracemalloc, import_tracemalloc, true},
    {"mojo", "Austin's MOJO", looks_like_mojo, import_mojo, true},
    {"speedscope", "speedscope JSON", looks_like_speedscope, import_speedscope, true},
    {"vprof", "vprof JSON", looks_like_vprof, import_vprof, true},
    {"perfetto", "Perfetto trace", looks_like_perfetto, import_perfetto, true},
    {"nsys", "Nsight Systems SQLite export", looks_like_nsys, import_nsys, true},
    {"memory_snapshot", "PyTorch memory snapshot", looks_like_memory_snapshot,
     import_memory_snapshot, true},
    {"onnxruntime", "ONNX Runtime profile", looks_like_onnxruntime, import_onnxruntime},
    {"rocprof", "rocprof CSV tables", looks_like_rocprof_csv, import_rocprof_csv, true, false,
     is_brought_along_by_rocprof},
    {"rocprof-json", "rocprofv3 JSON", looks_like_rocprof_json, import_rocprof_json, true},
    {"execution_trace", "PyTorch execution trace", looks_like_execution_trace,
     import_execution_trace, true},
    {"chakra", "Chakra execution trace", looks_like_chakra, import_chakra, true},
    {"memory_timeline", "PyTorch memory timeline", looks_like_memory_timeline,
     import_memory_timeline, true},
    {"xplane", "TensorFlow and JAX profile (XPlane)", looks_like_xplane, import_xplane, true},
    {"kineto", "PyTorch profiler (Kineto) trace", looks_like_kineto, import_kineto},
    {"mxnet", "MXNet profiler dump", looks_like_mxnet, import_mxnet},
    {"tensorflow-json", "TensorFlow and JAX timeline (JSON)", looks_like_tensorflow_json,
     import_tensorflow_json},
    {"xprof-tool", "answer of XProf", looks_like_xprof_tool, refuse_xprof_tool, false, true},
    {"chrome", "Chrome trace-event JSON", looks_like_chrome, import_chrome},
    {"callgrind", "Callgrind profile", looks_like_callgrind, import_callgrind, true},
    {"mprof", "memory_profiler's mprof", looks_like_mprof, import_mprof, true},
    {"pprofile", "pprofile's listing", looks_like_pprofile, import_pprofile, true},
    {"austin", "Austin's text", looks_like_austin, import_austin, true},
    {"perf_script", "perf script text", looks_like_perf_script, import_perf_script, true},
    {"pprof", "pprof profile", looks_like_pprof, import_pprof, true},
    // Nearly any text might be one: after all others.
    {"collapsed", "collapsed stacks", looks_like_collapsed, import_collapsed, true},
};

}  // namespace

std::span<const Importer> importers() { return kImporters; }

}  // namespace sonde
