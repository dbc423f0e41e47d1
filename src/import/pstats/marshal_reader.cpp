#include "import/pstats/marshal_reader.hpp"

#include <bit>
#include <charconv>
#include <cmath>

namespace sonde {
namespace {

constexpr std::uint8_t kReferenceFlag = 0x80;

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    out = out << 8 | static_cast<unsigned char>(bytes[i]);
  return out;
}

}  // namespace

std::uint32_t MarshalReader::fail(std::string reason) {
  if (failure_.empty()) failure_ = std::move(reason);
  return kFailed;
}

bool MarshalReader::take(std::size_t count, std::string_view& out) {
  if (bytes_.size() - at_ < count) {
    fail("the file ends in the middle of an object: it was cut");
    return false;
  }
  out = bytes_.substr(at_, count);
  at_ += count;
  return true;
}

bool MarshalReader::take_byte(std::uint8_t& out) {
  std::string_view bytes;
  if (!take(1, bytes)) return false;
  out = static_cast<std::uint8_t>(bytes[0]);
  return true;
}

bool MarshalReader::take_int32(std::int64_t& out) {
  std::string_view bytes;
  if (!take(4, bytes)) return false;
  out = static_cast<std::int32_t>(static_cast<std::uint32_t>(little_endian(bytes)));
  return true;
}

std::uint32_t MarshalReader::add(const Value& value) {
  if (values_.size() >= kMaxValues) return fail("it holds more than 20 million objects");
  values_.push_back(value);
  return static_cast<std::uint32_t>(values_.size() - 1);
}

std::uint32_t MarshalReader::add_list(Type type, const std::vector<std::uint32_t>& children) {
  Value value;
  value.type = type;
  value.first = static_cast<std::uint32_t>(children_.size());
  value.size = static_cast<std::uint32_t>(children.size());
  children_.insert(children_.end(), children.begin(), children.end());
  return add(value);
}

std::uint32_t MarshalReader::add_integer(std::int64_t number) {
  Value value;
  value.type = Type::Integer;
  value.integer = number;
  return add(value);
}

std::uint32_t MarshalReader::add_real(double number) {
  Value value;
  value.type = Type::Real;
  value.real = number;
  return add(value);
}

std::uint32_t MarshalReader::read_text(std::int64_t length) {
  std::string_view text;
  if (length < 0) return fail("a text has a negative length");
  Value value;
  value.type = Type::Text;
  value.first = static_cast<std::uint32_t>(at_);
  if (!take(static_cast<std::size_t>(length), text)) return kFailed;
  value.size = static_cast<std::uint32_t>(length);
  return add(value);
}

// Digits of 15 bits, the least significant first. Beyond 64 bits only the size is kept.
std::uint32_t MarshalReader::read_long() {
  std::int64_t count = 0;
  std::string_view digits;
  if (!take_int32(count)) return kFailed;
  const auto length = static_cast<std::size_t>(count < 0 ? -count : count);
  if (!take(2 * length, digits)) return kFailed;
  double number = 0;
  for (std::size_t i = length; i-- > 0;) {
    number = number * 32768 + static_cast<double>(little_endian(digits.substr(2 * i, 2)));
  }
  if (count < 0) number = -number;
  if (std::fabs(number) > 9e18) return add_real(number);
  std::int64_t exact = 0;
  for (std::size_t i = length; i-- > 0;) {
    exact = exact * 32768 + static_cast<std::int64_t>(little_endian(digits.substr(2 * i, 2)));
  }
  return add_integer(count < 0 ? -exact : exact);
}

std::uint32_t MarshalReader::read_text_float() {
  std::uint8_t length = 0;
  std::string_view text;
  if (!take_byte(length) || !take(length, text)) return kFailed;
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return fail("a number cannot be read");
  return add_real(number);
}

std::uint32_t MarshalReader::read_sequence(std::int64_t count, int depth) {
  // Every object takes a byte or more.
  if (count < 0 || static_cast<std::uint64_t>(count) > bytes_.size() - at_) {
    return fail("a list is longer than the file: it was cut");
  }
  std::vector<std::uint32_t> children;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t child = read_object(depth + 1);
    if (child == kFailed) return kFailed;
    if (child == kNull) return fail("a list ends before its last object");
    children.push_back(child);
  }
  return add_list(Type::List, children);
}

std::uint32_t MarshalReader::read_dict(int depth) {
  std::vector<std::uint32_t> children;
  while (true) {
    const std::uint32_t key = read_object(depth + 1);
    if (key == kFailed) return kFailed;
    if (key == kNull) return add_list(Type::Dict, children);
    const std::uint32_t item = read_object(depth + 1);
    if (item == kFailed) return kFailed;
    if (item == kNull) return fail("a dictionary ends behind a key");
    children.push_back(key);
    children.push_back(item);
  }
}

std::uint32_t MarshalReader::read_code(int depth) {
  const bool newer = layout_ == CodeLayout::From311;
  std::int64_t number = 0;
  for (int i = 0; i < (newer ? 5 : 6); ++i) {
    if (!take_int32(number)) return kFailed;
  }
  // code, consts, names and two lists of variables; 3.8 to 3.10 have three.
  constexpr int kBeforeFile = 5;
  std::vector<std::uint32_t> kept;
  const int before_file = newer ? kBeforeFile : kBeforeFile + 1;
  const int objects = before_file + (newer ? 3 : 2);
  for (int i = 0; i < objects; ++i) {
    const std::uint32_t object = read_object(depth + 1);
    if (object == kFailed) return kFailed;
    if (object == kNull) return fail("a code object ends early");
    if (i == before_file || i == before_file + 1) kept.push_back(object);
  }
  if (!take_int32(number)) return kFailed;
  kept.insert(kept.begin() + 1, add_integer(number));
  if (kept[1] == kFailed) return kFailed;
  for (int i = 0; i < (newer ? 2 : 1); ++i) {
    if (read_object(depth + 1) == kFailed) return kFailed;
  }
  return add_list(Type::Code, kept);
}

std::uint32_t MarshalReader::read_payload(char type, int depth) {
  std::int64_t count = 0;
  std::uint8_t small = 0;
  std::string_view bytes;
  switch (type) {
    case 'N':
    case '.':
    case 'S':
      return add({});
    case 'T':
    case 'F':
      return add_integer(type == 'T' ? 1 : 0);
    case 'i':
      return take_int32(count) ? add_integer(count) : kFailed;
    case 'I':
      return take(8, bytes) ? add_integer(std::bit_cast<std::int64_t>(little_endian(bytes)))
                            : kFailed;
    case 'l':
      return read_long();
    case 'g':
      return take(8, bytes) ? add_real(std::bit_cast<double>(little_endian(bytes))) : kFailed;
    case 'f':
      return read_text_float();
    case 'y':
      return take(16, bytes) ? add({}) : kFailed;
    case 'x':
      return read_text_float() == kFailed ? kFailed : read_text_float();
    case 's':
    case 'u':
    case 't':
    case 'a':
    case 'A':
      return take_int32(count) ? read_text(count) : kFailed;
    case 'z':
    case 'Z':
      return take_byte(small) ? read_text(small) : kFailed;
    case ')':
      return take_byte(small) ? read_sequence(small, depth) : kFailed;
    case '(':
    case '[':
    case '<':
    case '>':
      return take_int32(count) ? read_sequence(count, depth) : kFailed;
    case '{':
      return read_dict(depth);
    case ':':
      return read_sequence(3, depth);
    case 'c':
      return read_code(depth);
    default:
      return fail("an object of a type that marshal does not have");
  }
}

std::uint32_t MarshalReader::read_object(int depth) {
  if (depth > kMaxDepth) return fail("objects are nested more than 2000 deep");
  std::uint8_t byte = 0;
  if (!take_byte(byte)) return kFailed;
  const char type = static_cast<char>(byte & ~kReferenceFlag);
  if (type == '0') return kNull;
  if (type == 'r') {
    std::int64_t index = 0;
    if (!take_int32(index)) return kFailed;
    if (index < 0 || static_cast<std::uint64_t>(index) >= references_.size() ||
        references_[static_cast<std::size_t>(index)] == kNull) {
      return fail("a reference to an object that is not there");
    }
    return references_[static_cast<std::size_t>(index)];
  }
  const bool flagged = (byte & kReferenceFlag) != 0;
  const std::size_t slot = references_.size();
  if (flagged) references_.push_back(kNull);
  const std::uint32_t object = read_payload(type, depth);
  if (flagged) references_[slot] = object == kFailed ? kNull : object;
  return object;
}

bool MarshalReader::read_dictionary() {
  std::uint8_t byte = 0;
  if (!take_byte(byte)) return false;
  if ((byte & ~kReferenceFlag) != '{') {
    fail("it is no dictionary");
    return false;
  }
  if (byte & kReferenceFlag) references_.push_back(kNull);
  while (true) {
    const std::uint32_t key = read_object(1);
    if (key == kFailed) return false;
    if (key == kNull) return true;
    const std::uint32_t item = read_object(1);
    if (item == kNull) fail("the dictionary ends behind a key");
    if (item == kFailed || item == kNull) return false;
    items_.push_back(key);
    items_.push_back(item);
  }
}

}  // namespace sonde
