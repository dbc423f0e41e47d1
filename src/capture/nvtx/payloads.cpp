#include "capture/nvtx/payloads.hpp"

#include <stdio.h>
#include <string.h>

#include "capture/nvtx/payload_types.hpp"
#include "capture/nvtx/payload_values.hpp"

namespace sonde::capture::nvtx {
namespace {

using namespace entry_flag;
using namespace entry_type;

constexpr int kDeepest = 6;
constexpr std::size_t kMostPayloads = 16;
constexpr std::size_t kMostElements = 64;    // of an array that are printed
constexpr std::size_t kMostStructures = 16;  // of an array of nested data
constexpr std::size_t kLongest = 1024;       // text
// Two places of an event's arguments are for its category and its colour.
constexpr std::size_t kMostArguments = SONDE_MAX_ARGUMENTS - 2;

class Decoder {
 public:
  Decoder(const Domain& domain, PayloadValues& values, bool wants_name)
      : domain_(domain), values_(values), wants_name_(wants_name) {}

  void payload(const PayloadData& data);
  std::uint32_t name = 0;
  bool name_is_schema = false;

 private:
  struct Span {
    const unsigned char* bytes;
    std::size_t size;
  };

  // A name below the one at work, for as long as it lives.
  class Path {
   public:
    Path(Decoder& decoder, const char* part, std::size_t number, bool is_number)
        : decoder_(decoder), before_(strlen(decoder.path_)) {
      char* const at = decoder.path_ + before_;
      const std::size_t room = sizeof decoder.path_ - before_;
      if (is_number) {
        snprintf(at, room, "[%zu]", number);
      } else if (part && part[0]) {
        snprintf(at, room, "%s%s", before_ == 0 ? "" : ".", part);
      } else {
        snprintf(at, room, "%sentry %zu", before_ == 0 ? "" : ".", number);
      }
    }
    ~Path() { decoder_.path_[before_] = 0; }
    Path(const Path&) = delete;
    Path& operator=(const Path&) = delete;

   private:
    Decoder& decoder_;
    std::size_t before_;
  };

  void structure(const Schema& schema, Span data, int depth);
  bool entry(const Schema& schema, std::size_t index, Span data, std::size_t& at,
             std::int64_t* numbers, int depth);
  void single(const SchemaEntry& entry, Span data, int depth, std::int64_t* number,
              const std::int64_t* numbers, std::size_t count);
  void array(const SchemaEntry& entry, Span data, std::size_t size, int depth,
             std::int64_t* number);
  void text(const SchemaEntry& entry, const char* value);
  void add(const Value& value);
  void lose() { values_.lose(); }

  const Domain& domain_;
  PayloadValues& values_;
  bool wants_name_;
  char path_[256] = "";
};

void Decoder::add(const Value& value) {
  const char* const key = path_[0] ? path_ : "payload";
  switch (value.kind) {
    case Value::Kind::None:
      return lose();
    case Value::Kind::Signed:
      return values_.add_integer(key, static_cast<std::int64_t>(value.bits));
    case Value::Kind::Unsigned:
      if (value.bits > INT64_MAX) {
        char number[24];
        snprintf(number, sizeof number, "%llu", static_cast<unsigned long long>(value.bits));
        return values_.add_text(key, number);
      }
      return values_.add_integer(key, static_cast<std::int64_t>(value.bits));
    case Value::Kind::Real:
      return values_.add_real(key, value.real);
    case Value::Kind::Text:
      return values_.add_text(key, value.text);
  }
}

void Decoder::text(const SchemaEntry& entry, const char* value) {
  if (wants_name_ && (entry.flags & kMeaning) == kMessage && (name == 0 || name_is_schema)) {
    name = sonde_intern(value);
    name_is_schema = false;
    return;
  }
  if (!(entry.flags & kHide)) values_.add_text(path_[0] ? path_ : "payload", value);
}

void Decoder::array(const SchemaEntry& entry, Span data, std::size_t size, int depth,
                    std::int64_t* number) {
  const std::size_t count = size == 0 ? 0 : data.size / size;
  const std::size_t character = character_size(entry.type);
  if (character != 0) {
    char value[kLongest];
    copy_text(data.bytes, data.size, character, value, sizeof value);
    return text(entry, value);
  }
  const Schema* const nested =
      entry.type >= kFirstStatic ? find_schema(domain_, entry.type) : nullptr;
  if (nested && !nested->is_enum) {
    for (std::size_t i = 0; i < count && i < kMostStructures; ++i) {
      const Path path(*this, nullptr, i, true);
      structure(*nested, {data.bytes + i * size, size}, depth + 1);
    }
    if (count > kMostStructures) lose();
    return;
  }
  char list[kLongest] = "[";
  std::size_t at = 1;
  std::int64_t product = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const Value value = read_value(domain_, entry.type, data.bytes + i * size);
    if (value.kind == Value::Kind::None) return lose();
    if (i < 8 && __builtin_mul_overflow(product, static_cast<std::int64_t>(value.bits), &product)) {
      product = -1;
    }
    const char* const comma = i == 0 ? "" : ", ";
    const std::size_t room = sizeof list - at;
    if (i == kMostElements || room < 128) {
      snprintf(list + at, room, ", and %zu more", count - i);
      at = strlen(list);
      break;
    }
    switch (value.kind) {
      case Value::Kind::Signed:
        snprintf(list + at, room, "%s%lld", comma, static_cast<long long>(value.bits));
        break;
      case Value::Kind::Unsigned:
        snprintf(list + at, room, "%s%llu", comma, static_cast<unsigned long long>(value.bits));
        break;
      case Value::Kind::Real:
        snprintf(list + at, room, "%s%.9g", comma, value.real);
        break;
      default:
        snprintf(list + at, room, "%s%s", entry.type == kByte ? "" : comma, value.text);
    }
    at = strlen(list);
  }
  snprintf(list + at, sizeof list - at, "]");
  // As the lengths of an array with several dimensions.
  *number = product;
  if (!(entry.flags & kHide)) values_.add_text(path_[0] ? path_ : "payload", list);
}

void Decoder::single(const SchemaEntry& entry, Span data, int depth, std::int64_t* number,
                     const std::int64_t* numbers, std::size_t count) {
  if (entry.type == kRegisteredText) {
    const Text* handle = nullptr;
    memcpy(&handle, data.bytes, sizeof handle);
    char value[kLongest];
    if (!handle || !read_text(handle->text, 1, value, sizeof value)) return lose();
    return text(entry, value);
  }
  const Schema* const nested =
      entry.type >= kFirstStatic ? find_schema(domain_, entry.type) : nullptr;
  if (nested && nested->type == SchemaType::Union && !nested->is_enum) {
    // The member that another entry tells.
    if (entry.detail >= count || numbers[entry.detail] < 0 ||
        static_cast<std::uint64_t>(numbers[entry.detail]) >= nested->count) {
      return lose();
    }
    const auto member = static_cast<std::size_t>(numbers[entry.detail]);
    std::size_t at = 0;
    std::int64_t ignored[kMostEntries] = {};
    if (depth >= kDeepest || !this->entry(*nested, member, data, at, ignored, depth + 1)) lose();
    return;
  }
  if (nested && !nested->is_enum) return structure(*nested, data, depth + 1);
  const Value value = read_value(domain_, entry.type, data.bytes);
  if (value.kind == Value::Kind::Signed || value.kind == Value::Kind::Unsigned) {
    *number = static_cast<std::int64_t>(value.bits);
  }
  if (!(entry.flags & kHide)) add(value);
}

// False where what comes behind it cannot be found.
bool Decoder::entry(const Schema& schema, std::size_t index, Span data, std::size_t& at,
                    std::int64_t* numbers, int depth) {
  const SchemaEntry& entry = schema.entries[index];
  const Path path(*this, entry.name, index, false);
  const bool is_text = is_text_type(entry.type);
  const std::uint64_t kind = entry.flags & kArray;
  TypeLayout whole = layout_of_entry(domain_, entry);
  const TypeLayout one =
      is_text ? TypeLayout{character_size(entry.type), 1} : layout_of_type(domain_, entry.type);
  if (schema.pack != 0 && schema.pack < whole.align) whole.align = schema.pack;
  const bool is_union = schema.type == SchemaType::Union;
  std::size_t offset = is_union ? 0 : (at + whole.align - 1) / whole.align * whole.align;
  if (entry.offset != 0) offset = entry.offset;
  if (offset > data.size) return false;

  const bool has_count = kind == kFixed || kind == kLengthIndex;
  std::int64_t length = static_cast<std::int64_t>(entry.detail);
  if (kind == kLengthIndex) length = entry.detail < index ? numbers[entry.detail] : -1;
  const bool points = (entry.flags & kPointer) != 0 || (is_text && kind == 0 && entry.detail == 0);
  if (entry.flags & (kFromBase | kFromHere)) return false;

  if (points) {
    const void* address = nullptr;
    if (data.size - offset < sizeof address) return false;
    memcpy(&address, data.bytes + offset, sizeof address);
    at = offset + sizeof address;
    if (is_text || (character_size(entry.type) != 0 && kind == kZeroEnded)) {
      char value[kLongest];
      if (read_text(address, character_size(entry.type), value, sizeof value)) {
        text(entry, value);
      } else {
        lose();
      }
      return true;
    }
    unsigned char bytes[4096];
    const std::size_t count = has_count && length >= 0 ? static_cast<std::size_t>(length) : 1;
    if (kind == kZeroEnded || one.size == 0 || (has_count && length < 0) ||
        count > sizeof bytes / one.size ||
        read_memory(address, bytes, count * one.size) != count * one.size) {
      lose();
    } else if (kind != 0) {
      array(entry, {bytes, count * one.size}, one.size, depth, &numbers[index]);
    } else {
      single(entry, {bytes, one.size}, depth, &numbers[index], numbers, index);
    }
    return true;
  }

  if (kind == 0 && !is_text) {
    // The data of a dynamic schema goes to the end.
    const std::size_t size = whole.size != 0 ? whole.size : data.size - offset;
    if (size == 0 || size > data.size - offset) return false;
    single(entry, {data.bytes + offset, size}, depth, &numbers[index], numbers, index);
    at = offset + size;
    return whole.size != 0;
  }
  if (one.size == 0) return false;
  const std::size_t left = (data.size - offset) / one.size;
  std::size_t count = 0;
  if (kind == kZeroEnded) {
    static constexpr unsigned char kZero[16] = {};
    if (one.size > sizeof kZero) return false;
    while (count < left && memcmp(data.bytes + offset + count * one.size, kZero, one.size) != 0) {
      ++count;
    }
    if (count == left) return false;
    at = offset + (count + 1) * one.size;
  } else if (has_count || (is_text && kind == 0)) {
    if (length < 0 || static_cast<std::uint64_t>(length) > left) return false;
    count = static_cast<std::size_t>(length);
    at = offset + count * one.size;
  } else {
    return false;  // a length that lies in another payload
  }
  array(entry, {data.bytes + offset, count * one.size}, one.size, depth, &numbers[index]);
  return true;
}

void Decoder::structure(const Schema& schema, Span data, int depth) {
  if (depth >= kDeepest || schema.type == SchemaType::Union ||
      schema.type == SchemaType::SelectingUnion) {
    return lose();
  }
  std::int64_t numbers[kMostEntries];
  for (std::size_t i = 0; i < schema.count; ++i) numbers[i] = -1;
  std::size_t at = 0;
  for (std::size_t i = 0; i < schema.count; ++i) {
    if (entry(schema, i, data, at, numbers, depth)) continue;
    // What lies behind an entry of unknown size may still say where it lies itself.
    if (i + 1 < schema.count && schema.entries[i + 1].offset == 0) return lose();
    lose();
  }
}

void Decoder::payload(const PayloadData& data) {
  if (data.schema == kReferenced) return;  // others point into it
  const bool own_size = data.size == SIZE_MAX;
  const auto* const bytes = static_cast<const unsigned char*>(data.bytes);
  if (!bytes) return data.size == 0 ? void() : lose();
  if (data.schema == kRaw) {
    char size[48];
    snprintf(size, sizeof size, "%zu bytes", data.size);
    return own_size ? lose() : values_.add_text("payload", size);
  }
  SchemaEntry entry{};
  entry.type = data.schema;
  if (is_text_type(data.schema)) {
    char value[kLongest];
    if (own_size) {
      if (!read_text(bytes, character_size(data.schema), value, sizeof value)) return lose();
    } else {
      copy_text(bytes, data.size, character_size(data.schema), value, sizeof value);
    }
    return text(entry, value);
  }
  const TypeLayout layout = layout_of_type(domain_, data.schema);
  const std::size_t size = own_size ? layout.size : data.size;
  if (size == 0 || size < layout.size) return lose();
  const Schema* const schema =
      data.schema >= kFirstStatic ? find_schema(domain_, data.schema) : nullptr;
  if (schema && !schema->is_enum) {
    if (wants_name_ && schema->name && name == 0) {
      name = sonde_intern(schema->name);
      name_is_schema = true;
    }
    return structure(*schema, {bytes, size}, 0);
  }
  std::int64_t number = 0;
  if (layout.size == 0) return lose();
  if (size >= 2 * layout.size) return array(entry, {bytes, size}, layout.size, 0, &number);
  single(entry, {bytes, size}, 0, &number, nullptr, 0);
}

}  // namespace

void decode_payloads(const Domain& domain, const PayloadData* payloads, std::size_t count,
                     bool wants_name, DecodedPayloads* out) {
  sonde_no_arguments(&out->arguments);
  out->name = 0;
  if (!sonde_enabled()) return;
  PayloadValues values;
  Decoder decoder(domain, values, wants_name);
  for (std::size_t i = 0; payloads && i < count && i < kMostPayloads; ++i) {
    decoder.payload(payloads[i]);
  }
  if (count > kMostPayloads) values.lose();
  out->name = decoder.name;
  values.write(&out->arguments, kMostArguments);
}

}  // namespace sonde::capture::nvtx
