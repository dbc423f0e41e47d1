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

struct Best {
  std::uintptr_t start;
  const char* name;
};

void consider(const ElfW(Sym) & symbol, const char* names, std::size_t names_size,
              std::uintptr_t offset, Best& best) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) return;
  if (offset < symbol.st_value || offset >= symbol.st_value + symbol.st_size) return;
  if (symbol.st_name >= names_size || symbol.st_value < best.start) return;
  best = {symbol.st_value, names + symbol.st_name};
}

// Looks into the file, which has the names of functions that are not exported as well. The file is
// not trusted: every number in it is checked.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      void* const memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) data_ = static_cast<const char*>(memory);
    }
    close(file);
  }
  ~MappedFile() {
    if (data_) munmap(const_cast<char*>(data_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Best find(std::uintptr_t offset, char* name, std::size_t room) const {
    Best best{};
    if (!has(0, sizeof(ElfW(Ehdr)))) return best;
    const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(data_);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(ElfW(Shdr)) ||
        header.e_shoff % alignof(ElfW(Shdr)) != 0 ||
        !has(header.e_shoff, std::size_t{header.e_shnum} * sizeof(ElfW(Shdr)))) {
      return best;
    }
    const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(data_ + header.e_shoff);
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      const auto& table = sections[i];
      if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
      if (!has(table.sh_offset, table.sh_size) || table.sh_link >= header.e_shnum) continue;
      if (table.sh_offset % alignof(ElfW(Sym)) != 0) continue;
      const auto& names = sections[table.sh_link];
      if (!has(names.sh_offset, names.sh_size)) continue;
      const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(data_ + table.sh_offset);
      for (std::size_t at = 0; at < table.sh_size / sizeof(ElfW(Sym)); ++at) {
        consider(symbols[at], data_ + names.sh_offset, names.sh_size, offset, best);
      }
    }
    if (best.name) {
      const std::size_t left = size_ - static_cast<std::size_t>(best.name - data_);
      const std::size_t length = strnlen(best.name, left < room - 1 ? left : room - 1);
      memcpy(name, best.name, length);
      name[length] = 0;
    }
    return best;
  }

 private:
  bool has(std::uint64_t offset, std::uint64_t bytes) const {
    return data_ && offset <= size_ && bytes <= size_ - offset;
  }

  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

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
  const MappedFile file(is_program ? "/proc/self/exe" : path);
  const Best best = file.find(address - base, name, size);
  if (best.name) return {base + best.start, path};
  snprintf(name, size, "0x%llx", static_cast<unsigned long long>(address - base));
  return {0, path};
}

}  // namespace sonde::memory
