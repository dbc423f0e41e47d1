#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sampler/layout.hpp"
#include "sampler/memory.hpp"

namespace sonde {

// Reads objects of an interpreter from outside. What cannot be read, or is no object of the type,
// is nothing; every size is bounded.
class PythonObjects {
 public:
  PythonObjects(const Memory& memory, const PythonLayout& layout)
      : memory_(memory), layout_(layout) {}

  // A str as UTF-8, cut behind `most` characters; what UTF-8 cannot hold is U+FFFD.
  std::optional<std::string> text(Address object, std::size_t most = 4096) const;
  // A bytes object; nothing where it is longer than `most`.
  std::optional<std::string> bytes(Address object, std::size_t most) const;
  // An int that fits into 64 bits.
  std::optional<std::int64_t> number(Address object) const;
  std::optional<std::string> type_name(Address object) const;

  // Calls `visit` with keys and values until it says false. False where the dict cannot be read.
  using VisitItem = std::function<bool(Address key, Address value)>;
  bool each_item(Address dict, const VisitItem& visit) const;
  // The value of a str key; 0 where there is none.
  Address item(Address dict, std::string_view key) const;
  // The attributes that an instance of a class written in Python has.
  bool each_attribute(Address instance, const VisitItem& visit) const;

  // One line for a person: the value of numbers and texts, the type and size of others.
  std::string brief(Address object) const;

  const Memory& memory() const { return memory_; }
  const PythonLayout& layout() const { return layout_; }

 private:
  struct Keys;
  bool read_keys(Address keys, Keys& out) const;
  bool each_entry(const Keys& keys, Address values, const VisitItem& visit) const;
  bool each_item_of(Address dict, const VisitItem& visit) const;

  const Memory& memory_;
  const PythonLayout& layout_;
};

}  // namespace sonde
