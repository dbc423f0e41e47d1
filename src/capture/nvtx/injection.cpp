#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/nvtx/ranges.hpp"
#include "capture/nvtx/schemas.hpp"
#include "trace/file_format.hpp"

// Every library of a program that was built with NVTX calls InitializeInjectionNvtx2() once, with
// its own table of functions.

namespace sonde::capture::nvtx {
namespace {

using Handle = void*;

Domain* domain_of(Handle handle) {
  return handle ? static_cast<Domain*>(handle) : default_domain();
}

void domain_mark(Handle domain, const EventAttributes* event) {
  sonde_arguments extended;
  mark(domain_of(domain), read_event(*domain_of(domain), event, &extended));
}
std::uint64_t domain_start(Handle domain, const EventAttributes* event) {
  sonde_arguments extended;
  return start(domain_of(domain), read_event(*domain_of(domain), event, &extended));
}
int domain_push(Handle domain, const EventAttributes* event) {
  sonde_arguments extended;
  return push(domain_of(domain), read_event(*domain_of(domain), event, &extended));
}

void mark_ex(const EventAttributes* event) { domain_mark(nullptr, event); }
void mark_a(const char* text) { mark(default_domain(), named(text)); }
void mark_w(const wchar_t* text) { mark(default_domain(), named(text)); }
std::uint64_t start_ex(const EventAttributes* event) { return domain_start(nullptr, event); }
std::uint64_t start_a(const char* text) { return start(default_domain(), named(text)); }
std::uint64_t start_w(const wchar_t* text) { return start(default_domain(), named(text)); }
int push_ex(const EventAttributes* event) { return domain_push(nullptr, event); }
int push_a(const char* text) { return push(default_domain(), named(text)); }
int push_w(const wchar_t* text) { return push(default_domain(), named(text)); }
int pop_default() { return pop(default_domain()); }

void name_category_a(std::uint32_t category, const char* name) {
  name_category(*default_domain(), category, name);
}
void name_category_w(std::uint32_t category, const wchar_t* name) {
  char text[kLongestText];
  narrow(name, text, sizeof text);
  name_category(*default_domain(), category, text);
}
void name_thread_a(std::uint32_t thread, const char* name) {
  if (name && thread == static_cast<std::uint32_t>(syscall(SYS_gettid))) sonde_name_thread(name);
}
void name_thread_w(std::uint32_t thread, const wchar_t* name) {
  char text[kLongestText];
  narrow(name, text, sizeof text);
  name_thread_a(thread, text);
}

void domain_end(Handle, std::uint64_t range) { end(range); }
int domain_pop(Handle domain) { return pop(domain_of(domain)); }
void domain_category_a(Handle domain, std::uint32_t category, const char* name) {
  name_category(*domain_of(domain), category, name);
}
void domain_category_w(Handle domain, std::uint32_t category, const wchar_t* name) {
  char text[kLongestText];
  narrow(name, text, sizeof text);
  name_category(*domain_of(domain), category, text);
}
Handle register_a(Handle, const char* text) { return register_text(text); }
Handle register_w(Handle, const wchar_t* wide) {
  char text[kLongestText];
  narrow(wide, text, sizeof text);
  return register_text(text);
}
Handle create_a(const char* name) { return make_domain(name); }
Handle create_w(const wchar_t* name) {
  char text[kLongestText];
  narrow(name, text, sizeof text);
  return make_domain(text);
}

struct Handler {
  unsigned slot;
  Function function;
};

template <typename Slot, typename Any>
Handler handler(Slot slot, Any function) {
  return {static_cast<unsigned>(slot), reinterpret_cast<Function>(function)};
}

template <std::size_t Count>
bool install(const CallbacksTable& callbacks, Module module, const Handler (&handlers)[Count]) {
  FunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks.get_module_function_table(static_cast<int>(module), &table, &size) || !table) {
    return false;
  }
  for (const Handler& entry : handlers) {
    if (entry.slot < size && table[entry.slot]) *table[entry.slot] = entry.function;
  }
  return true;
}

bool install_all(GetExportTable get_table) {
  const auto* const callbacks =
      get_table ? static_cast<const CallbacksTable*>(get_table(kCallbacksTable)) : nullptr;
  if (!callbacks || callbacks->struct_size < sizeof *callbacks ||
      !callbacks->get_module_function_table) {
    return false;
  }
  const Handler core[] = {
      handler(Core::MarkEx, mark_ex),
      handler(Core::MarkA, mark_a),
      handler(Core::MarkW, mark_w),
      handler(Core::RangeStartEx, start_ex),
      handler(Core::RangeStartA, start_a),
      handler(Core::RangeStartW, start_w),
      handler(Core::RangeEnd, end),
      handler(Core::RangePushEx, push_ex),
      handler(Core::RangePushA, push_a),
      handler(Core::RangePushW, push_w),
      handler(Core::RangePop, pop_default),
      handler(Core::NameCategoryA, name_category_a),
      handler(Core::NameCategoryW, name_category_w),
      handler(Core::NameOsThreadA, name_thread_a),
      handler(Core::NameOsThreadW, name_thread_w),
  };
  const Handler core2[] = {
      handler(Core2::DomainMarkEx, domain_mark),
      handler(Core2::DomainRangeStartEx, domain_start),
      handler(Core2::DomainRangeEnd, domain_end),
      handler(Core2::DomainRangePushEx, domain_push),
      handler(Core2::DomainRangePop, domain_pop),
      handler(Core2::DomainNameCategoryA, domain_category_a),
      handler(Core2::DomainNameCategoryW, domain_category_w),
      handler(Core2::DomainRegisterStringA, register_a),
      handler(Core2::DomainRegisterStringW, register_w),
      handler(Core2::DomainCreateA, create_a),
      handler(Core2::DomainCreateW, create_w),
  };
  const bool first = install(*callbacks, Module::Core, core);
  const bool second = install(*callbacks, Module::Core2, core2);
  return first || second;
}

// The payload extension (NVTX 3.1 and newer) has slots of its own.
std::uint64_t schema_register(Handle domain, const SchemaAttributes* attributes) {
  return register_schema(*domain_of(domain), attributes);
}
std::uint64_t enum_register(Handle domain, const EnumAttributes* attributes) {
  return register_enum(*domain_of(domain), attributes);
}
void payload_mark(Handle domain, const PayloadData* payloads, std::size_t count) {
  sonde_arguments extended;
  mark(domain_of(domain), read_payloads(*domain_of(domain), payloads, count, &extended));
}
int payload_push(Handle domain, const PayloadData* payloads, std::size_t count) {
  sonde_arguments extended;
  return push(domain_of(domain), read_payloads(*domain_of(domain), payloads, count, &extended));
}
int payload_pop(Handle domain, const PayloadData* payloads, std::size_t count) {
  return pop_with(domain_of(domain), payloads, count);
}
std::uint64_t payload_start(Handle domain, const PayloadData* payloads, std::size_t count) {
  sonde_arguments extended;
  return start(domain_of(domain), read_payloads(*domain_of(domain), payloads, count, &extended));
}
void payload_end(Handle domain, std::uint64_t range, const PayloadData* payloads,
                 std::size_t count) {
  end_with(domain_of(domain), range, payloads, count);
}
std::uint8_t domain_enabled(Handle) { return sonde_enabled() ? 1 : 0; }

// Events with times of their own: they are not recorded, and do not vanish without a word.
void submit(Handle domain, const void*, std::size_t) {
  if (!sonde_enabled()) return;
  sonde_arguments lost;
  sonde_no_arguments(&lost);
  sonde_add_i64(&lost, file::kLostPayloads, 1);
  Event event = named("NVTX event with a time of its own, not recorded");
  event.extended = &lost;
  mark(domain_of(domain), event);
}
void submit_batch(Handle domain, const void*) { submit(domain, nullptr, 0); }

bool install_payloads(const ModuleInfo* information) {
  if (!information || information->struct_size < offsetof(ModuleInfo, get_export) ||
      information->module != kPayloadModule ||
      information->compatibility >> 8 != kPayloadGeneration || information->segment_count == 0 ||
      !information->segments || !information->segments[0].slots) {
    return false;
  }
  const Handler handlers[] = {
      handler(PayloadSlot::SchemaRegister, schema_register),
      handler(PayloadSlot::EnumRegister, enum_register),
      handler(PayloadSlot::Mark, payload_mark),
      handler(PayloadSlot::RangePush, payload_push),
      handler(PayloadSlot::RangePop, payload_pop),
      handler(PayloadSlot::RangeStart, payload_start),
      handler(PayloadSlot::RangeEnd, payload_end),
      handler(PayloadSlot::DomainIsEnabled, domain_enabled),
      handler(PayloadSlot::EventSubmit, submit),
      handler(PayloadSlot::EventBatchSubmit, submit_batch),
  };
  const ModuleSegment& segment = information->segments[0];
  for (const Handler& entry : handlers) {
    if (entry.slot < segment.count) {
      segment.slots[entry.slot] = reinterpret_cast<std::intptr_t>(entry.function);
    }
  }
  return true;
}

// libsonde's destructor comes later: this library needs it.
__attribute__((destructor)) void at_exit() { close_open_ranges(); }

}  // namespace
}  // namespace sonde::capture::nvtx

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    sonde::capture::nvtx::GetExportTable get_table) {
  const int saved = errno;
  const bool installed = sonde::capture::nvtx::install_all(get_table);
  errno = saved;
  return installed;
}

// Called for each extension that a module of the program uses.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    sonde::capture::nvtx::ModuleInfo* information) {
  return sonde::capture::nvtx::install_payloads(information);
}
