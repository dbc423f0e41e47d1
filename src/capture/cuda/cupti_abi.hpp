#pragma once

#include <cstddef>
#include <cstdint>

// The part of CUPTI's and of the CUDA driver's binary interface that the recorder uses, in its own
// words: it builds where neither is installed. tests/gpu/abi/cupti_abi_check.cpp compares
// it with NVIDIA's headers where they are.

namespace sonde::capture::cuda {

using Status = int;  // CUptiResult
inline constexpr Status kSuccess = 0;
inline constexpr Status kMaxLimitReached = 12;
inline constexpr Status kOtherSubscriber = 39;

enum class Domain : std::uint32_t { Driver = 1, Runtime = 2 };
enum class Attribute : std::uint32_t { ZeroedBuffers = 5, PinnedHostMemory = 8 };
inline constexpr std::uint32_t kSystemThreadIds = 1;
inline constexpr std::uint32_t kFlushForced = 1;

// From this version of CUPTI on.
inline constexpr std::uint32_t kOldestVersion = 13;       // CUDA 11.0
inline constexpr std::uint32_t kTimestampCallbacks = 17;  // CUDA 11.6

struct SubscriberParams {
  std::size_t struct_size;
  const char* name;
  char* old_name;
  std::size_t old_name_size;
};
inline constexpr std::size_t kLongestSubscriberName = 53;

// CUpti_CallbackData, of calls.
struct CallbackData {
  std::uint32_t site;  // kEntersCall or kLeavesCall
  const char* function_name;
  const void* parameters;
  void* returned;
  const char* symbol;
  void* context;
  std::uint32_t context_id;
  std::uint64_t* own_data;
  std::uint32_t correlation;
};
inline constexpr std::uint32_t kEntersCall = 0;
inline constexpr std::uint32_t kLeavesCall = 1;

using Subscriber = void*;
using SubscriberCallback = void (*)(void* user, std::uint32_t domain, std::uint32_t function,
                                    const void* data);
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                 std::size_t size, std::size_t used);
using TimestampCallback = std::uint64_t (*)();

// CUPTI's functions; nullptr where this version has none of that name.
struct Cupti {
  Status (*cuptiGetVersion)(std::uint32_t*);
  Status (*cuptiGetResultString)(Status, const char**);
  Status (*cuptiSubscribe)(Subscriber*, SubscriberCallback, void*);
  Status (*cuptiSubscribe_v2)(Subscriber*, SubscriberCallback, void*, SubscriberParams*);
  Status (*cuptiUnsubscribe)(Subscriber);
  Status (*cuptiEnableCallback)(std::uint32_t, Subscriber, Domain, std::uint32_t);
  Status (*cuptiGetCallbackName)(Domain, std::uint32_t, const char**);
  Status (*cuptiActivityRegisterCallbacks)(BufferRequested, BufferCompleted);
  Status (*cuptiActivityRegisterTimestampCallback)(TimestampCallback);
  Status (*cuptiActivitySetAttribute)(Attribute, std::size_t*, void*);
  Status (*cuptiSetThreadIdType)(std::uint32_t);
  Status (*cuptiActivityEnable)(std::uint32_t);
  Status (*cuptiActivityDisable)(std::uint32_t);
  Status (*cuptiActivityEnableRuntimeApi)(std::uint32_t, std::uint8_t);
  Status (*cuptiActivityEnableDriverApi)(std::uint32_t, std::uint8_t);
  Status (*cuptiActivityGetNextRecord)(std::uint8_t*, std::size_t, std::uint8_t**);
  Status (*cuptiActivityGetNumDroppedRecords)(void*, std::uint32_t, std::size_t*);
  Status (*cuptiActivityFlushAll)(std::uint32_t);
  Status (*cuptiActivityFlushPeriod)(std::uint32_t);
};

// The driver's functions.
struct Driver {
  int (*cuDriverGetVersion)(int*);
  int (*cuDeviceGetCount)(int*);
  int (*cuDeviceGet)(int*, int);
  int (*cuDeviceGetName)(char*, int, int);
  int (*cuDeviceTotalMem_v2)(std::size_t*, int);
  int (*cuDeviceGetAttribute)(int*, int, int);
  int (*cuDeviceGetUuid)(void*, int);
};

enum class DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxSharedPerBlock = 8,
  WarpSize = 10,
  MaxRegistersPerBlock = 12,
  ClockRate = 13,
  Multiprocessors = 16,
  PciBus = 33,
  PciDevice = 34,
  MemoryClockRate = 36,
  MemoryBusWidth = 37,
  L2Bytes = 38,
  MaxThreadsPerMultiprocessor = 39,
  PciDomain = 50,
  ComputeMajor = 75,
  ComputeMinor = 76,
  MaxSharedPerMultiprocessor = 81,
  MaxRegistersPerMultiprocessor = 82,
  MaxSharedPerBlockOptin = 97,
  MaxBlocksPerMultiprocessor = 106,
  ReservedSharedPerBlock = 111,
};

}  // namespace sonde::capture::cuda
