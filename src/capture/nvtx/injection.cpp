#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/nvtx/ranges.hpp"

// Every library of a program that was built with NVTX calls InitializeInjectionNvtx2() once, with
// its own table of functions.

namespace sonde::capture::nvtx {
namespace {

using Handle = void*;

Domain* domain_of(Handle handle) {
  return handle ? static_cast<Domain*>(handle) : default_domain();
}

void mark_ex(const EventAttributes* event) { mark(default_domain(), read_event(event)); }
void mark_a(const char* text) { mark(default_domain(), named(text)); }
void mark_w(const wchar_t* text) { mark(default_domain(), named(text)); }
std::uint64_t start_ex(const EventAttributes* event) {
  return start(default_domain(), read_event(event));
}
std::uint64_t start_a(const char* text) { return start(default_domain(), named(text)); }
std::uint64_t start_w(const wchar_t* text) { return start(default_domain(), named(text)); }
int push_ex(const EventAttributes* event) { return push(default_domain(), read_event(event)); }
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

void domain_mark(Handle domain, const EventAttributes* event) {
  mark(domain_of(domain), read_event(event));
}
std::uint64_t domain_start(Handle domain, const EventAttributes* event) {
  return start(domain_of(domain), read_event(event));
}
void domain_end(Handle, std::uint64_t range) { end(range); }
int domain_push(Handle domain, const EventAttributes* event) {
  return push(domain_of(domain), read_event(event));
}
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
