// How the machine makes values and puts them together.

#include <charconv>
#include <utility>

#include "import/pickle/pickle_machine.hpp"

namespace sonde {

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
