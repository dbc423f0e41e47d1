// A program that gives its NVTX events extended payloads: through NVIDIA's headers
// (SONDE_REAL_NVTX), or by doing what those do. It needs NVTX_INJECTION64_PATH.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "capture/nvtx/nvtx_abi.hpp"
#include "capture/nvtx/payload_abi.hpp"

#ifdef SONDE_REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#else
#include "nvtx_injection.hpp"
#endif

namespace abi = sonde::capture::nvtx;
namespace flag = abi::entry_flag;
namespace type = abi::entry_type;
namespace field = abi::schema_field;

#ifndef SONDE_REAL_NVTX
namespace {

using nvtxDomainHandle_t = void*;
using nvtxRangeId_t = std::uint64_t;
using nvtxPayloadData_t = abi::PayloadData;
using nvtxPayloadSchemaEntry_t = abi::SchemaEntry;
using nvtxPayloadSchemaAttr_t = abi::SchemaAttributes;
using nvtxPayloadEnum_t = abi::EnumEntry;
using nvtxPayloadEnumAttr_t = abi::EnumAttributes;

std::intptr_t slots[64];
abi::Function core2[16];
abi::Function* core2_slots[17];

int function_table(int module, abi::FunctionTable* table, unsigned* size) {
  if (module != static_cast<int>(abi::Module::Core2)) return 0;
  for (unsigned i = 1; i < 16; ++i) core2_slots[i] = &core2[i];
  *table = core2_slots;
  *size = 16;
  return 1;
}

void initialize() {
  static const bool done = [] {
    void* const library = sonde::testing::start_injection<function_table>();
    if (!library) return false;
    const auto extension = reinterpret_cast<int (*)(abi::ModuleInfo*)>(
        ::dlsym(library, "InitializeInjectionNvtxExtension"));
    abi::ModuleSegment segment = {0, 63, slots};
    abi::ModuleInfo information = {3, sizeof information, 2, 0x0104, 1, &segment, nullptr, nullptr};
    return extension && extension(&information);
  }();
  (void)done;
}

template <typename Result, typename... Arguments>
Result call(abi::PayloadSlot slot, Arguments... arguments) {
  initialize();
  const auto function =
      reinterpret_cast<Result (*)(Arguments...)>(slots[static_cast<unsigned>(slot)]);
  if (!function) return Result();
  return function(arguments...);
}

using Domain = nvtxDomainHandle_t;
using Data = const nvtxPayloadData_t*;
std::uint64_t nvtxPayloadSchemaRegister(Domain domain, const nvtxPayloadSchemaAttr_t* attributes) {
  return call<std::uint64_t>(abi::PayloadSlot::SchemaRegister, domain, attributes);
}
std::uint64_t nvtxPayloadEnumRegister(Domain domain, const nvtxPayloadEnumAttr_t* attributes) {
  return call<std::uint64_t>(abi::PayloadSlot::EnumRegister, domain, attributes);
}
void nvtxMarkPayload(Domain domain, Data data, std::size_t count) {
  call<void>(abi::PayloadSlot::Mark, domain, data, count);
}
int nvtxRangePushPayload(Domain domain, Data data, std::size_t count) {
  return call<int>(abi::PayloadSlot::RangePush, domain, data, count);
}
int nvtxRangePopPayload(Domain domain, Data data, std::size_t count) {
  return call<int>(abi::PayloadSlot::RangePop, domain, data, count);
}
nvtxRangeId_t nvtxRangeStartPayload(Domain domain, Data data, std::size_t count) {
  return call<nvtxRangeId_t>(abi::PayloadSlot::RangeStart, domain, data, count);
}
void nvtxRangeEndPayload(Domain domain, nvtxRangeId_t range, Data data, std::size_t count) {
  call<void>(abi::PayloadSlot::RangeEnd, domain, range, data, count);
}
void nvtxEventSubmit(Domain domain, Data data, std::size_t count) {
  call<void>(abi::PayloadSlot::EventSubmit, domain, data, count);
}
Domain nvtxDomainCreateA(const char* name) {
  initialize();
  const auto function = reinterpret_cast<Domain (*)(const char*)>(
      core2[static_cast<unsigned>(abi::Core2::DomainCreateA)]);
  return function ? function(name) : nullptr;
}
int nvtxDomainRangePushEx(Domain domain, const abi::EventAttributes* event) {
  const auto function = reinterpret_cast<int (*)(Domain, const abi::EventAttributes*)>(
      core2[static_cast<unsigned>(abi::Core2::DomainRangePushEx)]);
  return function ? function(domain, event) : 0;
}

}  // namespace
#endif

namespace {

// As NCCL describes a collective call.
struct Collective {
  std::uint64_t communicator;
  std::size_t bytes;
  std::int32_t operation;
  std::uint8_t flags;
};

struct Point {
  float x;
  float y;
};

struct Everything {
  Point at;
  char name[8];
  std::int16_t sizes[3];
  const char* text;
  const double* numbers;
  std::uint32_t count;
  std::uint8_t byte;
  std::uint64_t large;
};

template <std::size_t Count>
std::uint64_t schema_of(nvtxDomainHandle_t domain, const char* name,
                        const nvtxPayloadSchemaEntry_t (&entries)[Count], std::size_t size,
                        std::uint64_t id = 0, abi::SchemaType kind = abi::SchemaType::Static,
                        std::size_t pack = 0) {
  const std::uint64_t fields = field::kName | field::kType | field::kEntries | field::kCount |
                               (size ? field::kStaticSize : 0) | (id ? field::kId : 0) |
                               (pack ? field::kPack : 0);
  const nvtxPayloadSchemaAttr_t attributes = {
      fields, name, static_cast<std::uint64_t>(kind), 0, entries, Count, size, pack, id, nullptr};
  return nvtxPayloadSchemaRegister(domain, &attributes);
}

nvtxPayloadSchemaEntry_t entry(std::uint64_t kind, const char* name, std::uint64_t flags = 0,
                               std::uint64_t detail = 0, std::uint64_t offset = 0) {
  return {flags, kind, name, nullptr, detail, offset, nullptr, nullptr};
}

}  // namespace

int main() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");

  // A static number of its own, an enumeration, and a bit set.
  const std::uint64_t operations = type::kFirstStatic + 24;
  const nvtxPayloadEnum_t names[] = {{"sum", 0, 0}, {"product", 1, 0}};
  namespace e = abi::enum_field;
  const nvtxPayloadEnumAttr_t enumeration = {
      e::kEntries | e::kCount | e::kSize | e::kId, nullptr, names, 2, 4, operations, nullptr};
  std::printf("%d ", nvtxPayloadEnumRegister(domain, &enumeration) == operations);
  const nvtxPayloadEnum_t bits[] = {{"async", 1, 1}, {"fused", 4, 1}};
  const nvtxPayloadEnumAttr_t bit_set = {
      e::kEntries | e::kCount | e::kSize, nullptr, bits, 2, 1, 0, nullptr};
  const std::uint64_t flags = nvtxPayloadEnumRegister(domain, &bit_set);
  const nvtxPayloadSchemaEntry_t collective_entries[] = {
      entry(type::kUint64, "communicator"), entry(type::kSize, "Message size [bytes]"),
      entry(operations, "Reduction operation"), entry(flags, "flags")};
  const std::uint64_t collective = schema_of(domain, "collective", collective_entries,
                                             sizeof(Collective), type::kFirstStatic + 5);
  const Collective call_of = {0xFFFFFFFFFFFFFFF0u, 4096, 1, 5};
  const nvtxPayloadData_t first = {collective, sizeof call_of, &call_of};
  std::printf("%d ", nvtxRangePushPayload(domain, &first, 1));
  const std::int32_t result = -3;
  const nvtxPayloadData_t at_end = {type::kInt32, sizeof result, &result};
  std::printf("%d ", nvtxRangePopPayload(domain, &at_end, 1));

  // The same on an event with attributes: how NCCL does it.
#ifdef SONDE_REAL_NVTX
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "ncclAllReduce";
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uint64_t>(&first);
#else
  abi::EventAttributes event{};
  event.version = 3;
  event.size = sizeof event;
  event.message_type = abi::MessageType::Text;
  event.message = "ncclAllReduce";
  event.payload_type = static_cast<abi::PayloadType>(abi::kExtendedPayload);
  event.reserved = 1;
  event.payload = reinterpret_cast<std::uint64_t>(&first);
#endif
  std::printf("%d ", nvtxDomainRangePushEx(domain, &event));
  std::printf("%d ", nvtxRangePopPayload(domain, nullptr, 0));

  // Nested data, arrays, texts; more values than an event has arguments.
  const nvtxPayloadSchemaEntry_t point_entries[] = {entry(type::kFloat, "x"),
                                                    entry(type::kFloat, "y")};
  const std::uint64_t point = schema_of(domain, "point", point_entries, 0);
  const nvtxPayloadSchemaEntry_t all_entries[] = {
      entry(point, "at"),
      entry(type::kText, "name", 0, 8),
      entry(type::kInt16, "sizes", flag::kFixed, 3),
      entry(type::kText, "message", flag::kMessage, 0, offsetof(Everything, text)),
      entry(type::kUint32, "count", flag::kHide, 0, offsetof(Everything, count)),
      entry(type::kDouble, "numbers", flag::kPointer | flag::kLengthIndex, 4,
            offsetof(Everything, numbers)),
      entry(type::kByte, "byte", 0, 0, offsetof(Everything, byte)),
      entry(type::kUint64, "large", 0, 0, offsetof(Everything, large)),
      entry(type::kAddress, "address", 0, 0, offsetof(Everything, large))};
  const std::uint64_t everything = schema_of(domain, "everything", all_entries, sizeof(Everything));
  const double numbers[] = {0.5, 1.5};
  const Everything all = {{1.25F, -2}, "eight\0\0", {1, -2, 3}, "named by its payload",
                          numbers,     2,           0xAB,       77};
  const nvtxPayloadData_t second = {everything, SIZE_MAX, &all};
  const nvtxRangeId_t range = nvtxRangeStartPayload(domain, &second, 1);
  nvtxRangeEndPayload(domain, range, &at_end, 1);

  // A dynamic layout, packed: the length lies before the text; then an array that a zero ends.
  const nvtxPayloadSchemaEntry_t dynamic_entries[] = {
      entry(type::kUint16, "length"), entry(type::kText, "text", flag::kLengthIndex, 0),
      entry(type::kUint8, "list", flag::kZeroEnded), entry(type::kInt32, "last")};
  const std::uint64_t dynamic =
      schema_of(domain, "dynamic", dynamic_entries, 0, 0, abi::SchemaType::Dynamic, 1);
  const unsigned char packed[] = {3, 0, 'a', 'b', 'c', 9, 8, 0, 7, 0, 0, 0};
  const nvtxPayloadData_t third = {dynamic, sizeof packed, packed};
  nvtxMarkPayload(domain, &third, 1);

  // A union whose member another entry selects.
  const nvtxPayloadSchemaEntry_t members[] = {entry(type::kInt32, "whole"),
                                              entry(type::kFloat, "real")};
  const std::uint64_t choice = schema_of(domain, nullptr, members, 0, 0, abi::SchemaType::Union);
  const nvtxPayloadSchemaEntry_t choosing[] = {entry(type::kInt32, "which"),
                                               entry(choice, "value", 0, 0)};
  const std::uint64_t chooser = schema_of(domain, "chooser", choosing, 8);
  const struct {
    std::int32_t which;
    float real;
  } chosen = {1, 0.75F};
  const nvtxPayloadData_t fourth = {chooser, sizeof chosen, &chosen};
  nvtxMarkPayload(domain, &fourth, 1);

  // What makes no sense: a schema that nobody registered, data that is too short, a text at a wrong
  // address, a schema within itself, an entry too many.
  const nvtxPayloadData_t unknown = {type::kFirstStatic + 999, 8, &call_of};
  nvtxMarkPayload(domain, &unknown, 1);
  const nvtxPayloadData_t cut = {collective, 4, &call_of};
  nvtxMarkPayload(domain, &cut, 1);
  const nvtxPayloadSchemaEntry_t wrong_entries[] = {entry(type::kText, "wrong", flag::kPointer)};
  const std::uint64_t wrong = schema_of(domain, "wrong address", wrong_entries, 8);
  const std::uint64_t nowhere = 0x10;
  const nvtxPayloadData_t fifth = {wrong, 8, &nowhere};
  nvtxMarkPayload(domain, &fifth, 1);
  const std::uint64_t self = type::kFirstStatic + 100;
  const nvtxPayloadSchemaEntry_t self_entries[] = {entry(self, "again"), entry(self, "again")};
  schema_of(domain, "in itself", self_entries, 0, self);
  const nvtxPayloadData_t sixth = {self, 8, &nowhere};
  nvtxMarkPayload(domain, &sixth, 1);
  const nvtxPayloadSchemaEntry_t huge_entries[] = {
      entry(type::kUint64, "huge", flag::kFixed, UINT64_MAX)};
  const std::uint64_t huge = schema_of(domain, "huge", huge_entries, 8);
  const nvtxPayloadData_t seventh = {huge, 8, &nowhere};
  nvtxMarkPayload(domain, &seventh, 1);
  const nvtxPayloadSchemaAttr_t nothing = {};
  std::printf("%d ", static_cast<int>(nvtxPayloadSchemaRegister(domain, &nothing)));
  std::printf("%d ", static_cast<int>(nvtxPayloadSchemaRegister(domain, nullptr)));
  nvtxEventSubmit(domain, &first, 1);
  std::printf("\n");
  return 0;
}
