// Compares Sonde's declarations of CUPTI and of the CUDA driver with NVIDIA's headers. Nothing
// runs: it compiles, or it does not.

#include <cupti.h>

#include <cstddef>
#include <type_traits>

#include "capture/cuda/cupti_abi.hpp"
#include "trace/cupti_file.hpp"

namespace abi = sonde::capture::cuda;
namespace cupti = sonde::cupti;

#define SAME(ours, theirs) \
  static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
#define PLACE(ours, type, field) static_assert((ours) == offsetof(type, field))
#define KIND(ours, theirs) SAME(cupti::Kind::ours, CUPTI_ACTIVITY_KIND_##theirs)

KIND(Memcpy, MEMCPY);
KIND(Memset, MEMSET);
KIND(Kernel, KERNEL);
KIND(Driver, DRIVER);
KIND(Runtime, RUNTIME);
KIND(Device, DEVICE);
KIND(Context, CONTEXT);
KIND(ConcurrentKernel, CONCURRENT_KERNEL);
KIND(Overhead, OVERHEAD);
KIND(MemcpyPeer, MEMCPY2);
KIND(Stream, STREAM);
KIND(Synchronization, SYNCHRONIZATION);
KIND(ExternalCorrelation, EXTERNAL_CORRELATION);
KIND(InternalLaunch, INTERNAL_LAUNCH_API);
KIND(Memory, MEMORY2);
KIND(MemoryPool, MEMORY_POOL);
KIND(GraphTrace, GRAPH_TRACE);

SAME(abi::kMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME(abi::kOtherSubscriber, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(abi::Domain::Driver, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(abi::Domain::Runtime, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(abi::Attribute::ZeroedBuffers, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME(abi::Attribute::PinnedHostMemory, CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED);
SAME(abi::kSystemThreadIds, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME(abi::kEntersCall, CUPTI_API_ENTER);
SAME(abi::kLeavesCall, CUPTI_API_EXIT);
PLACE(offsetof(abi::CallbackData, site), CUpti_CallbackData, callbackSite);
PLACE(offsetof(abi::CallbackData, function_name), CUpti_CallbackData, functionName);
PLACE(offsetof(abi::CallbackData, symbol), CUpti_CallbackData, symbolName);
PLACE(offsetof(abi::CallbackData, context_id), CUpti_CallbackData, contextUid);
PLACE(offsetof(abi::CallbackData, correlation), CUpti_CallbackData, correlationId);
static_assert(sizeof(abi::CallbackData) == sizeof(CUpti_CallbackData));
SAME(abi::kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
#if CUPTI_API_VERSION >= 130000
PLACE(offsetof(abi::SubscriberParams, struct_size), CUpti_SubscriberParams, structSize);
PLACE(offsetof(abi::SubscriberParams, name), CUpti_SubscriberParams, subscriberName);
PLACE(offsetof(abi::SubscriberParams, old_name), CUpti_SubscriberParams, oldSubscriberName);
PLACE(offsetof(abi::SubscriberParams, old_name_size), CUpti_SubscriberParams, oldSubscriberSize);
SAME(abi::kLongestSubscriberName, CUPTI_SUBSCRIBER_NAME_MAX_LEN);
#endif

#if CUPTI_API_VERSION >= 130400
using Kernel = CUpti_ActivityKernel13;
using Copy = CUpti_ActivityMemcpy7;
using Fill = CUpti_ActivityMemset5;
using Memory = CUpti_ActivityMemory4;
using Pool = CUpti_ActivityMemoryPool3;
using Graph = CUpti_ActivityGraphTrace2;
using Context = CUpti_ActivityContext4;
#else
using Kernel = CUpti_ActivityKernel8;
using Copy = CUpti_ActivityMemcpy5;
using Fill = CUpti_ActivityMemset4;
using Memory = CUpti_ActivityMemory3;
using Pool = CUpti_ActivityMemoryPool2;
using Graph = CUpti_ActivityGraphTrace;
using Context = CUpti_ActivityContext;
#endif

PLACE(cupti::kernel::kRegisters, Kernel, registersPerThread);
PLACE(cupti::kernel::kStart, Kernel, start);
PLACE(cupti::kernel::kEnd, Kernel, end);
PLACE(cupti::kernel::kDevice, Kernel, deviceId);
PLACE(cupti::kernel::kContext, Kernel, contextId);
PLACE(cupti::kernel::kStream, Kernel, streamId);
PLACE(cupti::kernel::kGrid, Kernel, gridX);
PLACE(cupti::kernel::kGrid + 8, Kernel, gridZ);
PLACE(cupti::kernel::kBlock, Kernel, blockX);
PLACE(cupti::kernel::kBlock + 8, Kernel, blockZ);
PLACE(cupti::kernel::kStaticShared, Kernel, staticSharedMemory);
PLACE(cupti::kernel::kDynamicShared, Kernel, dynamicSharedMemory);
PLACE(cupti::kernel::kLocalPerThread, Kernel, localMemoryPerThread);
PLACE(cupti::kernel::kCorrelation, Kernel, correlationId);
PLACE(cupti::kernel::kName, Kernel, name);
PLACE(cupti::kernel::kQueued, Kernel, queued);
PLACE(cupti::kernel::kSubmitted, Kernel, submitted);
PLACE(cupti::kernel::kLaunchType, Kernel, launchType);
PLACE(cupti::kernel::kSharedExecuted, Kernel, sharedMemoryExecuted);
PLACE(cupti::kernel::kGraphNode, Kernel, graphNodeId);
PLACE(cupti::kernel::kGraph, Kernel, graphId);
static_assert(cupti::kernel::kLeast <= sizeof(Kernel));

PLACE(cupti::copy::kCopyKind, Copy, copyKind);
PLACE(cupti::copy::kSourceKind, Copy, srcKind);
PLACE(cupti::copy::kTargetKind, Copy, dstKind);
PLACE(cupti::copy::kFlags, Copy, flags);
PLACE(cupti::copy::kBytes, Copy, bytes);
PLACE(cupti::copy::kStart, Copy, start);
PLACE(cupti::copy::kEnd, Copy, end);
PLACE(cupti::copy::kDevice, Copy, deviceId);
PLACE(cupti::copy::kContext, Copy, contextId);
PLACE(cupti::copy::kStream, Copy, streamId);
PLACE(cupti::copy::kCorrelation, Copy, correlationId);
PLACE(cupti::copy::kGraphNode, Copy, graphNodeId);
PLACE(cupti::copy::kGraph, Copy, graphId);
static_assert(cupti::copy::kLeast <= sizeof(Copy));

using Peer = CUpti_ActivityMemcpyPtoP4;
PLACE(cupti::copy::kCopyKind, Peer, copyKind);
PLACE(cupti::copy::kBytes, Peer, bytes);
PLACE(cupti::copy::kStart, Peer, start);
PLACE(cupti::copy::kEnd, Peer, end);
PLACE(cupti::copy::kDevice, Peer, deviceId);
PLACE(cupti::copy::kContext, Peer, contextId);
PLACE(cupti::copy::kStream, Peer, streamId);
PLACE(cupti::peer_copy::kSourceDevice, Peer, srcDeviceId);
PLACE(cupti::peer_copy::kTargetDevice, Peer, dstDeviceId);
PLACE(cupti::peer_copy::kCorrelation, Peer, correlationId);
PLACE(cupti::peer_copy::kGraphNode, Peer, graphNodeId);
PLACE(cupti::peer_copy::kGraph, Peer, graphId);
static_assert(cupti::peer_copy::kLeast <= sizeof(Peer));

PLACE(cupti::fill::kValue, Fill, value);
PLACE(cupti::fill::kBytes, Fill, bytes);
PLACE(cupti::fill::kStart, Fill, start);
PLACE(cupti::fill::kEnd, Fill, end);
PLACE(cupti::fill::kDevice, Fill, deviceId);
PLACE(cupti::fill::kContext, Fill, contextId);
PLACE(cupti::fill::kStream, Fill, streamId);
PLACE(cupti::fill::kCorrelation, Fill, correlationId);
PLACE(cupti::fill::kFlags, Fill, flags);
PLACE(cupti::fill::kMemoryKind, Fill, memoryKind);
PLACE(cupti::fill::kGraphNode, Fill, graphNodeId);
PLACE(cupti::fill::kGraph, Fill, graphId);
static_assert(cupti::fill::kLeast <= sizeof(Fill));

PLACE(cupti::call::kFunction, CUpti_ActivityAPI, cbid);
PLACE(cupti::call::kStart, CUpti_ActivityAPI, start);
PLACE(cupti::call::kEnd, CUpti_ActivityAPI, end);
PLACE(cupti::call::kProcess, CUpti_ActivityAPI, processId);
PLACE(cupti::call::kThread, CUpti_ActivityAPI, threadId);
PLACE(cupti::call::kCorrelation, CUpti_ActivityAPI, correlationId);
PLACE(cupti::call::kReturned, CUpti_ActivityAPI, returnValue);
static_assert(cupti::call::kLeast == sizeof(CUpti_ActivityAPI));

PLACE(cupti::sync::kType, CUpti_ActivitySynchronization, type);
PLACE(cupti::sync::kStart, CUpti_ActivitySynchronization, start);
PLACE(cupti::sync::kEnd, CUpti_ActivitySynchronization, end);
PLACE(cupti::sync::kCorrelation, CUpti_ActivitySynchronization, correlationId);
PLACE(cupti::sync::kContext, CUpti_ActivitySynchronization, contextId);
PLACE(cupti::sync::kStream, CUpti_ActivitySynchronization, streamId);
PLACE(cupti::sync::kEvent, CUpti_ActivitySynchronization, cudaEventId);

PLACE(cupti::overhead::kOverheadKind, CUpti_ActivityOverhead, overheadKind);
PLACE(cupti::overhead::kObjectKind, CUpti_ActivityOverhead, objectKind);
PLACE(cupti::overhead::kObject, CUpti_ActivityOverhead, objectId);
PLACE(cupti::overhead::kStart, CUpti_ActivityOverhead, start);
PLACE(cupti::overhead::kEnd, CUpti_ActivityOverhead, end);

PLACE(cupti::memory::kOperation, Memory, memoryOperationType);
PLACE(cupti::memory::kMemoryKind, Memory, memoryKind);
PLACE(cupti::memory::kCorrelation, Memory, correlationId);
PLACE(cupti::memory::kAddress, Memory, address);
PLACE(cupti::memory::kBytes, Memory, bytes);
PLACE(cupti::memory::kTime, Memory, timestamp);
PLACE(cupti::memory::kProcess, Memory, processId);
PLACE(cupti::memory::kDevice, Memory, deviceId);
PLACE(cupti::memory::kContext, Memory, contextId);
PLACE(cupti::memory::kStream, Memory, streamId);
PLACE(cupti::memory::kName, Memory, name);
PLACE(cupti::memory::kAsync, Memory, isAsync);
PLACE(cupti::memory::kPoolType, Memory, memoryPoolConfig);
static_assert(cupti::memory::kLeast <= sizeof(Memory));

PLACE(cupti::pool::kOperation, Pool, memoryPoolOperationType);
PLACE(cupti::pool::kPoolType, Pool, memoryPoolType);
PLACE(cupti::pool::kCorrelation, Pool, correlationId);
PLACE(cupti::pool::kDevice, Pool, deviceId);
PLACE(cupti::pool::kAddress, Pool, address);
PLACE(cupti::pool::kSize, Pool, size);
PLACE(cupti::pool::kThreshold, Pool, releaseThreshold);
PLACE(cupti::pool::kTime, Pool, timestamp);

PLACE(cupti::graph::kCorrelation, Graph, correlationId);
PLACE(cupti::graph::kStart, Graph, start);
PLACE(cupti::graph::kEnd, Graph, end);
PLACE(cupti::graph::kDevice, Graph, deviceId);
PLACE(cupti::graph::kGraph, Graph, graphId);
PLACE(cupti::graph::kContext, Graph, contextId);
PLACE(cupti::graph::kStream, Graph, streamId);

PLACE(cupti::context::kContext, Context, contextId);
PLACE(cupti::context::kDevice, Context, deviceId);
PLACE(cupti::context::kNullStream, Context, nullStreamId);
PLACE(cupti::stream::kContext, CUpti_ActivityStream, contextId);
PLACE(cupti::stream::kStream, CUpti_ActivityStream, streamId);
PLACE(cupti::stream::kPriority, CUpti_ActivityStream, priority);
PLACE(cupti::stream::kFlag, CUpti_ActivityStream, flag);

#define ATTRIBUTE(ours, theirs) SAME(abi::DeviceAttribute::ours, CU_DEVICE_ATTRIBUTE_##theirs)
ATTRIBUTE(MaxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
ATTRIBUTE(MaxSharedPerBlock, MAX_SHARED_MEMORY_PER_BLOCK);
ATTRIBUTE(WarpSize, WARP_SIZE);
ATTRIBUTE(MaxRegistersPerBlock, MAX_REGISTERS_PER_BLOCK);
ATTRIBUTE(ClockRate, CLOCK_RATE);
ATTRIBUTE(Multiprocessors, MULTIPROCESSOR_COUNT);
ATTRIBUTE(PciBus, PCI_BUS_ID);
ATTRIBUTE(PciDevice, PCI_DEVICE_ID);
ATTRIBUTE(MemoryClockRate, MEMORY_CLOCK_RATE);
ATTRIBUTE(MemoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH);
ATTRIBUTE(L2Bytes, L2_CACHE_SIZE);
ATTRIBUTE(MaxThreadsPerMultiprocessor, MAX_THREADS_PER_MULTIPROCESSOR);
ATTRIBUTE(PciDomain, PCI_DOMAIN_ID);
ATTRIBUTE(ComputeMajor, COMPUTE_CAPABILITY_MAJOR);
ATTRIBUTE(ComputeMinor, COMPUTE_CAPABILITY_MINOR);
ATTRIBUTE(MaxSharedPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
ATTRIBUTE(MaxRegistersPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR);
ATTRIBUTE(MaxSharedPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
ATTRIBUTE(MaxBlocksPerMultiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR);
ATTRIBUTE(ReservedSharedPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK);
