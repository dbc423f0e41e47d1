#include "capture/nvtx/payload_types.hpp"

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sonde::capture::nvtx {
namespace {

using namespace entry_type;

constexpr int kDeepest = 6;
constexpr std::size_t kLargest = std::size_t{1} << 30;

template <typename T>
constexpr TypeLayout layout() {
  return {sizeof(T), alignof(T)};
}

TypeLayout basic_layout(std::uint64_t type) {
  switch (type) {
    case kChar:
    case kUnsignedChar:
    case kInt8:
    case kUint8:
    case kChar8:
    case kByte:
      return {1, 1};
    case kShort:
    case kUnsignedShort:
    case kInt16:
    case kUint16:
    case kChar16:
    case kFloat16:
    case kBfloat16:
      return {2, 2};
    case kInt:
    case kUnsignedInt:
    case kInt32:
    case kUint32:
    case kChar32:
    case kFloat:
    case kFloat32:
    case kTf32:
    case kCategory:
    case kColor:
    case kProcess32:
    case kThread32:
      return {4, 4};
    case kWideChar:
      return layout<wchar_t>();
    case kLong:
    case kUnsignedLong:
      return layout<long>();
    case kLongLong:
    case kUnsignedLongLong:
    case kInt64:
    case kUint64:
    case kDouble:
    case kFloat64:
    case kScope:
    case kProcess64:
    case kThread64:
      return {8, 8};
    case kSize:
      return layout<std::size_t>();
    case kAddress:
    case kRegisteredText:
      return layout<void*>();
    case kLongDouble:
      return layout<long double>();
    case kInt128:
    case kUint128:
    case kFloat128:
      return {16, 16};
    default:
      return {};
  }
}

TypeLayout layout_of_type(const Domain& domain, std::uint64_t type, int depth);

TypeLayout layout_of_entry(const Domain& domain, const SchemaEntry& entry, int depth) {
  using namespace entry_flag;
  if (entry.flags & (kFromBase | kFromHere)) return {};
  if (entry.flags & kPointer) return layout<void*>();
  const std::uint64_t array = entry.flags & kArray;
  const bool is_text = is_text_type(entry.type);
  if (is_text && array == 0 && entry.detail == 0) return layout<void*>();
  const std::size_t character = is_text ? character_size(entry.type) : 0;
  const TypeLayout one =
      is_text ? TypeLayout{character, character} : layout_of_type(domain, entry.type, depth);
  if (one.size == 0) return {};
  if (array == 0 && !is_text) return one;
  const bool fixed = array == kFixed || (array == 0 && is_text);
  if (!fixed) return {0, one.align};
  if (entry.detail > kLargest / one.size) return {};
  return {one.size * entry.detail, one.align};
}

TypeLayout layout_of_schema(const Schema& schema, int depth) {
  TypeLayout out;
  if (schema.type == SchemaType::Dynamic || schema.type == SchemaType::SelectingUnion) return {};
  std::size_t end = 0;
  for (std::size_t i = 0; i < schema.count; ++i) {
    const TypeLayout entry = layout_of_entry(*schema.domain, schema.entries[i], depth);
    if (entry.size == 0) return schema.size <= kLargest ? TypeLayout{schema.size, 8} : TypeLayout{};
    std::size_t align = entry.align;
    if (schema.pack != 0 && schema.pack < align) align = schema.pack;
    if (align > out.align) out.align = align;
    std::size_t at = (end + align - 1) / align * align;
    if (schema.entries[i].offset != 0) at = schema.entries[i].offset;
    if (at > kLargest) return {};
    if (schema.type == SchemaType::Union) at = 0;
    if (at + entry.size > end) end = at + entry.size;
    if (end > kLargest) return {};
  }
  out.size = schema.size != 0 ? schema.size : (end + out.align - 1) / out.align * out.align;
  if (out.size > kLargest) return {};
  return out;
}

TypeLayout layout_of_type(const Domain& domain, std::uint64_t type, int depth) {
  if (type < kFirstStatic) return basic_layout(type);
  const Schema* const schema = depth < kDeepest ? find_schema(domain, type) : nullptr;
  if (!schema) return {};
  if (schema->is_enum) return {schema->size, schema->size};
  return layout_of_schema(*schema, depth + 1);
}

template <typename T>
T load(const unsigned char* bytes) {
  T out;
  memcpy(&out, bytes, sizeof out);
  return out;
}

Value whole(std::size_t size, bool is_signed, const unsigned char* bytes) {
  Value out;
  out.kind = is_signed ? Value::Kind::Signed : Value::Kind::Unsigned;
  switch (size) {
    case 1:
      out.bits = is_signed ? static_cast<std::uint64_t>(load<std::int8_t>(bytes)) : bytes[0];
      break;
    case 2:
      out.bits = is_signed ? static_cast<std::uint64_t>(load<std::int16_t>(bytes))
                           : load<std::uint16_t>(bytes);
      break;
    case 4:
      out.bits = is_signed ? static_cast<std::uint64_t>(load<std::int32_t>(bytes))
                           : load<std::uint32_t>(bytes);
      break;
    default:
      out.bits = load<std::uint64_t>(bytes);
  }
  return out;
}

Value real(double value) {
  Value out;
  out.kind = Value::Kind::Real;
  out.real = value;
  return out;
}

double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  double out = bits & 1023;
  if (exponent == 31) {
    out = out != 0 ? __builtin_nan("") : __builtin_inf();
  } else {
    out = exponent == 0 ? out / 1024 : 1 + out / 1024;
    for (int i = exponent == 0 ? 1 : exponent; i < 15; ++i) out /= 2;
    for (int i = 15; i < exponent; ++i) out *= 2;
  }
  return bits & 0x8000 ? -out : out;
}

Value hexadecimal(const unsigned char* bytes, std::size_t size) {
  Value out;
  out.kind = Value::Kind::Text;
  std::size_t at = 0;
  for (std::size_t i = 0; i < size && at + 3 < sizeof out.text; ++i) {
    at += static_cast<std::size_t>(snprintf(out.text + at, sizeof out.text - at, "%02x", bytes[i]));
  }
  return out;
}

void append(Value& value, const char* text) {
  const std::size_t used = strlen(value.text);
  snprintf(value.text + used, sizeof value.text - used, "%s%s", used == 0 ? "" : "|", text);
}

Value enumerated(const Schema& schema, const unsigned char* bytes) {
  Value out = whole(schema.size, false, bytes);
  const std::uint64_t mask =
      schema.size < 8 ? (std::uint64_t{1} << (8 * schema.size)) - 1 : ~std::uint64_t{0};
  std::uint64_t left = out.bits;
  for (std::size_t i = 0; i < schema.count; ++i) {
    const Enumerator& one = schema.enumerators[i];
    if (!one.name || (one.value & mask) != out.bits) continue;
    append(out, one.name);
    out.kind = Value::Kind::Text;
    return out;
  }
  for (std::size_t i = 0; i < schema.count; ++i) {
    const Enumerator& one = schema.enumerators[i];
    const std::uint64_t value = one.value & mask;
    if (!one.name || !one.is_flag || value == 0 || (left & value) != value) continue;
    append(out, one.name);
    left &= ~value;
  }
  // A number without a name of its own, or with bits that have none, stays a number.
  if (left == 0 && out.text[0] != 0) {
    out.kind = Value::Kind::Text;
  } else {
    out.kind = Value::Kind::Signed;
    out.bits = whole(schema.size, true, bytes).bits;
  }
  return out;
}

std::size_t put_utf8(std::uint32_t c, char* out) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = 0xFFFD;
  if (c < 0x80) {
    out[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<char>(0xC0 | c >> 6);
    out[1] = static_cast<char>(0x80 | (c & 0x3F));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = static_cast<char>(0xE0 | c >> 12);
    out[1] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out[2] = static_cast<char>(0x80 | (c & 0x3F));
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | c >> 18);
  out[1] = static_cast<char>(0x80 | (c >> 12 & 0x3F));
  out[2] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
  out[3] = static_cast<char>(0x80 | (c & 0x3F));
  return 4;
}

}  // namespace

bool is_text_type(std::uint64_t type) { return type >= kText && type <= kTextUtf32; }

std::size_t character_size(std::uint64_t type) {
  switch (type) {
    case kText:
    case kTextUtf8:
    case kChar:
    case kChar8:
      return 1;
    case kTextUtf16:
    case kChar16:
      return 2;
    case kTextUtf32:
    case kChar32:
      return 4;
    case kWideChar:
      return sizeof(wchar_t);
    default:
      return 0;
  }
}

TypeLayout layout_of_type(const Domain& domain, std::uint64_t type) {
  return layout_of_type(domain, type, 0);
}

TypeLayout layout_of_entry(const Domain& domain, const SchemaEntry& entry) {
  return layout_of_entry(domain, entry, 0);
}

Value read_value(const Domain& domain, std::uint64_t type, const unsigned char* bytes) {
  if (type >= kFirstStatic) {
    const Schema* const schema = find_schema(domain, type);
    return schema && schema->is_enum ? enumerated(*schema, bytes) : Value{};
  }
  const std::size_t size = basic_layout(type).size;
  switch (type) {
    case kChar:
    case kShort:
    case kInt:
    case kLong:
    case kLongLong:
    case kInt8:
    case kInt16:
    case kInt32:
    case kInt64:
      return whole(size, true, bytes);
    case kUnsignedChar:
    case kUnsignedShort:
    case kUnsignedInt:
    case kUnsignedLong:
    case kUnsignedLongLong:
    case kUint8:
    case kUint16:
    case kUint32:
    case kUint64:
    case kSize:
    case kWideChar:
    case kChar8:
    case kChar16:
    case kChar32:
    case kScope:
    case kProcess32:
    case kProcess64:
    case kThread32:
    case kThread64:
      return whole(size, false, bytes);
    case kFloat:
    case kFloat32:
    case kTf32:
      return real(static_cast<double>(load<float>(bytes)));
    case kDouble:
    case kFloat64:
      return real(load<double>(bytes));
    case kLongDouble:
      return real(static_cast<double>(load<long double>(bytes)));
    case kFloat16:
      return real(half(load<std::uint16_t>(bytes)));
    case kBfloat16: {
      const std::uint32_t bits = std::uint32_t{load<std::uint16_t>(bytes)} << 16;
      float out;
      memcpy(&out, &bits, sizeof out);
      return real(static_cast<double>(out));
    }
    case kAddress: {
      Value out;
      out.kind = Value::Kind::Text;
      snprintf(out.text, sizeof out.text, "0x%llx", load<unsigned long long>(bytes));
      return out;
    }
    case kColor: {
      Value out;
      out.kind = Value::Kind::Text;
      snprintf(out.text, sizeof out.text, "#%08X", load<std::uint32_t>(bytes));
      return out;
    }
    case kCategory: {
      Value out = whole(4, false, bytes);
      if (const char* const name = category_name(domain, static_cast<std::uint32_t>(out.bits))) {
        append(out, name);
        out.kind = Value::Kind::Text;
      }
      return out;
    }
    case kByte:
    case kInt128:
    case kUint128:
    case kFloat128:
      return hexadecimal(bytes, size);
    default:
      return {};
  }
}

std::size_t read_memory(const void* address, void* out, std::size_t size) {
  if (!address) return 0;
  iovec here = {out, size};
  iovec there = {const_cast<void*>(address), size};
  const ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

void copy_text(const unsigned char* bytes, std::size_t count, std::size_t character, char* out,
               std::size_t size) {
  std::size_t at = 0;
  for (std::size_t i = 0; i + character <= count && at + 5 < size; i += character) {
    if (character == 1) {
      if (bytes[i] == 0) break;
      out[at++] = static_cast<char>(bytes[i]);
      continue;
    }
    std::uint32_t c =
        character == 2 ? load<std::uint16_t>(bytes + i) : load<std::uint32_t>(bytes + i);
    if (c == 0) break;
    if (character == 2 && c >= 0xD800 && c < 0xDC00 && i + 4 <= count) {
      const std::uint32_t low = load<std::uint16_t>(bytes + i + 2);
      if (low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        i += 2;
      }
    }
    at += put_utf8(c, out + at);
  }
  out[at] = 0;
}

bool read_text(const void* address, std::size_t character, char* out, std::size_t size) {
  constexpr std::size_t kPage = 4096;
  unsigned char bytes[2 * kPage];
  const std::size_t most = size * character < sizeof bytes ? size * character : sizeof bytes;
  // To the end of the page first: what lies behind it need not be there.
  const std::size_t first = kPage - reinterpret_cast<std::uintptr_t>(address) % kPage;
  std::size_t got = read_memory(address, bytes, first < most ? first : most);
  if (got == 0) return false;
  if (got == first && got < most && !memchr(bytes, 0, got)) {
    got += read_memory(static_cast<const char*>(address) + got, bytes + got, most - got);
  }
  copy_text(bytes, got, character, out, size);
  return true;
}

}  // namespace sonde::capture::nvtx
