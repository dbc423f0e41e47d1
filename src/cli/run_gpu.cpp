#include "cli/run_gpu.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "cli/beside.hpp"
#include "cli/usage.hpp"

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

void RunGpu::define(Options& options) {
  Option& word =
      options.text(word_, "--gpu", "MODE",
                   "record the GPU's work and NVTX ranges: auto (where there is an NVIDIA "
                   "driver), on (and say why where there is none) or off");
  word.choices = {"auto", "on", "off"};
  word.default_text = "auto";
}

std::optional<Error> RunGpu::check() {
  if (word_.empty() || word_ == "auto") {
    mode_ = Mode::Auto;
  } else if (word_ == "on") {
    mode_ = Mode::On;
  } else if (word_ == "off") {
    mode_ = Mode::Off;
  } else {
    return usage_error(fmt::format("--gpu is auto, on or off, not '{}'", word_));
  }
  return std::nullopt;
}

void RunGpu::apply(Program::Environment& environment) {
  if (mode_ == Mode::Off) return;
  // NVTX needs no GPU.
  if (const auto nvtx = find_beside("libsonde_nvtx.so"); nvtx && !is_set(kNvtxVariable)) {
    environment.emplace_back(kNvtxVariable, nvtx->string());
  }
  if (!has_driver()) {
    if (mode_ == Mode::On) note_ = "GPU: none recorded: no NVIDIA driver on this machine";
    return;
  }
  watch_ = true;
  const auto cuda = find_beside("libsonde_cuda.so");
  if (!cuda) {
    note_ = "GPU: none recorded: libsonde_cuda.so does not lie in the lib folder beside sonde";
  } else if (is_set(kCudaVariable)) {
    note_ = "GPU: none recorded: CUDA_INJECTION64_PATH is set, and another tool is loaded by it";
  } else {
    environment.emplace_back(kCudaVariable, cuda->string());
  }
}

}  // namespace sonde
