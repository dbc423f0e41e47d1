#include <string.h>

#include "capture/cuda/collector.hpp"

namespace sonde::capture::cuda {
namespace {

// How the names of functions begin that launch, copy, wait, allocate or load something. Those that
// only ask or set a value are called many times as often, and are over at once.
constexpr const char* kBeginnings[] = {
    // the runtime
    "cudaLaunch",
    "cudaGraph",
    "cudaMemcpy",
    "cudaMemset",
    "cudaMemPrefetch",
    "cudaMalloc",
    "cudaFree",
    "cudaHostAlloc",
    "cudaHostRegister",
    "cudaHostUnregister",
    "cudaDeviceSynchronize",
    "cudaThreadSynchronize",
    "cudaStreamSynchronize",
    "cudaEventSynchronize",
    "cudaStreamWaitEvent",
    "cudaEventRecord",
    "cudaEventQuery",
    "cudaStreamQuery",
    "cudaStreamCreate",
    "cudaStreamDestroy",
    "cudaStreamBeginCapture",
    "cudaStreamEndCapture",
    "cudaDeviceReset",
    "cudaLibraryLoad",
    "cudaMemPoolTrim",
    // the driver
    "cuLaunch",
    "cuGraph",
    "cuMemcpy",
    "cuMemset",
    "cuMemPrefetch",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemHostAlloc",
    "cuMemHostRegister",
    "cuMemHostUnregister",
    "cuMemCreate",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemRelease",
    "cuCtxSynchronize",
    "cuStreamSynchronize",
    "cuEventSynchronize",
    "cuStreamWaitEvent",
    "cuStreamWaitValue",
    "cuStreamWriteValue",
    "cuEventRecord",
    "cuEventQuery",
    "cuStreamQuery",
    "cuStreamCreate",
    "cuStreamDestroy",
    "cuStreamBeginCapture",
    "cuStreamEndCapture",
    "cuModuleLoad",
    "cuModuleUnload",
    "cuLibraryLoad",
    "cuLibraryUnload",
    "cuLink",
    "cuCtxCreate",
    "cuCtxDestroy",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease",
    "cuDevicePrimaryCtxReset",
    "cuInit",
    // the helper's own call
    "cuDriverGetVersion",
};

// Of them, those that have a device do something.
constexpr const char* kLaunches[] = {
    "cudaLaunch", "cudaGraphLaunch", "cudaMemcpy", "cudaMemset", "cudaMemPrefetch",
    "cuLaunch",   "cuGraphLaunch",   "cuMemcpy",   "cuMemset",   "cuMemPrefetch",
};

}  // namespace

bool launches_work(const char* function) {
  for (const char* const beginning : kLaunches) {
    if (strncmp(function, beginning, strlen(beginning)) == 0) return is_worth_a_record(function);
  }
  return false;
}

bool is_worth_a_record(const char* function) {
  for (const char* const beginning : kBeginnings) {
    if (strncmp(function, beginning, strlen(beginning)) != 0) continue;
    return !strstr(function + strlen(beginning), "Get") &&
           !strstr(function + strlen(beginning), "SetParams");
  }
  return false;
}

}  // namespace sonde::capture::cuda
