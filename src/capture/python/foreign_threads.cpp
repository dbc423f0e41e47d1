#include "capture/python/foreign_threads.hpp"

#if PY_VERSION_HEX < 0x030C0000

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/python/hash_table.hpp"

namespace sonde::python {
namespace {

constexpr std::size_t kMaxVisits = 4;

struct Library {
  std::uint64_t hash;
  std::uint64_t address;
};

ThreadVisit visits[kMaxVisits];
std::size_t visit_count = 0;
HashTable<Library> seen;
unsigned long long loads = 0;  // of libraries, when they were looked through last

void look_at_thread() {
  PyThreadState* const state = PyThreadState_Get();
  for (std::size_t i = 0; i < visit_count; ++i) visits[i](state);
}

PyGILState_STATE ensure() {
  const PyGILState_STATE state = PyGILState_Ensure();
  if (state == PyGILState_UNLOCKED) look_at_thread();
  return state;
}

void acquire_thread(PyThreadState* state) {
  PyEval_AcquireThread(state);
  look_at_thread();
}

struct Replacement {
  const char* name;
  void* function;
};

const Replacement kReplacements[] = {
    {"PyGILState_Ensure", reinterpret_cast<void*>(ensure)},
    {"PyEval_AcquireThread", reinterpret_cast<void*>(acquire_thread)},
};

bool is_slot(std::uint64_t type) {
#if defined(__x86_64__)
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
#else
  return false;
#endif
}

void replace(void** slot, void* function) {
  if (*slot == function) return;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = reinterpret_cast<std::uint64_t>(slot) & ~(page - 1);
  // Pages of the table may be read-only after loading. They stay writable: what they were is not
  // told, and other slots may be filled in late.
  if (mprotect(reinterpret_cast<void*>(begin), page, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(slot, function, __ATOMIC_RELEASE);
}

struct Dynamic {
  const char* texts = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Rela) * tables[2] = {};
  std::size_t bytes[2] = {};
};

Dynamic read_dynamic(const dl_phdr_info& library) {
  Dynamic out;
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      // The loader has made addresses of these.
      const auto address = entry->d_un.d_ptr;
      if (entry->d_tag == DT_STRTAB) out.texts = reinterpret_cast<const char*>(address);
      if (entry->d_tag == DT_SYMTAB) out.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
      if (entry->d_tag == DT_JMPREL) out.tables[0] = reinterpret_cast<const ElfW(Rela)*>(address);
      if (entry->d_tag == DT_PLTRELSZ) out.bytes[0] = entry->d_un.d_val;
      if (entry->d_tag == DT_RELA) out.tables[1] = reinterpret_cast<const ElfW(Rela)*>(address);
      if (entry->d_tag == DT_RELASZ) out.bytes[1] = entry->d_un.d_val;
    }
  }
  return out;
}

void replace_calls(const dl_phdr_info& library) {
  const Dynamic dynamic = read_dynamic(library);
  if (!dynamic.texts || !dynamic.symbols) return;
  // The kernel's own library keeps offsets where others have addresses.
  if (reinterpret_cast<std::uint64_t>(dynamic.texts) < library.dlpi_addr) return;
  for (int table = 0; table < 2; ++table) {
    const std::size_t count = dynamic.tables[table] ? dynamic.bytes[table] / sizeof(ElfW(Rela)) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const ElfW(Rela)& relocation = dynamic.tables[table][i];
      const std::uint64_t symbol = ELF64_R_SYM(relocation.r_info);
      if (symbol == 0 || !is_slot(ELF64_R_TYPE(relocation.r_info))) continue;
      const char* const name = dynamic.texts + dynamic.symbols[symbol].st_name;
      if (name[0] != 'P' || name[1] != 'y') continue;
      for (const Replacement& replacement : kReplacements) {
        if (strcmp(name, replacement.name) != 0) continue;
        replace(reinterpret_cast<void**>(library.dlpi_addr + relocation.r_offset),
                replacement.function);
      }
    }
  }
}

// Whether the library holds this code: it must reach the real functions.
bool is_own(const dl_phdr_info& library) {
  const auto here = reinterpret_cast<std::uint64_t>(&is_own);
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library.dlpi_phdr[i];
    const std::uint64_t begin = library.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && here >= begin && here < begin + part.p_memsz) return true;
  }
  return false;
}

int look_at_library(dl_phdr_info* library, std::size_t, void*) {
  if (library->dlpi_adds == loads) return 1;
  // The main program comes first, by an empty name: the interpreter calls itself directly.
  const std::uint64_t hash = mix(reinterpret_cast<std::uint64_t>(library->dlpi_phdr));
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(library->dlpi_phdr);
  if (!seen.find(hash, [&](const Library& other) { return other.address == address; })) {
    seen.add(hash, {0, address});
    if (!is_own(*library)) replace_calls(*library);
  }
  return 0;
}

int read_loads(dl_phdr_info* library, std::size_t, void* out) {
  *static_cast<unsigned long long*>(out) = library->dlpi_adds;
  return 1;
}

}  // namespace

void visit_foreign_threads(ThreadVisit visit) {
  for (std::size_t i = 0; i < visit_count; ++i) {
    if (visits[i] == visit) return;
  }
  if (visit_count < kMaxVisits) visits[visit_count++] = visit;
  watch_libraries();
}

void watch_libraries() {
  unsigned long long now = 0;
  dl_iterate_phdr(read_loads, &now);
  if (now == loads) return;
  dl_iterate_phdr(look_at_library, nullptr);
  loads = now;
}

}  // namespace sonde::python

#endif
