// A program that makes NVTX calls: through NVIDIA's headers (SONDE_REAL_NVTX), or by doing what
// those do. It needs NVTX_INJECTION64_PATH; without it the calls do nothing.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#ifdef SONDE_REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_injection.hpp"

#include "capture/nvtx/nvtx_abi.hpp"

namespace abi = sonde::capture::nvtx;

namespace {

abi::Function core[16];
abi::Function core2[16];
abi::Function* core_slots[17];
abi::Function* core2_slots[17];

int function_table(int module, abi::FunctionTable* table, unsigned* size) {
  const bool first = module == static_cast<int>(abi::Module::Core);
  if (!first && module != static_cast<int>(abi::Module::Core2)) return 0;
  for (unsigned i = 1; i < 16; ++i)
    (first ? core_slots : core2_slots)[i] = &(first ? core : core2)[i];
  *table = first ? core_slots : core2_slots;
  *size = 16;
  return 1;
}

void initialize() {
  static const void* const library = sonde::testing::start_injection<function_table>();
  (void)library;
}

template <typename Result, typename Slot, typename... Arguments>
Result call(abi::Function* table, Slot slot, Arguments... arguments) {
  initialize();
  const auto function =
      reinterpret_cast<Result (*)(Arguments...)>(table[static_cast<unsigned>(slot)]);
  if (!function) return Result();
  return function(arguments...);
}

using nvtxDomainHandle_t = void*;
using nvtxStringHandle_t = void*;
using nvtxRangeId_t = std::uint64_t;
union Payload {
  std::uint64_t ullValue;
  double dValue;
};
union Message {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
};
struct nvtxEventAttributes_t {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t colorType;
  std::uint32_t color;
  std::int32_t payloadType, reserved0;
  Payload payload;
  std::int32_t messageType;
  Message message;
};
constexpr std::uint16_t NVTX_VERSION = 3;
constexpr std::uint16_t NVTX_EVENT_ATTRIB_STRUCT_SIZE = sizeof(nvtxEventAttributes_t);
constexpr std::int32_t NVTX_COLOR_ARGB = 1, NVTX_PAYLOAD_TYPE_DOUBLE = 3,
                       NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1;
constexpr std::int32_t NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_REGISTERED = 3;

void nvtxMarkA(const char* text) { call<void>(core, abi::Core::MarkA, text); }
int nvtxRangePushA(const char* text) { return call<int>(core, abi::Core::RangePushA, text); }
int nvtxRangePushW(const wchar_t* text) { return call<int>(core, abi::Core::RangePushW, text); }
int nvtxRangePushEx(const nvtxEventAttributes_t* event) {
  return call<int>(core, abi::Core::RangePushEx, event);
}
int nvtxRangePop() { return call<int>(core, abi::Core::RangePop); }
nvtxRangeId_t nvtxRangeStartA(const char* text) {
  return call<nvtxRangeId_t>(core, abi::Core::RangeStartA, text);
}
void nvtxRangeEnd(nvtxRangeId_t range) { call<void>(core, abi::Core::RangeEnd, range); }
void nvtxNameCategoryA(std::uint32_t category, const char* name) {
  call<void>(core, abi::Core::NameCategoryA, category, name);
}
void nvtxNameOsThreadA(std::uint32_t thread, const char* name) {
  call<void>(core, abi::Core::NameOsThreadA, thread, name);
}
nvtxDomainHandle_t nvtxDomainCreateA(const char* name) {
  return call<nvtxDomainHandle_t>(core2, abi::Core2::DomainCreateA, name);
}
nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* text) {
  return call<nvtxStringHandle_t>(core2, abi::Core2::DomainRegisterStringA, domain, text);
}
int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return call<int>(core2, abi::Core2::DomainRangePushEx, domain, event);
}
int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
  return call<int>(core2, abi::Core2::DomainRangePop, domain);
}
void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  call<void>(core2, abi::Core2::DomainMarkEx, domain, event);
}

}  // namespace
#endif

namespace {

nvtxEventAttributes_t event_of(const char* text) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text;
  return event;
}

}  // namespace

int main() {
  // Depths as they must be with an injection; all 0 without one.
  std::string depths;
  const auto note = [&](int depth) { depths += std::to_string(depth) + " "; };

  nvtxNameOsThreadA(static_cast<std::uint32_t>(::syscall(SYS_gettid)), "the main thread");
  note(nvtxRangePushA("outer"));
  note(nvtxRangePushW(L"wide \u00e4\u20ac\U0001F600"));
  ::usleep(2000);
  note(nvtxRangePop());

  nvtxNameCategoryA(7, "input");
  nvtxEventAttributes_t event = event_of("with payload");
  event.category = 7;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xFF00CC80;
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = 2.5;
  note(nvtxRangePushEx(&event));
  ::usleep(1000);
  note(nvtxRangePop());

  const nvtxDomainHandle_t domain = nvtxDomainCreateA("my.library");
  const nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "registered");
  event = event_of(nullptr);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = text;
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = 42;
  note(nvtxDomainRangePushEx(domain, &event));
  note(nvtxRangePop());  // of the default domain: "outer" ends before "registered"
  ::usleep(1000);
  note(nvtxDomainRangePop(domain));
  note(nvtxDomainRangePop(domain));  // nothing is open: an error

  nvtxMarkA("a mark");
  event = event_of("a mark of the domain");
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = 9;
  nvtxDomainMarkEx(domain, &event);

  // Begun here, ended on another thread.
  const nvtxRangeId_t range = nvtxRangeStartA("across threads");
  std::thread([range] {
    nvtxRangePushA("on the other thread");
    ::usleep(1000);
    nvtxRangePop();
    nvtxRangeEnd(range);
  }).join();
  nvtxRangeStartA("never ended");
  nvtxRangePushA("never popped");
  std::printf("%s\n", depths.c_str());
  return 0;
}
