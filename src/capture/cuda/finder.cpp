#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#include "capture/cuda/collector.hpp"

namespace sonde::capture::cuda {
namespace {

constexpr std::size_t kPath = 4096;
// Newest first. Behind CUDA 12 the library has one name for all releases of a major version.
constexpr const char* kNames[] = {"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8",
                                  "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
                                  "libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2",
                                  "libcupti.so.11.1", "libcupti.so.11.0", "libcupti.so"};
// From the folder of a loaded CUDA library: the folder itself, a toolkit, and the wheels of pip
// (site-packages/nvidia/NAME/lib, and site-packages/torch/lib beside them).
constexpr const char* kFolders[] = {"",
                                    "/../extras/CUPTI/lib64",
                                    "/../../../extras/CUPTI/lib64",
                                    "/../../cuda_cupti/lib",
                                    "/../../cu13/lib",
                                    "/../../nvidia/cu13/lib",
                                    "/../../nvidia/cuda_cupti/lib"};
constexpr const char* kCudaLibraries[] = {"libcupti.so",     "libcudart.so",      "libnvrtc.so",
                                          "libcublas.so",    "libtorch_cuda.so",  "libc10_cuda.so",
                                          "libnvJitLink.so", "xla_cuda_plugin.so"};

using Use = Verdict (*)(const Cupti&, const char*);

template <typename Function>
bool look_up(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

Verdict use_library(void* library, const char* path, Use use) {
  Cupti f{};
#define SONDE_LOOK_UP(name) look_up(library, #name, f.name)
  const bool whole = SONDE_LOOK_UP(cuptiGetVersion) & SONDE_LOOK_UP(cuptiSubscribe) &
                     SONDE_LOOK_UP(cuptiUnsubscribe) & SONDE_LOOK_UP(cuptiGetCallbackName) &
                     SONDE_LOOK_UP(cuptiActivityRegisterCallbacks) &
                     SONDE_LOOK_UP(cuptiActivityEnable) & SONDE_LOOK_UP(cuptiActivityDisable) &
                     SONDE_LOOK_UP(cuptiActivityGetNextRecord) &
                     SONDE_LOOK_UP(cuptiActivityFlushAll);
  SONDE_LOOK_UP(cuptiGetResultString);
  SONDE_LOOK_UP(cuptiSubscribe_v2);
  SONDE_LOOK_UP(cuptiEnableCallback);
  SONDE_LOOK_UP(cuptiActivityRegisterTimestampCallback);
  SONDE_LOOK_UP(cuptiActivitySetAttribute);
  SONDE_LOOK_UP(cuptiSetThreadIdType);
  SONDE_LOOK_UP(cuptiActivityEnableRuntimeApi);
  SONDE_LOOK_UP(cuptiActivityEnableDriverApi);
  SONDE_LOOK_UP(cuptiActivityGetNumDroppedRecords);
  SONDE_LOOK_UP(cuptiActivityFlushPeriod);
#undef SONDE_LOOK_UP
  if (!whole) return Verdict::TryAnother;
  Dl_info info{};
  const bool known =
      dladdr(reinterpret_cast<void*>(f.cuptiGetVersion), &info) != 0 && info.dli_fname;
  return use(f, known ? info.dli_fname : path);
}

// The search is over with a verdict.
Verdict latest = Verdict::TryAnother;

// A library that will not do stays loaded: something in it may run already.
bool try_path(const char* path, int flags, Use use) {
  if (latest != Verdict::TryAnother) return true;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | flags);
  if (library) latest = use_library(library, path, use);
  return latest != Verdict::TryAnother;
}

struct Loaded {
  char folders[16][kPath];
  char cupti[kPath];
  int count;
};

// Under the lock of the loader: nothing is loaded from here.
int look_at(dl_phdr_info* info, std::size_t, void* out) {
  Loaded& loaded = *static_cast<Loaded*>(out);
  const char* const path = info->dlpi_name;
  const char* const slash = path ? strrchr(path, '/') : nullptr;
  if (!slash || strlen(path) >= kPath) return 0;
  for (const char* const name : kCudaLibraries) {
    if (strncmp(slash + 1, name, strlen(name)) != 0) continue;
    if (name == kCudaLibraries[0] && !loaded.cupti[0]) strcpy(loaded.cupti, path);
    if (loaded.count == 16) return 0;
    char* const folder = loaded.folders[loaded.count];
    memcpy(folder, path, static_cast<std::size_t>(slash - path));
    folder[slash - path] = 0;
    for (int i = 0; i < loaded.count; ++i) {
      if (strcmp(loaded.folders[i], folder) == 0) return 0;
    }
    ++loaded.count;
  }
  return 0;
}

bool try_folder(const char* folder, const char* below, Use use) {
  char path[kPath];
  for (const char* const name : kNames) {
    const int size = snprintf(path, sizeof path, "%s%s/%s", folder, below, name);
    if (size > 0 && static_cast<std::size_t>(size) < sizeof path && try_path(path, 0, use)) {
      return true;
    }
  }
  return false;
}

Loaded loaded;

bool search(Use use) {
  // For those who know better; nothing else is tried then.
  if (const char* const own = secure_getenv("SONDE_CUPTI_PATH")) {
    return *own && try_path(own, 0, use);
  }
  dl_iterate_phdr(look_at, &loaded);
  if (loaded.cupti[0] && try_path(loaded.cupti, RTLD_NOLOAD, use)) return true;
  // The one that belongs to the program's own CUDA comes before the system's.
  for (int i = 0; i < loaded.count; ++i) {
    for (const char* const below : kFolders) {
      if (try_folder(loaded.folders[i], below, use)) return true;
    }
  }
  for (const char* const name : kNames) {
    if (try_path(name, 0, use)) return true;
  }
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const folder = secure_getenv(variable);
    if (!folder || !*folder) continue;
    if (try_folder(folder, "/extras/CUPTI/lib64", use) || try_folder(folder, "/lib64", use)) {
      return true;
    }
  }
  return try_folder("/usr/local/cuda", "/extras/CUPTI/lib64", use) ||
         try_folder("/usr/local/cuda", "/lib64", use);
}

// Those that bring a profiler of their own, which subscribes to CUPTI.
constexpr const char* kFrameworks[] = {"libtorch_cuda", "xla_cuda_plugin", "xla_extension",
                                       "libtensorflow", "libpaddle"};

// Whether a library is loaded whose file begins so.
bool is_loaded(const char* name) {
  const auto look = [](dl_phdr_info* info, std::size_t, void* beginning) {
    const char* const slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : nullptr;
    const auto* const wanted = static_cast<const char*>(beginning);
    return slash && strncmp(slash + 1, wanted, strlen(wanted)) == 0 ? 1 : 0;
  };
  return dl_iterate_phdr(look, const_cast<char*>(name)) != 0;
}

}  // namespace

bool find_cupti(Use use) {
  search(use);
  return latest == Verdict::Good;
}

bool torch_is_loaded() { return is_loaded("libtorch_cuda"); }

bool framework_is_loaded() {
  for (const char* const name : kFrameworks) {
    if (is_loaded(name)) return true;
  }
  return false;
}

bool find_driver(Driver& f) {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library) return false;
#define SONDE_LOOK_UP(name) look_up(library, #name, f.name)
  return SONDE_LOOK_UP(cuDriverGetVersion) & SONDE_LOOK_UP(cuDeviceGetCount) &
         SONDE_LOOK_UP(cuDeviceGet) & SONDE_LOOK_UP(cuDeviceGetName) &
         SONDE_LOOK_UP(cuDeviceTotalMem_v2) & SONDE_LOOK_UP(cuDeviceGetAttribute) &
         SONDE_LOOK_UP(cuDeviceGetUuid);
#undef SONDE_LOOK_UP
}

}  // namespace sonde::capture::cuda
