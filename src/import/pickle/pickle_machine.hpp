#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"
#include "import/pickle/pickle_reader.hpp"

namespace sonde {

// The stack machine behind PickleDocument: runs the opcodes of one pickle.
class PickleMachine {
 public:
  PickleMachine(std::string bytes, const PickleLimits& limits);
  Result<PickleDocument> run();

 private:
  using Node = PickleDocument::Node;
  enum class Next : std::uint8_t { Go, Stop, Fail };
  static constexpr std::uint32_t kUnset = UINT32_MAX;
  static constexpr std::size_t kSmallIntegers = 256;

  Next step();
  Next fail(std::string reason);

  // Numbers of the input, the lowest byte first. They fail where the input ends.
  bool number(unsigned width, std::uint64_t& out);
  bool line(std::string_view& out);
  Next push_text(PickleType type, unsigned width);
  Next push_long(unsigned width);
  Next push_text_integer(bool is_long);

  bool add(const Node& node, std::uint32_t& index);
  Next push(const Node& node);
  Next push_integer(std::int64_t value, PickleType type = PickleType::Integer);
  Next push_real(double value);
  Next push_container(PickleType type, std::vector<std::uint32_t> items);
  Next push_index(std::uint32_t index);
  bool pop(std::uint32_t& index);
  // Everything above the last mark, in order; the mark goes.
  bool pop_to_mark(std::vector<std::uint32_t>& items);

  Next append(const std::vector<std::uint32_t>& items);
  Next set_items(const std::vector<std::uint32_t>& items);
  Next tuple(std::size_t count);
  Next put(std::uint64_t key);
  Next get(std::uint64_t key);
  Next push_global(std::uint32_t module, std::uint32_t name);
  Next text_global();
  Next stack_global();
  Next make_object(bool keyword_arguments);
  Next make_object_from_mark(bool class_in_text);
  Next build();
  // What only the program that wrote the pickle can make.
  Next opaque(std::uint32_t id);

  PickleDocument document_;
  PickleLimits limits_;
  std::size_t at_ = 0;  // the next byte
  std::size_t opcode_at_ = 0;
  std::vector<std::uint32_t> stack_;
  std::vector<std::size_t> marks_;
  std::vector<std::uint32_t> memo_;  // keys that count up from 0
  FlatMap<std::uint32_t> far_memo_;  // all others
  std::uint32_t none_ = 0;
  std::vector<std::uint32_t> small_integers_;
  std::string reason_;
};

}  // namespace sonde
