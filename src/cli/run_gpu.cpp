#include "cli/run_gpu.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "cli/beside.hpp"

namespace sonde {
namespace {

constexpr const char* kCudaVariable = "CUDA_INJECTION64_PATH";
constexpr const char* kNvtxVariable = "NVTX_INJECTION64_PATH";

bool has_driver() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return false;
  ::dlclose(driver);
  return true;
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != 0;
}

}  // namespace

std::optional<GpuMode> parse_gpu_mode(const std::string& text) {
  if (text.empty() || text == "auto") return GpuMode::Auto;
  if (text == "on") return GpuMode::On;
  if (text == "off") return GpuMode::Off;
  return std::nullopt;
}

GpuSetup prepare_gpu(GpuMode mode) {
  GpuSetup out;
  if (mode == GpuMode::Off) return out;
  // NVTX needs no GPU.
  if (const auto nvtx = find_beside("libsonde_nvtx.so"); nvtx && !is_set(kNvtxVariable)) {
    out.environment.emplace_back(kNvtxVariable, nvtx->string());
  }
  if (!has_driver()) {
    if (mode == GpuMode::On) out.note = "GPU: none recorded: no NVIDIA driver on this machine";
    return out;
  }
  out.watch = true;
  const auto cuda = find_beside("libsonde_cuda.so");
  if (!cuda) {
    out.note = "GPU: none recorded: libsonde_cuda.so does not lie in the lib folder beside sonde";
  } else if (is_set(kCudaVariable)) {
    out.note = "GPU: none recorded: CUDA_INJECTION64_PATH is set, and another tool is loaded by it";
  } else {
    out.environment.emplace_back(kCudaVariable, cuda->string());
  }
  return out;
}

}  // namespace sonde
