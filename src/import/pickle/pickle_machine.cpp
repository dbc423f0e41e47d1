#include "import/pickle/pickle_machine.hpp"

#include <bit>
#include <cstdio>
#include <utility>

namespace sonde {

PickleMachine::PickleMachine(std::string bytes, const PickleLimits& limits)
    : limits_(limits), small_integers_(kSmallIntegers, kUnset) {
  document_.bytes_ = std::move(bytes);
  document_.nodes_.emplace_back();  // the one None
}

Result<PickleDocument> PickleMachine::run() {
  const auto error = [&](std::string reason) {
    return Error{ErrorCode::BrokenInput, std::move(reason), {}, opcode_at_, "copy the file again"};
  };
  if (document_.bytes_.size() > limits_.max_bytes) {
    return Error{ErrorCode::Unsupported, "the pickle is larger than Sonde reads", {}, {}, {}};
  }
  for (;;) {
    opcode_at_ = at_;
    if (at_ >= document_.bytes_.size()) return error("the pickle ends before its end mark");
    const Next next = step();
    if (next == Next::Fail) return error(reason_);
    if (next == Next::Stop) break;
  }
  if (stack_.empty()) return error("the pickle holds no value");
  document_.root_ = stack_.back();
  document_.bytes_behind_ = document_.bytes_.size() - at_;
  return std::move(document_);
}

PickleMachine::Next PickleMachine::step() {
  const char opcode = document_.bytes_[at_++];
  std::uint64_t value = 0;
  std::uint32_t index = 0;
  std::vector<std::uint32_t> items;
  const auto ends = [&] { return fail("the pickle ends within a value"); };
  const auto underflow = [&] { return fail("an opcode takes a value that is not there"); };
  switch (opcode) {
    case '\x80':  // PROTO
      if (!number(1, value)) return ends();
      if (value > 5) return fail("pickle protocol " + std::to_string(value) + " is too new");
      return Next::Go;
    case '\x95':  // FRAME
      if (!number(8, value)) return ends();
      if (value > document_.bytes_.size() - at_)
        return fail("a frame reaches beyond the end: the file was cut");
      return Next::Go;
    case '.':
      return Next::Stop;
    case '(':
      marks_.push_back(stack_.size());
      return Next::Go;
    case '0':  // POP
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
        return Next::Go;
      }
      return pop(index) ? Next::Go : underflow();
    case '1':  // POP_MARK
      return pop_to_mark(items) ? Next::Go : underflow();
    case '2':  // DUP
      return stack_.empty() ? underflow() : push_index(stack_.back());
    case 'N':
      return push_index(none_);
    case '\x88':
      return push_integer(1, PickleType::Boolean);
    case '\x89':
      return push_integer(0, PickleType::Boolean);
    case 'K':  // BININT1
      return number(1, value) ? push_integer(static_cast<std::int64_t>(value)) : ends();
    case 'M':  // BININT2
      return number(2, value) ? push_integer(static_cast<std::int64_t>(value)) : ends();
    case 'J':  // BININT
      if (!number(4, value)) return ends();
      return push_integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
    case '\x8a':  // LONG1
      return push_long(1);
    case '\x8b':  // LONG4
      return push_long(4);
    case 'I':
      return push_text_integer(false);
    case 'L':
      return push_text_integer(true);
    case 'G': {  // BINFLOAT: the highest byte first
      if (!number(8, value)) return ends();
      std::uint64_t bits = 0;
      for (int i = 0; i < 8; ++i) bits = bits << 8 | (value >> (8 * i) & 0xFF);
      return push_real(std::bit_cast<double>(bits));
    }
    case '\x8c':  // SHORT_BINUNICODE
      return push_text(PickleType::Text, 1);
    case 'X':  // BINUNICODE
      return push_text(PickleType::Text, 4);
    case '\x8d':  // BINUNICODE8
      return push_text(PickleType::Text, 8);
    case 'U':  // SHORT_BINSTRING: a text of Python 2
      return push_text(PickleType::Text, 1);
    case 'T':  // BINSTRING
      return push_text(PickleType::Text, 4);
    case 'C':  // SHORT_BINBYTES
      return push_text(PickleType::Bytes, 1);
    case 'B':  // BINBYTES
      return push_text(PickleType::Bytes, 4);
    case '\x8e':  // BINBYTES8
    case '\x96':  // BYTEARRAY8
      return push_text(PickleType::Bytes, 8);
    case ']':
      return push_container(PickleType::List, {});
    case ')':
      return push_container(PickleType::Tuple, {});
    case '}':
      return push_container(PickleType::Dict, {});
    case '\x8f':  // EMPTY_SET
      return push_container(PickleType::Set, {});
    case 'l':  // LIST
      return pop_to_mark(items) ? push_container(PickleType::List, std::move(items)) : underflow();
    case 't':  // TUPLE
      return pop_to_mark(items) ? push_container(PickleType::Tuple, std::move(items)) : underflow();
    case 'd':  // DICT
      if (!pop_to_mark(items)) return underflow();
      if (items.size() % 2 != 0) return fail("a key without a value");
      return push_container(PickleType::Dict, std::move(items));
    case '\x91':  // FROZENSET
      return pop_to_mark(items) ? push_container(PickleType::Set, std::move(items)) : underflow();
    case '\x85':
      return tuple(1);
    case '\x86':
      return tuple(2);
    case '\x87':
      return tuple(3);
    case 'a':  // APPEND
      return pop(index) ? append({index}) : underflow();
    case 'e':     // APPENDS
    case '\x90':  // ADDITEMS
      return pop_to_mark(items) ? append(items) : underflow();
    case 's': {  // SETITEM
      std::uint32_t key = 0;
      return pop(index) && pop(key) ? set_items({key, index}) : underflow();
    }
    case 'u':  // SETITEMS
      return pop_to_mark(items) ? set_items(items) : underflow();
    case 'q':  // BINPUT
      return number(1, value) ? put(value) : ends();
    case 'r':  // LONG_BINPUT
      return number(4, value) ? put(value) : ends();
    case '\x94':  // MEMOIZE
      return put(memo_.size() + far_memo_.size());
    case 'h':  // BINGET
      return number(1, value) ? get(value) : ends();
    case 'j':  // LONG_BINGET
      return number(4, value) ? get(value) : ends();
    case 'c':
      return text_global();
    case '\x93':
      return stack_global();
    case 'R':     // REDUCE
    case '\x81':  // NEWOBJ
      return make_object(false);
    case '\x92':  // NEWOBJ_EX
      return make_object(true);
    case 'o':  // OBJ
      return make_object_from_mark(false);
    case 'i':  // INST
      return make_object_from_mark(true);
    case 'b':
      return build();
    case 'Q':  // BINPERSID
      return pop(index) ? opaque(index) : underflow();
    case '\x82':
      return number(1, value) ? opaque(none_) : ends();
    case '\x83':
      return number(2, value) ? opaque(none_) : ends();
    case '\x84':
      return number(4, value) ? opaque(none_) : ends();
    default: {
      char text[48];
      std::snprintf(text, sizeof text, "0x%02x is no opcode that Sonde knows",
                    static_cast<unsigned char>(opcode));
      return fail(text);
    }
  }
}

PickleMachine::Next PickleMachine::fail(std::string reason) {
  reason_ = "broken pickle: " + std::move(reason);
  return Next::Fail;
}

bool PickleMachine::number(unsigned width, std::uint64_t& out) {
  if (document_.bytes_.size() - at_ < width) return false;
  out = 0;
  for (unsigned i = 0; i < width; ++i) {
    out |= std::uint64_t{static_cast<unsigned char>(document_.bytes_[at_ + i])} << (8 * i);
  }
  at_ += width;
  return true;
}

bool PickleMachine::line(std::string_view& out) {
  const std::size_t end = document_.bytes_.find('\n', at_);
  if (end == std::string::npos) return false;
  out = std::string_view(document_.bytes_).substr(at_, end - at_);
  at_ = end + 1;
  return true;
}

}  // namespace sonde
