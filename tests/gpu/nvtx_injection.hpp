#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

#include "capture/nvtx/nvtx_abi.hpp"

// What NVIDIA's headers do before the first call: load the library that NVTX_INJECTION64_PATH
// names, and hand it the tables of functions to fill.

namespace sonde::testing {

namespace abi = capture::nvtx;

using FillFunctions = int (*)(int module, abi::FunctionTable* table, unsigned* size);

template <FillFunctions functions>
const void* export_table(std::uint32_t id) {
  static const abi::CallbacksTable kTable = {sizeof(abi::CallbacksTable), functions};
  return id == abi::kCallbacksTable ? &kTable : nullptr;
}

// The library, started; nullptr where there is none.
template <FillFunctions functions>
void* start_injection() {
  const char* const path = std::getenv("NVTX_INJECTION64_PATH");
  void* const library = path ? ::dlopen(path, RTLD_LAZY) : nullptr;
  const auto start = library ? reinterpret_cast<int (*)(abi::GetExportTable)>(
                                   ::dlsym(library, "InitializeInjectionNvtx2"))
                             : nullptr;
  return start && start(export_table<functions>) ? library : nullptr;
}

}  // namespace sonde::testing
