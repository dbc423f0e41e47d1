#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "import/input/byte_source.hpp"

namespace sonde {

enum class PickleType : std::uint8_t {
  None,
  Boolean,
  Integer,
  BigInteger,  // beyond 64 bits; text() is its bytes, the lowest first
  Real,
  Text,
  Bytes,
  List,
  Tuple,
  Set,
  Dict,
  Global,  // the name of a class or function; nothing is ever looked up
  Object,  // what calling a Global would have made; nothing is ever called
};

struct PickleLimits {
  std::uint64_t max_bytes = std::uint64_t{2} << 30;
  std::size_t max_values = 50'000'000;  // at most some 50 bytes of memory each
};

class PickleDocument;

// A value of a document, which must outlive it. Asking for what a value does not have gives
// nothing: an empty text, size 0, a None. The same value may be reached on many ways, and a list
// may hold itself: a walk must bound its depth and remember by id() where it was.
class PickleValue {
 public:
  PickleValue() = default;
  PickleType type() const;
  bool is(PickleType type) const { return this->type() == type; }
  bool is_none() const { return is(PickleType::None); }
  // Where the document keeps the value; below PickleDocument::value_count().
  std::uint32_t id() const { return index_; }

  std::optional<std::int64_t> integer() const;  // of Integer and Boolean
  std::optional<double> number() const;         // of Real as well
  std::string_view text() const;                // of Text and Bytes; not checked for UTF-8

  // Items of a List, Tuple or Set, members of a Dict, and what was added to an Object of either
  // sort.
  std::size_t size() const;
  PickleValue item(std::size_t i) const;
  PickleValue key(std::size_t i) const;
  PickleValue value(std::size_t i) const;
  // The last member under that key, where keys are texts; a None where there is none.
  PickleValue find(std::string_view key) const;
  bool has(std::string_view key) const;

  // Of a Global, and of the class of an Object.
  std::string_view module() const;
  std::string_view name() const;
  // Of an Object: what its class was to be called with, and what it was to be filled with.
  PickleValue arguments() const;
  PickleValue state() const;

 private:
  friend class PickleDocument;
  PickleValue(const PickleDocument* document, std::uint32_t index)
      : document_(document), index_(index) {}
  const std::uint32_t* find_member(std::string_view key) const;

  const PickleDocument* document_ = nullptr;
  std::uint32_t index_ = 0;
};

// A Python pickle of protocol 2 to 5 as plain values. The opcodes that import and call things make
// inert Globals and Objects, so that no file can do anything.
class PickleDocument {
 public:
  static Result<PickleDocument> parse(std::string bytes, const PickleLimits& limits = {});
  // Reads the source to its end first.
  static Result<PickleDocument> read(ByteSource& source, const PickleLimits& limits = {});

  PickleValue root() const { return {this, root_}; }
  std::size_t value_count() const { return nodes_.size(); }
  std::uint64_t byte_count() const { return bytes_.size(); }
  std::uint64_t bytes_behind() const { return bytes_behind_; }  // what follows the pickle's end

 private:
  friend class PickleValue;
  friend class PickleMachine;

  struct Node {
    PickleType type = PickleType::None;
    bool mapping = false;    // what was added to an Object came as members
    std::uint32_t size = 0;  // of texts
    union {
      std::int64_t integer = 0;
      double real;
      std::uint64_t offset;  // of texts, in bytes_
      std::uint64_t items;   // of containers, in items_
    };
  };
  static constexpr std::size_t kObjectParts = 3;  // class, arguments, state

  std::string bytes_;
  std::vector<Node> nodes_;
  // Dict: keys and values by turns. Global: module and name. Object: kObjectParts, then additions.
  std::vector<std::vector<std::uint32_t>> items_;
  std::uint32_t root_ = 0;
  std::uint64_t bytes_behind_ = 0;
};

// Whether a file begins like a pickle that PickleDocument can read.
bool looks_like_pickle(std::string_view head);

}  // namespace sonde
