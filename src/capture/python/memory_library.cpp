#include "capture/python/memory_library.hpp"

#include <dlfcn.h>

#include "capture/python/interpreter.hpp"

namespace sonde::python {
namespace {

static_assert(sizeof(memory::Allocator) == sizeof(PyMemAllocatorEx));

constexpr PyMemAllocatorDomain kDomainOf[memory::kDomains] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM,
                                                              PYMEM_DOMAIN_OBJ};
PyMemAllocatorEx before[memory::kDomains];
int holders = 0;

memory::Allocator converted(const PyMemAllocatorEx& allocator) {
  return {allocator.ctx, allocator.malloc, allocator.calloc, allocator.realloc, allocator.free};
}

PyMemAllocatorEx converted(const memory::Allocator& allocator) {
  return {allocator.context, allocator.malloc, allocator.calloc, allocator.realloc, allocator.free};
}

}  // namespace

const memory::Interface* memory_library() {
  static const memory::Interface* known = nullptr;
  if (known) return known;
  auto find = reinterpret_cast<SondeMemoryInterface>(dlsym(RTLD_DEFAULT, "sonde_memory_interface"));
  if (!find) {
    // Beside the recorder, where the search path of this module leads.
    void* const library = dlopen("libsonde_memory.so", RTLD_NOW | RTLD_LOCAL);
    if (library) {
      find = reinterpret_cast<SondeMemoryInterface>(dlsym(library, "sonde_memory_interface"));
    }
  }
  if (find) known = find(memory::kInterfaceVersion);
  return known;
}

bool hold_allocators() {
  const memory::Interface* const library = memory_library();
  if (!library) return false;
  if (holders++ > 0) return true;
  for (int i = 0; i < memory::kDomains; ++i) {
    PyMem_GetAllocator(kDomainOf[i], &before[i]);
    const memory::Allocator inner = converted(before[i]);
    memory::Allocator hook;
    library->wrap(i, &inner, &hook);
    PyMemAllocatorEx wrapped = converted(hook);
    PyMem_SetAllocator(kDomainOf[i], &wrapped);
  }
  return true;
}

void release_allocators() {
  if (holders == 0 || --holders > 0) return;
  for (int i = 0; i < memory::kDomains; ++i) {
    memory::Allocator hook;
    const memory::Allocator inner = converted(before[i]);
    memory_library()->wrap(i, &inner, &hook);
    PyMemAllocatorEx now;
    PyMem_GetAllocator(kDomainOf[i], &now);
    // Somebody else stands in front of it: then it stays, and forwards.
    if (now.malloc == hook.malloc) PyMem_SetAllocator(kDomainOf[i], &before[i]);
  }
}

}  // namespace sonde::python
