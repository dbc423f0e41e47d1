#include "capture/memory/native_stack.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include "capture/memory/mapped_table.hpp"

namespace sonde::memory {
namespace {

struct Walk {
  std::uintptr_t* out;
  int most;
  int count;
  std::uintptr_t own_begin;
  std::uintptr_t own_end;
};

_Unwind_Reason_Code take_frame(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  int before = 0;
  std::uintptr_t address = _Unwind_GetIPInfo(context, &before);
  if (address == 0) return _URC_END_OF_STACK;
  // The address of a return may lie behind the function.
  if (!before) --address;
  if (walk.count == 0 && address >= walk.own_begin && address < walk.own_end) return _URC_NO_REASON;
  walk.out[walk.count++] = address;
  return walk.count == walk.most ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// The loaded object at an address. _dl_find_object() takes no lock; glibc has it since 2.35.
bool find_object(std::uintptr_t address, dl_find_object& out) {
  return _dl_find_object(reinterpret_cast<void*>(address), &out) == 0;
}

struct Symbol {
  std::uint64_t start;  // from the object's base
  std::uint32_t size;
  std::uint32_t name;  // from the start of the file
};

// The functions of one loaded object by address, from its file, which has the names of those that
// are not exported as well. Made once, since a large library has a million of them. The file is not
// trusted: every number in it is checked.
struct SymbolIndex {
  const link_map* object;
  std::uintptr_t begin;  // a library that is loaded anew lies elsewhere, mostly
  const char* data;
  std::size_t size;
  Symbol* symbols;
  std::size_t count;
  SymbolIndex* next;

  bool has(std::uint64_t offset, std::uint64_t bytes) const {
    return data && offset <= size && bytes <= size - offset;
  }
};
SymbolIndex* indexes;

bool before(const Symbol& a, const Symbol& b) { return a.start < b.start; }

// In place, and never slow: the order in the file is anybody's guess.
void sift_down(Symbol* list, std::size_t at, std::size_t end) {
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= end) return;
    if (child + 1 < end && before(list[child], list[child + 1])) ++child;
    if (!before(list[at], list[child])) return;
    const Symbol kept = list[at];
    list[at] = list[child];
    list[child] = kept;
    at = child;
  }
}

void sort_by_start(Symbol* list, std::size_t count) {
  for (std::size_t i = count / 2; i-- > 0;) sift_down(list, i, count);
  for (std::size_t end = count; end-- > 1;) {
    const Symbol kept = list[0];
    list[0] = list[end];
    list[end] = kept;
    sift_down(list, 0, end);
  }
}

bool is_function(const ElfW(Sym) & symbol) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF &&
         symbol.st_size > 0;
}

// Calls `visit` with each function and the place of its name in the file.
template <class Visit>
void each_function(const SymbolIndex& file, Visit visit) {
  if (!file.has(0, sizeof(ElfW(Ehdr)))) return;
  const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(file.data);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(ElfW(Shdr)) ||
      header.e_shoff % alignof(ElfW(Shdr)) != 0 ||
      !file.has(header.e_shoff, std::size_t{header.e_shnum} * sizeof(ElfW(Shdr)))) {
    return;
  }
  const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(file.data + header.e_shoff);
  bool has_all = false;  // what is exported is in the longer table as well
  for (unsigned i = 0; i < header.e_shnum; ++i) has_all |= sections[i].sh_type == SHT_SYMTAB;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto& table = sections[i];
    if (table.sh_type != (has_all ? SHT_SYMTAB : SHT_DYNSYM)) continue;
    if (!file.has(table.sh_offset, table.sh_size) || table.sh_link >= header.e_shnum ||
        table.sh_offset % alignof(ElfW(Sym)) != 0) {
      continue;
    }
    const auto& names = sections[table.sh_link];
    if (!file.has(names.sh_offset, names.sh_size)) continue;
    const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(file.data + table.sh_offset);
    for (std::size_t at = 0; at < table.sh_size / sizeof(ElfW(Sym)); ++at) {
      const std::uint64_t name = names.sh_offset + symbols[at].st_name;
      if (is_function(symbols[at]) && symbols[at].st_name < names.sh_size && name <= UINT32_MAX) {
        visit(symbols[at], static_cast<std::uint32_t>(name));
      }
    }
  }
}

void map_file(SymbolIndex& index, const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) {
      index.data = static_cast<const char*>(memory);
      index.size = size;
    }
  }
  close(file);
}

SymbolIndex* index_of(const dl_find_object& object, const char* path) {
  const auto begin = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
  for (SymbolIndex* at = indexes; at; at = at->next) {
    if (at->object == object.dlfo_link_map && at->begin == begin) return at;
  }
  auto* const index = static_cast<SymbolIndex*>(map_memory(sizeof(SymbolIndex)));
  if (!index) return nullptr;
  index->object = object.dlfo_link_map;
  index->begin = begin;
  map_file(*index, path);
  std::size_t count = 0;
  each_function(*index, [&](const ElfW(Sym)&, std::uint32_t) { ++count; });
  index->symbols = count > 0 ? static_cast<Symbol*>(map_memory(count * sizeof(Symbol))) : nullptr;
  if (index->symbols) {
    each_function(*index, [&](const ElfW(Sym) & symbol, std::uint32_t name) {
      // The file may have changed since it was counted.
      if (index->count == count) return;
      const std::uint64_t size = symbol.st_size;
      index->symbols[index->count++] = {
          symbol.st_value, size > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(size), name};
    });
    sort_by_start(index->symbols, index->count);
  }
  index->next = indexes;
  indexes = index;
  return index;
}

const Symbol* find_in(const SymbolIndex& index, std::uint64_t offset) {
  std::size_t low = 0;
  std::size_t high = index.count;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (index.symbols[middle].start <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return nullptr;
  const Symbol& symbol = index.symbols[low - 1];
  return offset - symbol.start < symbol.size ? &symbol : nullptr;
}

void copy_name(const SymbolIndex& index, const Symbol& symbol, char* name, std::size_t room) {
  const std::size_t left = index.size - symbol.name;
  const char* const text = index.data + symbol.name;
  const std::size_t length = strnlen(text, left < room - 1 ? left : room - 1);
  memcpy(name, text, length);
  name[length] = 0;
}

}  // namespace

int walk_native(std::uintptr_t* out, int most) {
  Walk walk{out, most, 0, 0, 0};
  dl_find_object own{};
  if (find_object(reinterpret_cast<std::uintptr_t>(&walk_native), own)) {
    walk.own_begin = reinterpret_cast<std::uintptr_t>(own.dlfo_map_start);
    walk.own_end = reinterpret_cast<std::uintptr_t>(own.dlfo_map_end);
  }
  _Unwind_Backtrace(take_frame, &walk);
  return walk.count;
}

NativeSymbol find_symbol(std::uintptr_t address, char* name, std::size_t size) {
  dl_find_object object{};
  if (!find_object(address, object) || !object.dlfo_link_map) {
    snprintf(name, size, "0x%llx", static_cast<unsigned long long>(address));
    return {0, nullptr};
  }
  const std::uintptr_t base = object.dlfo_link_map->l_addr;
  const char* path = object.dlfo_link_map->l_name;
  static char program[4096];
  const bool is_program = !path || !*path;
  if (is_program) {
    if (!program[0]) {
      const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
      if (length <= 0) strcpy(program, "program");
    }
    path = program;
  }
  const SymbolIndex* const index = index_of(object, is_program ? "/proc/self/exe" : path);
  const Symbol* const symbol = index ? find_in(*index, address - base) : nullptr;
  if (symbol) {
    copy_name(*index, *symbol, name, size);
    return {base + symbol->start, path};
  }
  snprintf(name, size, "0x%llx", static_cast<unsigned long long>(address - base));
  return {0, path};
}

}  // namespace sonde::memory
