#include "import/pickle/pickle_machine.hpp"

#include <bit>
#include <charconv>
#include <cstdio>
#include <utility>

namespace sonde {
namespace {

constexpr std::uint32_t kUnset = UINT32_MAX;
constexpr std::size_t kSmallIntegers = 256;

}  // namespace

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

PickleMachine::Next PickleMachine::push_text(PickleType type, unsigned width) {
  std::uint64_t size = 0;
  if (!number(width, size) || size > document_.bytes_.size() - at_ || size > UINT32_MAX) {
    return fail("a text reaches beyond the end: the file was cut");
  }
  Node node;
  node.type = type;
  node.size = static_cast<std::uint32_t>(size);
  node.offset = at_;
  at_ += size;
  return push(node);
}

PickleMachine::Next PickleMachine::push_long(unsigned width) {
  std::uint64_t size = 0;
  if (!number(width, size) || size > document_.bytes_.size() - at_ || size > UINT32_MAX) {
    return fail("a number reaches beyond the end: the file was cut");
  }
  if (size <= 8) {
    std::uint64_t bits = 0;
    number(static_cast<unsigned>(size), bits);
    if (size > 0 && size < 8 && (bits >> (8 * size - 1) & 1) != 0)
      bits |= ~std::uint64_t{0} << (8 * size);
    return push_integer(static_cast<std::int64_t>(bits));
  }
  Node node;
  node.type = PickleType::BigInteger;
  node.size = static_cast<std::uint32_t>(size);
  node.offset = at_;
  at_ += size;
  return push(node);
}

PickleMachine::Next PickleMachine::push_text_integer(bool is_long) {
  std::string_view text;
  if (!line(text)) return fail("the pickle ends within a number");
  if (!is_long && (text == "00" || text == "01")) {
    return push_integer(text == "01" ? 1 : 0, PickleType::Boolean);
  }
  if (is_long && text.ends_with('L')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return fail("no whole number");
  return push_integer(value);
}

bool PickleMachine::add(const Node& node, std::uint32_t& index) {
  if (document_.nodes_.size() >= limits_.max_values) {
    fail("more than " + std::to_string(limits_.max_values) + " values");
    return false;
  }
  index = static_cast<std::uint32_t>(document_.nodes_.size());
  document_.nodes_.push_back(node);
  return true;
}

PickleMachine::Next PickleMachine::push_index(std::uint32_t index) {
  // A value that is pushed again takes no memory of its own, but the stack must not grow for ever.
  if (stack_.size() >= limits_.max_values) return fail("too many values on the stack");
  stack_.push_back(index);
  return Next::Go;
}

PickleMachine::Next PickleMachine::push(const Node& node) {
  std::uint32_t index = 0;
  return add(node, index) ? push_index(index) : Next::Fail;
}

PickleMachine::Next PickleMachine::push_integer(std::int64_t value, PickleType type) {
  Node node;
  node.type = type;
  node.integer = value;
  const bool small = type == PickleType::Integer && value >= 0 &&
                     value < static_cast<std::int64_t>(kSmallIntegers);
  if (!small) return push(node);
  std::uint32_t& known = small_integers_[static_cast<std::size_t>(value)];
  if (known == kUnset && !add(node, known)) return Next::Fail;
  return push_index(known);
}

PickleMachine::Next PickleMachine::push_real(double value) {
  Node node;
  node.type = PickleType::Real;
  node.real = value;
  return push(node);
}

PickleMachine::Next PickleMachine::push_container(PickleType type,
                                                  std::vector<std::uint32_t> items) {
  Node node;
  node.type = type;
  node.items = document_.items_.size();
  const Next next = push(node);
  if (next == Next::Go) document_.items_.push_back(std::move(items));
  return next;
}

bool PickleMachine::pop(std::uint32_t& index) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) return false;
  index = stack_.back();
  stack_.pop_back();
  return true;
}

bool PickleMachine::pop_to_mark(std::vector<std::uint32_t>& items) {
  if (marks_.empty()) return false;
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  items.assign(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return true;
}

PickleMachine::Next PickleMachine::append(const std::vector<std::uint32_t>& items) {
  if (stack_.empty()) return fail("items without a list");
  Node& node = document_.nodes_[stack_.back()];
  const bool fits = node.type == PickleType::List || node.type == PickleType::Set ||
                    (node.type == PickleType::Object && !node.mapping);
  if (!fits) return fail("items are added to what is no list");
  auto& list = document_.items_[node.items];
  list.insert(list.end(), items.begin(), items.end());
  return Next::Go;
}

PickleMachine::Next PickleMachine::set_items(const std::vector<std::uint32_t>& items) {
  if (items.size() % 2 != 0) return fail("a key without a value");
  if (stack_.empty()) return fail("members without a dict");
  Node& node = document_.nodes_[stack_.back()];
  auto is_fresh = [&] {
    return document_.items_[node.items].size() == PickleDocument::kObjectParts;
  };
  const bool fits = node.type == PickleType::Dict ||
                    (node.type == PickleType::Object && (node.mapping || is_fresh()));
  if (!fits) return fail("members are added to what is no dict");
  if (node.type == PickleType::Object) node.mapping = true;
  auto& list = document_.items_[node.items];
  list.insert(list.end(), items.begin(), items.end());
  return Next::Go;
}

PickleMachine::Next PickleMachine::tuple(std::size_t count) {
  std::vector<std::uint32_t> items(count);
  for (std::size_t i = count; i-- > 0;) {
    if (!pop(items[i])) return fail("an opcode takes a value that is not there");
  }
  return push_container(PickleType::Tuple, std::move(items));
}

PickleMachine::Next PickleMachine::put(std::uint64_t key) {
  if (stack_.empty()) return fail("nothing to remember");
  if (key < memo_.size()) {
    memo_[key] = stack_.back();
  } else if (key == memo_.size()) {
    memo_.push_back(stack_.back());
  } else {
    far_memo_.set(key, stack_.back());
  }
  return Next::Go;
}

PickleMachine::Next PickleMachine::get(std::uint64_t key) {
  if (key < memo_.size()) return push_index(memo_[key]);
  const std::uint32_t* known = far_memo_.find(key);
  if (known == nullptr) return fail("a value is used that was never remembered");
  return push_index(*known);
}

PickleMachine::Next PickleMachine::push_global(std::uint32_t module, std::uint32_t name) {
  return push_container(PickleType::Global, {module, name});
}

PickleMachine::Next PickleMachine::text_global() {
  std::uint32_t parts[2] = {none_, none_};
  for (std::uint32_t& part : parts) {
    Node node;
    node.type = PickleType::Text;
    node.offset = at_;
    std::string_view text;
    if (!line(text) || text.size() > UINT32_MAX) return fail("the pickle ends within a name");
    node.size = static_cast<std::uint32_t>(text.size());
    if (!add(node, part)) return Next::Fail;
  }
  return push_global(parts[0], parts[1]);
}

PickleMachine::Next PickleMachine::stack_global() {
  std::uint32_t name = 0;
  std::uint32_t module = 0;
  if (!pop(name) || !pop(module)) return fail("an opcode takes a value that is not there");
  return push_global(module, name);
}

PickleMachine::Next PickleMachine::make_object(bool keyword_arguments) {
  std::uint32_t arguments = 0;
  std::uint32_t type = 0;
  std::uint32_t keywords = 0;
  if (keyword_arguments && !pop(keywords)) return fail("an object without its arguments");
  if (!pop(arguments) || !pop(type)) return fail("an object without its class");
  return push_container(PickleType::Object,
                        {type, arguments, keyword_arguments ? keywords : none_});
}

PickleMachine::Next PickleMachine::make_object_from_mark(bool class_in_text) {
  if (class_in_text) {
    const Next next = text_global();
    if (next != Next::Go) return next;
  }
  std::uint32_t type = none_;
  if (class_in_text && !pop(type)) return fail("an object without its class");
  std::vector<std::uint32_t> items;
  if (!pop_to_mark(items)) return fail("an object without its class");
  if (!class_in_text) {
    if (items.empty()) return fail("an object without its class");
    type = items.front();
    items.erase(items.begin());
  }
  const Next next = push_container(PickleType::Tuple, std::move(items));
  if (next != Next::Go) return next;
  const std::uint32_t arguments = stack_.back();
  stack_.pop_back();
  return push_container(PickleType::Object, {type, arguments, none_});
}

PickleMachine::Next PickleMachine::build() {
  std::uint32_t state = 0;
  if (!pop(state) || stack_.empty()) return fail("an opcode takes a value that is not there");
  const Node& node = document_.nodes_[stack_.back()];
  if (node.type != PickleType::Object) return fail("a state is given to what is no object");
  document_.items_[node.items][2] = state;
  return Next::Go;
}

PickleMachine::Next PickleMachine::opaque(std::uint32_t id) {
  return push_container(PickleType::Object, {none_, id, none_});
}

}  // namespace sonde
