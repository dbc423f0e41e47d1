#include "import/chrome/chrome.hpp"
#include "import/importer.hpp"
#include "import/kineto/kineto.hpp"
#include "import/mxnet/mxnet.hpp"
#include "import/paddle/paddle.hpp"
#include "import/sonde_run/sonde_run.hpp"

namespace sonde {
namespace {

// Special formats before general ones: every Kineto trace is a Chrome trace too.
constexpr Importer kImporters[] = {
    {"sonde", "Sonde run", looks_like_sonde_run, import_sonde_run, true},
    {"paddle", "PaddlePaddle profiler dump", looks_like_paddle_dump, import_paddle_dump, true},
    {"paddle_json", "PaddlePaddle profiler trace", looks_like_paddle_json, import_paddle_json},
    {"kineto", "PyTorch profiler (Kineto) trace", looks_like_kineto, import_kineto},
    {"mxnet", "MXNet profiler dump", looks_like_mxnet, import_mxnet},
    {"chrome", "Chrome trace-event JSON", looks_like_chrome, import_chrome},
};

}  // namespace

std::span<const Importer> importers() { return kImporters; }

}  // namespace sonde
