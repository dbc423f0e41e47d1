#include "import/chrome/chrome.hpp"
#include "import/importer.hpp"
#include "import/kineto/kineto.hpp"

namespace sonde {
namespace {

// Special formats before general ones: every Kineto trace is a Chrome trace too.
constexpr Importer kImporters[] = {
    {"kineto", "PyTorch profiler (Kineto) trace", looks_like_kineto, import_kineto},
    {"chrome", "Chrome trace-event JSON", looks_like_chrome, import_chrome},
};

}  // namespace

std::span<const Importer> importers() { return kImporters; }

}  // namespace sonde
