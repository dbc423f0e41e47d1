#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <initializer_list>

#include "capture/cuda/collector.hpp"
#include "sonde/sonde.h"

namespace sonde::capture::cuda {

using cupti::Kind;
using cupti::State;

namespace {

Cupti functions;
std::uint32_t version;

// No release has more functions than that, by far.
constexpr std::uint32_t kMostFunctions = 2048;

constexpr long kWorkerPeriod = 500;  // milliseconds

struct KindName {
  const char* name;
  Kind kind;
  bool usual;
};
// What SONDE_CUDA_KINDS may name. Calls, chosen one by one, are "runtime" and "driver". How long
// the host waited the calls tell as well, and CUPTI's own time is seldom looked at: both cost a
// program that launches much more than all the rest does, and must be asked for.
constexpr KindName kKinds[] = {
    {"kernel", Kind::ConcurrentKernel, true}, {"copy", Kind::Memcpy, true},
    {"copy", Kind::MemcpyPeer, true},         {"set", Kind::Memset, true},
    {"memory", Kind::Memory, true},           {"memory", Kind::MemoryPool, true},
    {"sync", Kind::Synchronization, false},   {"overhead", Kind::Overhead, false},
};

// Where records go for which there is no room in the file: CUPTI must have a buffer, some versions
// crash without one.
constexpr std::size_t kSinkBytes = 256 << 10;
constexpr std::size_t kSinks = 32;
struct Sink {
  std::uint8_t* memory;
  bool taken;
};
Sink sinks[kSinks];

std::uint8_t* take_sink() {
  for (Sink& sink : sinks) {
    if (__atomic_exchange_n(&sink.taken, true, __ATOMIC_ACQUIRE)) continue;
    if (!sink.memory) {
      void* const memory =
          mmap(nullptr, kSinkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory != MAP_FAILED) sink.memory = static_cast<std::uint8_t*>(memory);
    }
    if (sink.memory) return sink.memory;
    __atomic_store_n(&sink.taken, false, __ATOMIC_RELEASE);
  }
  return nullptr;
}

bool give_sink_back(const std::uint8_t* memory, std::size_t used) {
  for (Sink& sink : sinks) {
    if (sink.memory != memory) continue;
    memset(sink.memory, 0, used < kSinkBytes ? used : kSinkBytes);
    __atomic_store_n(&sink.taken, false, __ATOMIC_RELEASE);
    return true;
  }
  return false;
}

std::uint64_t count_records(std::uint8_t* buffer, std::size_t used) {
  std::uint64_t count = 0;
  for (std::uint8_t* record = nullptr;
       used > 0 && functions.cuptiActivityGetNextRecord(buffer, used, &record) == kSuccess;) {
    ++count;
  }
  return count;
}

void on_request(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *records = 0;
  *size = 0;
  *buffer = lend(size);
  if (!*buffer) {
    *buffer = take_sink();
    *size = *buffer ? kSinkBytes : 0;
    wake_helper();
  } else if (room_is_short()) {
    wake_helper();
  }
}

void on_completion(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t used) {
  if (!buffer) return;
  if (belongs_to_store(buffer)) {
    const std::uint64_t records = digest(functions, buffer, used);
    return take_back(buffer, used, records);
  }
  const std::uint64_t lost = count_records(buffer, used);
  if (give_sink_back(buffer, used)) {
    __atomic_fetch_add(&header().refused_records, lost, __ATOMIC_RELAXED);
  }
}

std::uint64_t on_timestamp() { return sonde_ticks(); }

// Cut where it is too long; ends with a 0.
void copy_text(char* out, std::size_t size, const char* text) {
  std::size_t i = 0;
  for (; text[i] && i + 1 < size; ++i) out[i] = text[i];
  out[i] = 0;
}

// Whether the comma-separated list in the environment names it; `otherwise` where there is no list.
bool is_wanted(const char* variable, const char* word, bool otherwise) {
  const char* list = secure_getenv(variable);
  if (!list || !*list) return otherwise;
  const std::size_t size = strlen(word);
  for (;;) {
    const std::size_t length = strcspn(list, ",");
    if (length == size && strncmp(list, word, size) == 0) return true;
    if (list[length] == 0) return false;
    list += length + 1;
  }
}

// Chooses the calls that are worth a record. Where this CUPTI cannot choose, all are recorded.
// Choosing is cheapest for the program while the whole kind was never switched on; after another
// tool has done so, it works only the other way round.
void choose_calls(Domain domain, bool enable) {
  const bool runtime = domain == Domain::Runtime;
  const Kind kind = runtime ? Kind::Runtime : Kind::Driver;
  const auto choose =
      runtime ? functions.cuptiActivityEnableRuntimeApi : functions.cuptiActivityEnableDriverApi;
  const bool can_choose = choose && !is_wanted("SONDE_CUDA_CALLS", "all", false);
  const bool by_exclusion = header().other_tool_seen > 0;
  const auto whole = static_cast<std::uint32_t>(kind);
  if (!enable) functions.cuptiActivityDisable(whole);
  if (enable && (by_exclusion || !can_choose)) functions.cuptiActivityEnable(whole);
  std::uint32_t chosen = 0;
  for (std::uint32_t i = 1; can_choose && i < kMostFunctions; ++i) {
    const char* name = nullptr;
    if (functions.cuptiGetCallbackName(domain, i, &name) != kSuccess || !name) break;
    const bool worth = is_worth_a_record(name);
    if (enable && !worth) ++header().left_out_calls;
    if (enable && by_exclusion) {
      if (!worth) choose(i, 0);
    } else if (worth && choose(i, enable ? 1 : 0) == kSuccess) {
      ++chosen;
    }
  }
  if (enable && can_choose && !by_exclusion && chosen == 0) functions.cuptiActivityEnable(whole);
}

bool is_kind_wanted(const char* name, bool usual) {
  return is_wanted("SONDE_CUDA_KINDS", name, usual) || is_wanted("SONDE_CUDA_KINDS", "all", false);
}

void switch_kinds(bool enable) {
  for (const KindName& entry : kKinds) {
    // Torch takes its memory in large pieces: these records say little there.
    const bool usual = entry.usual && !(strcmp(entry.name, "memory") == 0 && torch_is_loaded());
    if (!is_kind_wanted(entry.name, usual)) continue;
    const auto kind = static_cast<std::uint32_t>(entry.kind);
    enable ? functions.cuptiActivityEnable(kind) : functions.cuptiActivityDisable(kind);
  }
  header().left_out_calls = 0;
  if (is_kind_wanted("runtime", true)) choose_calls(Domain::Runtime, enable);
  if (is_kind_wanted("driver", true)) choose_calls(Domain::Driver, enable);
  const auto graphs = static_cast<std::uint32_t>(Kind::GraphTrace);
  if (enable && is_wanted("SONDE_CUDA_GRAPHS", "whole", false)) {
    header().whole_graphs = functions.cuptiActivityEnable(graphs) == kSuccess;
  } else if (!enable && header().whole_graphs) {
    functions.cuptiActivityDisable(graphs);
  }
}

Status subscribe(Subscriber* subscriber) {
  if (!functions.cuptiSubscribe_v2) {
    return functions.cuptiSubscribe(subscriber, on_callback, nullptr);
  }
  char name[128] = {};
  SubscriberParams parameters{sizeof parameters, "Sonde", name, sizeof name};
  Status status = functions.cuptiSubscribe_v2(subscriber, on_callback, nullptr, &parameters);
  if (status == kOtherSubscriber) {
    name[cupti::kToolBytes - 1] = 0;
    memcpy(header().other_tool, name, cupti::kToolBytes);
  } else if (status != kSuccess) {
    status = functions.cuptiSubscribe(subscriber, on_callback, nullptr);
  }
  return status;
}

void say_status(const char* what, Status status) {
  const char* text = nullptr;
  if (functions.cuptiGetResultString) functions.cuptiGetResultString(status, &text);
  char reason[cupti::kReasonBytes] = {};
  std::size_t size = 0;
  for (const char* part : {what, ": ", text ? text : "unknown error"}) {
    for (; *part && size + 1 < sizeof reason; ++part) reason[size++] = *part;
  }
  set_reason(reason);
}

bool arm() {
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof zeroed;
  if (functions.cuptiActivitySetAttribute) {
    functions.cuptiActivitySetAttribute(Attribute::ZeroedBuffers, &size, &zeroed);
    if (is_wanted("SONDE_CUDA_TUNE", "pinned", false)) {
      functions.cuptiActivitySetAttribute(Attribute::PinnedHostMemory, &size, &zeroed);
    }
  }
  if (functions.cuptiSetThreadIdType) functions.cuptiSetThreadIdType(kSystemThreadIds);
  cupti::FileHeader& file = header();
  file.clock = cupti::Clock::Realtime;
  if (version >= kTimestampCallbacks && functions.cuptiActivityRegisterTimestampCallback &&
      functions.cuptiActivityRegisterTimestampCallback(on_timestamp) == kSuccess) {
    file.clock = cupti::Clock::Ticks;
  }
  Status status = functions.cuptiActivityRegisterCallbacks(on_request, on_completion);
  if (status != kSuccess) {
    say_status("CUPTI takes no buffers", status);
    return false;
  }
  if (is_kind_wanted("kernel", true)) {
    status = functions.cuptiActivityEnable(static_cast<std::uint32_t>(Kind::ConcurrentKernel));
    if (status != kSuccess) {
      say_status("CUPTI does not trace kernels here", status);
      return false;
    }
  }
  switch_kinds(true);
  // Left to itself CUPTI wakes its own thread often, and each time a launch waits for that.
  const char* const period = secure_getenv("SONDE_CUDA_WORKER_MS");
  const long milliseconds = period ? atol(period) : kWorkerPeriod;
  if (milliseconds > 0 && functions.cuptiActivityFlushPeriod) {
    functions.cuptiActivityFlushPeriod(static_cast<std::uint32_t>(milliseconds));
  }
  return true;
}

}  // namespace

void set_reason(const char* text) { copy_text(header().reason, cupti::kReasonBytes, text); }

bool other_tool_present() {
  drop_places();
  Subscriber subscriber = nullptr;
  const Status status = subscribe(&subscriber);
  // Never kept: a tool that the program itself uses shall find CUPTI free.
  if (status == kSuccess) functions.cuptiUnsubscribe(subscriber);
  return status == kOtherSubscriber;
}

Verdict begin_collecting(const Cupti& found, const char* path) {
  functions = found;
  version = 0;
  functions.cuptiGetVersion(&version);
  cupti::FileHeader& file = header();
  file.cupti_version = version;
  copy_text(file.library, sizeof file.library, path);
  if (version < kOldestVersion) {
    set_reason("this CUPTI is older than CUDA 11");
    return Verdict::TryAnother;
  }
  Subscriber subscriber = nullptr;
  const Status status = subscribe(&subscriber);
  if (status == kOtherSubscriber) {
    file.other_tool_seen = 1;
    set_reason("another tool uses CUPTI in this process");
    return Verdict::GiveUp;
  }
  if (status != kSuccess) {
    say_status("CUPTI does not start", status);
    return Verdict::TryAnother;
  }
  const bool armed = arm();
  if (armed && places_wanted()) {
    keep_places(functions, subscriber);
  } else {
    functions.cuptiUnsubscribe(subscriber);
  }
  if (!armed) return Verdict::TryAnother;
  file.reason[0] = 0;
  file.started = sonde_ticks();
  __atomic_store_n(&file.state, State::Collecting, __ATOMIC_RELEASE);
  return Verdict::Good;
}

void renew_places() {
  const bool wanted = places_wanted();
  if (!wanted) return drop_places();
  if (holds_places() || header().call_places == cupti::CallPlaces::Refused) return;
  Subscriber subscriber = nullptr;
  if (subscribe(&subscriber) == kSuccess) {
    keep_places(functions, subscriber);
  } else {
    header().call_places = cupti::CallPlaces::Refused;
  }
}

void resume_collecting() {
  if (!arm()) return;
  renew_places();
  header().other_tool_until = sonde_ticks();
  __atomic_store_n(&header().state, State::Collecting, __ATOMIC_RELEASE);
}

void stop_collecting() {
  drop_places();
  switch_kinds(false);
}

bool hears_own_calls() { return is_kind_wanted("driver", true); }

void flush(bool forced) {
  functions.cuptiActivityFlushAll(forced ? kFlushForced : 0);
  std::size_t dropped = 0;
  if (functions.cuptiActivityGetNumDroppedRecords &&
      functions.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == kSuccess) {
    __atomic_fetch_add(&header().dropped_records, std::uint64_t{dropped}, __ATOMIC_RELAXED);
  }
}

}  // namespace sonde::capture::cuda
