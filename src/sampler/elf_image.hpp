#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sampler/memory.hpp"

namespace sonde {

// As much of a 64-bit ELF file as it takes to find a symbol. Nothing in the file is believed: sizes
// are bounded and offsets checked by reading.
class ElfImage {
 public:
  // Nothing where the file is none, or one for another word size or byte order.
  static std::optional<ElfImage> read(const Memory& file);

  struct Symbol {
    std::string_view name;
    std::optional<std::uint64_t> value;  // as the file has it, without the load address
  };
  // Fills in the values of those that are there: from the dynamic symbols, then from all.
  void find(std::vector<Symbol>& wanted) const;
  // Where a section lies in memory, without the load address.
  std::optional<std::uint64_t> section(std::string_view name) const;

  // What is to be added to the addresses of the file where the piece of it at `offset` is mapped to
  // `start`.
  std::uint64_t load_bias(Address start, std::uint64_t offset) const;

 private:
  struct Section {
    std::string name;
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
  };

  bool read_sections(std::uint64_t at, std::size_t count, std::size_t names);
  void find_in(const Section& symbols, std::vector<Symbol>& wanted) const;

  const Memory* file_ = nullptr;
  bool fixed_ = false;  // ET_EXEC: lies where it says
  std::vector<Section> sections_;
  std::vector<Segment> segments_;
};

}  // namespace sonde
