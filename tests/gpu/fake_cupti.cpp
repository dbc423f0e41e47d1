// A libcupti for tests: it records nothing by itself, and writes what it is told to in the layout
// of CUPTI 13.0.

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "capture/cuda/cupti_abi.hpp"
#include "fake_cupti.hpp"
#include "trace/cupti_file.hpp"

using namespace sonde::capture::cuda;
namespace cupti = sonde::cupti;
using cupti::Kind;

namespace {

struct Buffer {
  std::uint8_t* memory = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
};

std::recursive_mutex mutex;
BufferRequested requested;
BufferCompleted completed;
TimestampCallback timestamp;
std::set<std::uint32_t> kinds;
std::map<long, Buffer> buffers;  // by thread
std::set<std::pair<std::uint32_t, std::uint32_t>> disabled;
std::set<std::pair<std::uint32_t, std::uint32_t>> enabled;  // without their whole kind
std::size_t dropped;
std::string tool;
bool taken;
SubscriberCallback subscribed;
std::set<std::pair<std::uint32_t, std::uint32_t>> callbacks;
std::uint32_t last_correlation = 100;

constexpr std::pair<Kind, std::size_t> kSizes[] = {
    {Kind::ConcurrentKernel, 216}, {Kind::Memcpy, 96},          {Kind::Memset, 88},
    {Kind::MemcpyPeer, 96},        {Kind::Driver, 40},          {Kind::Runtime, 40},
    {Kind::Overhead, 56},          {Kind::Synchronization, 56}, {Kind::Memory, 128},
    {Kind::MemoryPool, 96},        {Kind::GraphTrace, 56},      {Kind::Context, 32},
};

std::size_t size_of(std::uint32_t kind) {
  for (const auto& [known, size] : kSizes) {
    if (static_cast<std::uint32_t>(known) == kind) return size;
  }
  return 64;
}

void deliver(Buffer& buffer) {
  Buffer full = buffer;
  buffer = {};
  if (full.memory && completed) completed(nullptr, 0, full.memory, full.size, full.used);
}

std::uint8_t* room(Kind kind, bool asked_for = false) {
  const bool wanted = asked_for || kinds.contains(static_cast<std::uint32_t>(kind));
  if (taken || !requested || !wanted) return nullptr;
  const std::size_t size = size_of(static_cast<std::uint32_t>(kind));
  Buffer& buffer = buffers[::syscall(SYS_gettid)];
  if (buffer.memory && buffer.used + size > buffer.size) deliver(buffer);
  if (!buffer.memory) {
    std::size_t records = 0;
    requested(&buffer.memory, &buffer.size, &records);
    buffer.used = 0;
    if (!buffer.memory || buffer.size < size) {
      buffer.memory = nullptr;
      ++dropped;
      return nullptr;
    }
  }
  std::uint8_t* const record = buffer.memory + buffer.used;
  buffer.used += size;
  memset(record, 0, size);
  const auto number = static_cast<std::uint32_t>(kind);
  memcpy(record, &number, sizeof number);
  return record;
}

void tell_call(std::uint32_t domain, std::uint32_t function, std::uint32_t site,
               std::uint32_t correlation) {
  SubscriberCallback callback = nullptr;
  {
    const std::lock_guard lock(mutex);
    if (!taken && callbacks.contains({domain, function})) callback = subscribed;
  }
  CallbackData data{};
  data.site = site;
  data.correlation = correlation;
  if (callback) callback(nullptr, domain, function, &data);
}

template <typename Number>
void put(std::uint8_t* record, std::size_t offset, Number value) {
  memcpy(record + offset, &value, sizeof value);
}

constexpr const char* kRuntimeNames[] = {"INVALID",
                                         "cudaLaunchKernel_v7000",
                                         "cudaMemcpyAsync_v3020",
                                         "cudaMemsetAsync_v3020",
                                         "cudaGetDevice_v3020",
                                         "cudaStreamSynchronize_v3020",
                                         "cudaGraphLaunch_v10000",
                                         "cudaMalloc_v3020"};
constexpr const char* kDriverNames[] = {"INVALID", "cuDriverGetVersion", "cuLaunchKernel",
                                        "cuCtxGetCurrent"};

}  // namespace

extern "C" {

Status cuptiGetVersion(std::uint32_t* version) {
  const char* const text = std::getenv("FAKE_CUPTI_VERSION");
  *version = text ? static_cast<std::uint32_t>(std::atoi(text)) : 130001;
  return kSuccess;
}

Status cuptiGetResultString(Status status, const char** text) {
  *text = status == 35 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_UNKNOWN";
  return kSuccess;
}

// As the real one: there is room for one.
Status cuptiSubscribe_v2(Subscriber* subscriber, SubscriberCallback callback, void*,
                         SubscriberParams* parameters) {
  const std::lock_guard lock(mutex);
  const char* const other = std::getenv("FAKE_CUPTI_OTHER_TOOL");
  if (taken || other || subscribed) {
    const char* const name = taken ? tool.c_str() : other ? other : "somebody";
    strncpy(parameters->old_name, name, parameters->old_name_size - 1);
    return kOtherSubscriber;
  }
  *subscriber = &mutex;
  subscribed = callback;
  return kSuccess;
}
Status cuptiSubscribe(Subscriber* subscriber, SubscriberCallback callback, void*) {
  const std::lock_guard lock(mutex);
  if (taken || subscribed) return kOtherSubscriber;
  *subscriber = &mutex;
  subscribed = callback;
  return kSuccess;
}
Status cuptiUnsubscribe(Subscriber) {
  const std::lock_guard lock(mutex);
  subscribed = nullptr;
  callbacks.clear();
  return kSuccess;
}
Status cuptiEnableCallback(std::uint32_t enable, Subscriber, Domain domain,
                           std::uint32_t function) {
  const std::lock_guard lock(mutex);
  const std::pair key(static_cast<std::uint32_t>(domain), function);
  enable ? (void)callbacks.insert(key) : (void)callbacks.erase(key);
  return kSuccess;
}

Status cuptiGetCallbackName(Domain domain, std::uint32_t function, const char** name) {
  const bool runtime = domain == Domain::Runtime;
  if (function >= (runtime ? std::size(kRuntimeNames) : std::size(kDriverNames))) return 1;
  *name = runtime ? kRuntimeNames[function] : kDriverNames[function];
  return kSuccess;
}

Status cuptiActivityRegisterCallbacks(BufferRequested request, BufferCompleted complete) {
  const std::lock_guard lock(mutex);
  requested = request;
  completed = complete;
  return kSuccess;
}
Status cuptiActivityRegisterTimestampCallback(TimestampCallback callback) {
  timestamp = callback;
  return kSuccess;
}
Status cuptiActivitySetAttribute(Attribute, std::size_t*, void*) { return kSuccess; }
Status cuptiSetThreadIdType(std::uint32_t type) { return type == kSystemThreadIds ? kSuccess : 1; }

Status cuptiActivityEnable(std::uint32_t kind) {
  if (const char* const status = std::getenv("FAKE_CUPTI_ENABLE_STATUS")) return std::atoi(status);
  const std::lock_guard lock(mutex);
  kinds.insert(kind);
  return kSuccess;
}
Status cuptiActivityDisable(std::uint32_t kind) {
  const std::lock_guard lock(mutex);
  kinds.erase(kind);
  return kSuccess;
}
Status cuptiActivityEnableRuntimeApi(std::uint32_t function, std::uint8_t enable) {
  const std::lock_guard lock(mutex);
  (enable ? enabled : disabled).insert({2, function});
  if (!enable) enabled.erase({2, function});
  return kSuccess;
}
Status cuptiActivityEnableDriverApi(std::uint32_t function, std::uint8_t enable) {
  const std::lock_guard lock(mutex);
  (enable ? enabled : disabled).insert({1, function});
  if (!enable) enabled.erase({1, function});
  return kSuccess;
}

Status cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t used, std::uint8_t** record) {
  std::uint8_t* next = buffer;
  if (*record) {
    std::uint32_t kind = 0;
    memcpy(&kind, *record, sizeof kind);
    next = *record + size_of(kind & ~cupti::kUnfinished);
  }
  if (next >= buffer + used) return kMaxLimitReached;
  *record = next;
  return kSuccess;
}

Status cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* count) {
  const std::lock_guard lock(mutex);
  *count = dropped;
  dropped = 0;
  return kSuccess;
}

Status cuptiActivityFlushAll(std::uint32_t) {
  const std::lock_guard lock(mutex);
  if (taken) return kSuccess;
  for (auto& [thread, buffer] : buffers) deliver(buffer);
  return kSuccess;
}

std::uint64_t fake_now() { return timestamp ? timestamp() : 0; }

std::uint32_t fake_correlation() {
  const std::lock_guard lock(mutex);
  return ++last_correlation;
}

void fake_call(std::uint32_t domain, std::uint32_t function, std::uint64_t start, std::uint64_t end,
               std::uint32_t correlation) {
  tell_call(domain, function, kEntersCall, correlation);
  // The runtime launches by the driver, under an id of its own.
  if (domain == 2 && function == 1) {
    tell_call(1, 2, kEntersCall, correlation + 1'000'000);
    tell_call(1, 2, kLeavesCall, correlation + 1'000'000);
  }
  tell_call(domain, function, kLeavesCall, correlation);
  const std::lock_guard lock(mutex);
  const bool asked_for = enabled.contains({domain, function});
  if (!asked_for && disabled.contains({domain, function})) return;
  std::uint8_t* const record = room(domain == 2 ? Kind::Runtime : Kind::Driver, asked_for);
  if (!record) return;
  put(record, cupti::call::kFunction, function);
  put(record, cupti::call::kStart, start);
  put(record, cupti::call::kEnd, end);
  put(record, cupti::call::kProcess, static_cast<std::uint32_t>(::getpid()));
  put(record, cupti::call::kThread, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  put(record, cupti::call::kCorrelation, correlation);
}

void fake_kernel(const char* name, std::uint64_t start, std::uint64_t end, std::uint32_t stream,
                 std::uint32_t correlation, std::uint32_t graph, std::uint64_t node) {
  const std::lock_guard lock(mutex);
  std::uint8_t* const record = room(Kind::ConcurrentKernel);
  if (!record) return;
  if (end == 0)
    put(record, 0, static_cast<std::uint32_t>(Kind::ConcurrentKernel) | cupti::kUnfinished);
  put(record, cupti::kernel::kRegisters, std::uint16_t{188});
  put(record, cupti::kernel::kStart, start);
  put(record, cupti::kernel::kEnd, end);
  put(record, cupti::kernel::kContext, std::uint32_t{1});
  put(record, cupti::kernel::kStream, stream);
  for (std::size_t i = 0; i < 3; ++i) {
    put(record, cupti::kernel::kGrid + 4 * i, i == 0 ? 1056 : 1);
    put(record, cupti::kernel::kBlock + 4 * i, i == 0 ? 64 : 1);
  }
  put(record, cupti::kernel::kDynamicShared, 49152);
  put(record, cupti::kernel::kCorrelation, correlation);
  put(record, cupti::kernel::kName, name);
  put(record, cupti::kernel::kGraph, graph);
  put(record, cupti::kernel::kGraphNode, node);
}

void fake_copy(std::uint8_t kind, std::uint8_t source, std::uint8_t target, std::uint64_t bytes,
               std::uint64_t start, std::uint64_t end, std::uint32_t stream,
               std::uint32_t correlation) {
  const std::lock_guard lock(mutex);
  std::uint8_t* const record = room(Kind::Memcpy);
  if (!record) return;
  put(record, cupti::copy::kCopyKind, kind);
  put(record, cupti::copy::kSourceKind, source);
  put(record, cupti::copy::kTargetKind, target);
  put(record, cupti::copy::kBytes, bytes);
  put(record, cupti::copy::kStart, start);
  put(record, cupti::copy::kEnd, end);
  put(record, cupti::copy::kContext, std::uint32_t{1});
  put(record, cupti::copy::kStream, stream);
  put(record, cupti::copy::kCorrelation, correlation);
}

void fake_set(std::uint64_t bytes, std::uint64_t start, std::uint64_t end, std::uint32_t stream,
              std::uint32_t correlation) {
  const std::lock_guard lock(mutex);
  std::uint8_t* const record = room(Kind::Memset);
  if (!record) return;
  put(record, cupti::fill::kBytes, bytes);
  put(record, cupti::fill::kStart, start);
  put(record, cupti::fill::kEnd, end);
  put(record, cupti::fill::kContext, std::uint32_t{1});
  put(record, cupti::fill::kStream, stream);
  put(record, cupti::fill::kCorrelation, correlation);
  put(record, cupti::fill::kMemoryKind, std::uint16_t{3});
}

void fake_sync(std::uint32_t type, std::uint64_t start, std::uint64_t end, std::uint32_t stream,
               std::uint32_t correlation) {
  const std::lock_guard lock(mutex);
  std::uint8_t* const record = room(Kind::Synchronization);
  if (!record) return;
  put(record, cupti::sync::kType, type);
  put(record, cupti::sync::kStart, start);
  put(record, cupti::sync::kEnd, end);
  put(record, cupti::sync::kCorrelation, correlation);
  put(record, cupti::sync::kContext, std::uint32_t{1});
  put(record, cupti::sync::kStream, stream);
}

void fake_overhead(std::uint32_t kind, std::uint64_t start, std::uint64_t end) {
  const std::lock_guard lock(mutex);
  std::uint8_t* const record = room(Kind::Overhead);
  if (!record) return;
  put(record, cupti::overhead::kOverheadKind, kind);
  put(record, cupti::overhead::kObjectKind, std::uint32_t{2});
  put(record, cupti::overhead::kObject, static_cast<std::uint32_t>(::getpid()));
  put(record, cupti::overhead::kObject + 4, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  put(record, cupti::overhead::kStart, start);
  put(record, cupti::overhead::kEnd, end);
}

void fake_memory(std::uint32_t operation, std::uint64_t address, std::uint64_t bytes,
                 std::uint64_t time, std::uint32_t correlation) {
  const std::lock_guard lock(mutex);
  std::uint8_t* const record = room(Kind::Memory);
  if (!record) return;
  put(record, cupti::memory::kOperation, operation);
  put(record, cupti::memory::kMemoryKind, std::uint32_t{3});
  put(record, cupti::memory::kCorrelation, correlation);
  put(record, cupti::memory::kAddress, address);
  put(record, cupti::memory::kBytes, bytes);
  put(record, cupti::memory::kTime, time);
  put(record, cupti::memory::kProcess, static_cast<std::uint32_t>(::getpid()));
}

void fake_unknown(std::uint32_t kind) {
  const std::lock_guard lock(mutex);
  kinds.insert(kind);
  room(static_cast<Kind>(kind));
}

void fake_drop(std::uint64_t records) {
  const std::lock_guard lock(mutex);
  dropped += records;
}

void fake_take_over(const char* name) {
  const std::lock_guard lock(mutex);
  tool = name;
  taken = true;
}

void fake_release() {
  const std::lock_guard lock(mutex);
  taken = false;
  kinds.clear();
  enabled.clear();
}

}  // extern "C"
