#include "sampler/python_objects.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/utf8.hpp"

namespace sonde {
namespace {

constexpr std::size_t kMaxEntries = 1 << 16;
constexpr std::uint64_t kManagedDictionary = 1 << 4;
constexpr std::uint64_t kInlineValues = 1 << 2;

std::uint32_t character_at(const char* bytes, std::size_t width) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < width; ++i) {
    out |= std::uint32_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  }
  return out;
}

}  // namespace

std::optional<std::string> PythonObjects::text(Address object, std::size_t most) const {
  std::uint64_t length = 0;
  std::uint32_t state = 0;
  if (object == 0 || !memory_.get(object + 16, length) || !memory_.get(object + 32, state)) {
    return {};
  }
  const std::size_t width = state >> 2 & 7;
  const bool compact = (state >> 5 & 1) != 0;
  const bool ascii = (state >> 6 & 1) != 0;
  if ((width != 1 && width != 2 && width != 4) || length > (std::uint64_t{1} << 40)) return {};
  if (ascii && width != 1) return {};
  Address data = object + (ascii ? layout_.object.ascii_size : layout_.object.compact_size);
  if (!compact && !memory_.get(object + layout_.object.compact_size, data)) return {};
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(length, most));
  std::string raw(count * width, '\0');
  if (count > 0 && !memory_.read(data, raw.data(), raw.size())) return {};
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    append_utf8(character_at(raw.data() + i * width, width), out);
  }
  if (count < length) out += "…";
  return out;
}

std::optional<std::string> PythonObjects::bytes(Address object, std::size_t most) const {
  std::uint64_t size = 0;
  if (object == 0 || !memory_.get(object + 16, size) || size > most) return {};
  std::string out(static_cast<std::size_t>(size), '\0');
  if (!out.empty() && !memory_.read(object + 32, out.data(), out.size())) return {};
  return out;
}

std::optional<std::int64_t> PythonObjects::number(Address object) const {
  std::int64_t size = 0;
  if (object == 0 || !memory_.get(object + 16, size)) return {};
  bool negative = size < 0;
  std::uint64_t digits =
      negative ? 0 - static_cast<std::uint64_t>(size) : static_cast<std::uint64_t>(size);
  if (layout_.has_long_tags()) {
    negative = (size & 3) == 2;
    digits = (size & 3) == 1 ? 0 : static_cast<std::uint64_t>(size) >> 3;
  }
  if (digits > 3) return {};
  std::array<std::uint32_t, 3> parts{};
  if (digits > 0 && !memory_.read(object + 24, parts.data(), digits * 4)) return {};
  unsigned __int128 value = 0;
  for (std::size_t i = digits; i-- > 0;) value = value << 30 | (parts[i] & 0x3FFFFFFFu);
  if (value > static_cast<unsigned __int128>(INT64_MAX)) return {};
  const auto small = static_cast<std::int64_t>(value);
  return negative ? -small : small;
}

std::optional<std::string> PythonObjects::type_name(Address object) const {
  Address type = 0;
  Address name = 0;
  if (object == 0 || !memory_.get(object + layout_.object.type, type) || type == 0) return {};
  if (!memory_.get(type + layout_.object.type_name, name) || name == 0) return {};
  std::string out;
  std::array<char, 16> part;
  // In small steps: the page behind the name may not be there.
  while (out.size() < 256) {
    std::size_t step = part.size() - (name + out.size()) % part.size();
    if (!memory_.read(name + out.size(), part.data(), step)) return {};
    const char* const end = std::find(part.data(), part.data() + step, '\0');
    out.append(part.data(), static_cast<std::size_t>(end - part.data()));
    if (end != part.data() + step) {
      const bool plain =
          std::all_of(out.begin(), out.end(), [](char c) { return c > ' ' && c < 127; });
      return plain && !out.empty() ? std::optional(out) : std::nullopt;
    }
  }
  return {};
}

struct PythonObjects::Keys {
  Address entries = 0;
  std::size_t count = 0;
  std::size_t entry_bytes = 24;
};

bool PythonObjects::read_keys(Address keys, Keys& out) const {
  if (keys == 0) return false;
  std::uint64_t count = 0;
  if (layout_.version.minor <= 10) {
    std::uint64_t size = 0;
    if (!memory_.get(keys + 8, size) || !memory_.get(keys + 32, count)) return false;
    if (size > (std::uint64_t{1} << 32)) return false;
    const std::uint64_t width = size <= 0xFF ? 1 : size <= 0xFFFF ? 2 : 4;
    out.entries = keys + 40 + size * width;
  } else {
    std::array<std::uint8_t, 3> shape;  // log2 of the size, log2 of the bytes of indices, kind
    if (!memory_.get(keys + 8, shape) || !memory_.get(keys + 24, count)) return false;
    if (shape[1] > 40) return false;
    out.entries = keys + 32 + (std::uint64_t{1} << shape[1]);
    out.entry_bytes = shape[2] == 0 ? 24 : 16;
  }
  out.count = static_cast<std::size_t>(std::min<std::uint64_t>(count, kMaxEntries));
  return true;
}

bool PythonObjects::each_entry(const Keys& keys, Address values, const VisitItem& visit) const {
  constexpr std::size_t kStep = 64;
  std::array<std::uint64_t, kStep * 3> raw;
  std::array<Address, kStep> apart{};
  const std::size_t words = keys.entry_bytes / 8;
  for (std::size_t first = 0; first < keys.count; first += kStep) {
    const std::size_t step = std::min(kStep, keys.count - first);
    if (!memory_.read(keys.entries + first * keys.entry_bytes, raw.data(),
                      step * keys.entry_bytes)) {
      return false;
    }
    if (values != 0 && !memory_.read(values + first * 8, apart.data(), step * 8)) return false;
    for (std::size_t i = 0; i < step; ++i) {
      const Address key = raw[i * words + words - 2];
      const Address value = values != 0 ? apart[i] : raw[i * words + words - 1];
      if (key != 0 && value != 0 && !visit(key, value)) return true;
    }
  }
  return true;
}

bool PythonObjects::each_item(Address dict, const VisitItem& visit) const {
  Address keys_at = 0;
  Address values = 0;
  if (dict == 0 || !memory_.get(dict + 32, keys_at) || !memory_.get(dict + 40, values)) {
    return false;
  }
  Keys keys;
  if (!read_keys(keys_at, keys)) return false;
  return each_entry(keys, values == 0 ? 0 : values + layout_.object.values, visit);
}

Address PythonObjects::item(Address dict, std::string_view key) const {
  Address out = 0;
  each_item(dict, [&](Address name, Address value) {
    std::uint64_t length = 0;
    if (!memory_.get(name + 16, length) || length != key.size() || text(name) != key) return true;
    out = value;
    return false;
  });
  return out;
}

bool PythonObjects::each_attribute(Address instance, const VisitItem& visit) const {
  Address type = 0;
  std::uint64_t flags = 0;
  if (instance == 0 || !memory_.get(instance + layout_.object.type, type) ||
      !memory_.get(type + layout_.object.type_flags, flags)) {
    return false;
  }
  const int minor = layout_.version.minor;
  if (minor <= 10 || (flags & kManagedDictionary) == 0) {
    std::int64_t offset = 0;
    Address dict = 0;
    if (!memory_.get(type + layout_.object.dictionary, offset) || offset <= 0) return false;
    if (!memory_.get(instance + static_cast<std::uint64_t>(offset), dict)) return false;
    return each_item(dict, visit);
  }
  // The attributes lie apart from their names, before or behind the object, until a dict is made.
  Address dict = 0;
  Address values = 0;
  if (!memory_.get(instance - 24, dict)) return false;
  if (minor == 11 && !memory_.get(instance - 32, values)) return false;
  if (minor == 12 && (dict & 1) != 0) {
    values = dict + 1;
    dict = 0;
  }
  if (minor >= 13 && dict == 0 && (flags & kInlineValues) != 0) {
    std::uint64_t size = 0;
    if (!memory_.get(type + layout_.object.basic_size, size) || size > 4096) return false;
    values = instance + size;
  }
  if (dict != 0) return each_item(dict, visit);
  Address keys_at = 0;
  Keys keys;
  if (values == 0 || !memory_.get(type + layout_.object.cached_keys, keys_at) ||
      !read_keys(keys_at, keys)) {
    return false;
  }
  return each_entry(keys, values + layout_.object.values, visit);
}

std::string PythonObjects::brief(Address object) const {
  if (object == 0) return "(not set)";
  const std::optional<std::string> type = type_name(object);
  if (!type) return "(cannot be read)";
  if (*type == "NoneType") return "None";
  if (*type == "bool") return number(object).value_or(0) != 0 ? "True" : "False";
  if (*type == "int") {
    const std::optional<std::int64_t> value = number(object);
    return value ? std::to_string(*value) : "<int with many digits>";
  }
  if (*type == "float") {
    double value = 0;
    if (!memory_.get(object + 16, value)) return "(cannot be read)";
    std::array<char, 32> buffer;
    std::snprintf(buffer.data(), buffer.size(), "%.12g", value);
    return buffer.data();
  }
  if (*type == "str") {
    const std::optional<std::string> value = text(object, 80);
    if (!value) return "(cannot be read)";
    std::string out = "'";
    for (const char c : *value) out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    return out + "'";
  }
  const bool sized = *type == "list" || *type == "tuple" || *type == "dict" || *type == "bytes";
  std::uint64_t size = 0;
  if (sized && memory_.get(object + 16, size)) {
    return "<" + *type + " of " + std::to_string(size) + ">";
  }
  return "<" + *type + ">";
}

}  // namespace sonde
