#include "sampler/elf_image.hpp"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace sonde {
namespace {

constexpr std::size_t kMaxSections = 4096;
constexpr std::size_t kMaxSegments = 256;
constexpr std::uint64_t kMaxTable = std::uint64_t{256} << 20;
constexpr std::size_t kSymbolsPerRead = 4096;

bool all_found(const std::vector<ElfImage::Symbol>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [](const ElfImage::Symbol& symbol) { return symbol.value.has_value(); });
}

}  // namespace

std::optional<ElfImage> ElfImage::read(const Memory& file) {
  Elf64_Ehdr header;
  if (!file.get(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  constexpr unsigned char kOrder =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != kOrder) return {};
  ElfImage out;
  out.file_ = &file;
  out.fixed_ = header.e_type == ET_EXEC;
  if (header.e_phentsize == sizeof(Elf64_Phdr)) {
    const std::size_t count = std::min<std::size_t>(header.e_phnum, kMaxSegments);
    for (std::size_t i = 0; i < count; ++i) {
      Elf64_Phdr segment;
      if (!file.get(header.e_phoff + i * sizeof segment, segment)) break;
      if (segment.p_type == PT_LOAD) out.segments_.push_back({segment.p_offset, segment.p_vaddr});
    }
  }
  if (header.e_shentsize == sizeof(Elf64_Shdr)) {
    out.read_sections(header.e_shoff, std::min<std::size_t>(header.e_shnum, kMaxSections),
                      header.e_shstrndx);
  }
  return out;
}

bool ElfImage::read_sections(std::uint64_t at, std::size_t count, std::size_t names) {
  std::vector<Elf64_Shdr> headers(count);
  if (count == 0 || !file_->read(at, headers.data(), count * sizeof(Elf64_Shdr))) return false;
  if (names >= count || headers[names].sh_size > (1u << 20)) return false;
  std::string text(headers[names].sh_size, '\0');
  if (!file_->read(headers[names].sh_offset, text.data(), text.size())) return false;
  for (const Elf64_Shdr& header : headers) {
    Section section;
    if (header.sh_name < text.size()) {
      section.name = text.c_str() + header.sh_name;  // ends inside of `text` or at its end
    }
    section.type = header.sh_type;
    section.link = header.sh_link;
    section.address = header.sh_addr;
    section.offset = header.sh_offset;
    section.size = header.sh_size;
    sections_.push_back(std::move(section));
  }
  return true;
}

void ElfImage::find(std::vector<Symbol>& wanted) const {
  for (const std::uint32_t type : {std::uint32_t{SHT_DYNSYM}, std::uint32_t{SHT_SYMTAB}}) {
    for (const Section& section : sections_) {
      if (section.type != type || all_found(wanted)) continue;
      find_in(section, wanted);
    }
  }
}

void ElfImage::find_in(const Section& symbols, std::vector<Symbol>& wanted) const {
  if (symbols.link >= sections_.size() || symbols.size > kMaxTable) return;
  const Section& names = sections_[symbols.link];
  if (names.size > kMaxTable || names.size == 0) return;
  // Read in pieces: a size that the file does not have then costs nothing.
  std::string text;
  constexpr std::size_t kStep = 1 << 20;
  while (text.size() < names.size) {
    const std::size_t step = std::min<std::size_t>(kStep, names.size - text.size());
    const std::size_t before = text.size();
    text.resize(before + step);
    if (!file_->read(names.offset + before, text.data() + before, step)) return;
  }
  std::vector<Elf64_Sym> some;
  std::uint64_t left = symbols.size / sizeof(Elf64_Sym);
  std::uint64_t at = symbols.offset;
  while (left > 0) {
    some.resize(std::min<std::uint64_t>(left, kSymbolsPerRead));
    if (!file_->read(at, some.data(), some.size() * sizeof(Elf64_Sym))) return;
    at += some.size() * sizeof(Elf64_Sym);
    left -= some.size();
    for (const Elf64_Sym& symbol : some) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= text.size()) continue;
      const char* const name = text.c_str() + symbol.st_name;
      for (Symbol& one : wanted) {
        if (!one.value && one.name == name) one.value = symbol.st_value;
      }
    }
    if (all_found(wanted)) return;
  }
}

std::optional<std::uint64_t> ElfImage::section(std::string_view name) const {
  for (const Section& section : sections_) {
    if (section.name == name && section.address != 0) return section.address;
  }
  return {};
}

std::uint64_t ElfImage::load_bias(Address start, std::uint64_t offset) const {
  if (fixed_) return 0;
  // The piece of the file that the segment begins in is mapped in whole pages.
  constexpr std::uint64_t kPage = 4096;
  for (const Segment& segment : segments_) {
    if (segment.offset / kPage * kPage != offset) continue;
    return start - (segment.address - segment.offset + offset);
  }
  return start - offset;
}

}  // namespace sonde
