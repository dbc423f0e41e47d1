#include "cli/run_gpu.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace sonde {
namespace fs = std::filesystem;
namespace {

constexpr const char* kCudaVariable = "CUDA_INJECTION64_PATH";
constexpr const char* kNvtxVariable = "NVTX_INJECTION64_PATH";

bool has_driver() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return false;
  ::dlclose(driver);
  return true;
}

// Beside the program, as it was built or installed; empty where it is missing.
std::string library_path(const char* name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path prefix = program.parent_path().parent_path();
  for (const char* folder : {"lib", "lib64", SONDE_LIBRARY_FOLDER}) {
    const fs::path path = prefix / folder / name;
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return {};
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
  if (const std::string nvtx = library_path("libsonde_nvtx.so");
      !nvtx.empty() && !is_set(kNvtxVariable)) {
    out.environment.emplace_back(kNvtxVariable, nvtx);
  }
  if (!has_driver()) {
    if (mode == GpuMode::On) out.note = "GPU: none recorded: no NVIDIA driver on this machine";
    return out;
  }
  out.watch = true;
  const std::string cuda = library_path("libsonde_cuda.so");
  if (cuda.empty()) {
    out.note = "GPU: none recorded: libsonde_cuda.so does not lie in the lib folder beside sonde";
  } else if (is_set(kCudaVariable)) {
    out.note = "GPU: none recorded: CUDA_INJECTION64_PATH is set, and another tool is loaded by it";
  } else {
    out.environment.emplace_back(kCudaVariable, cuda);
  }
  return out;
}

}  // namespace sonde
