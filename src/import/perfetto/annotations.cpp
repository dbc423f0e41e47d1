#include "import/perfetto/annotations.hpp"

#include <bit>
#include <cstdio>
#include <optional>
#include <string>

#include "base/json_writer.hpp"
#include "import/perfetto/wire.hpp"

namespace sonde::perfetto_import {
namespace {

constexpr int kMaxDepth = 32;

// One annotation, of whatever sort; lists and dictionaries as the bytes of their entries.
struct Annotation {
  enum class Sort : std::uint8_t {
    None,
    Bool,
    Unsigned,
    Integer,
    Real,
    Text,
    Pointer,
    Json,
    Dict,
    List
  };
  Sort sort = Sort::None;
  std::uint64_t number = 0;
  double real = 0;
  std::string_view text;
  std::vector<std::string_view> entries;
  std::string_view name;
  std::optional<std::uint64_t> name_iid;
};

Annotation parse(std::string_view message, const Sequence& sequence, const TraceBuilder& builder) {
  using Sort = Annotation::Sort;
  Annotation out;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint(1):
        out.name_iid = reader.get_uint64();
        break;
      case bytes(10):
        out.name = text_of(reader);
        break;
      case varint(2):
        out.sort = Sort::Bool;
        out.number = reader.get_bool() ? 1 : 0;
        break;
      case varint(3):
        out.sort = Sort::Unsigned;
        out.number = reader.get_uint64();
        break;
      case varint(4):
        out.sort = Sort::Integer;
        out.number = static_cast<std::uint64_t>(reader.get_int64());
        break;
      case fixed64(5):
        out.sort = Sort::Real;
        out.real = reader.get_double();
        break;
      case bytes(6):
        out.sort = Sort::Text;
        out.text = text_of(reader);
        break;
      case varint(17): {
        out.sort = Sort::Text;
        const StringId text = sequence.text(InternTable::AnnotationTexts, reader.get_uint64());
        if (text.valid()) out.text = builder.text(text);
        break;
      }
      case varint(7):
        out.sort = Sort::Pointer;
        out.number = reader.get_uint64();
        break;
      case bytes(9):
        out.sort = Sort::Json;
        out.text = text_of(reader);
        break;
      case bytes(11):
        out.sort = Sort::Dict;
        out.entries.push_back(text_of(reader));
        break;
      case bytes(12):
        out.sort = Sort::List;
        out.entries.push_back(text_of(reader));
        break;
      default:
        reader.skip();
    }
  }
  if (out.name_iid) {
    const StringId name = sequence.text(InternTable::AnnotationNames, *out.name_iid);
    if (name.valid()) out.name = builder.text(name);
  }
  return out;
}

std::string pointer_text(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void write_json(const Annotation& value, const Sequence& sequence, const TraceBuilder& builder,
                JsonWriter& json, int depth) {
  using Sort = Annotation::Sort;
  switch (value.sort) {
    case Sort::None:
      return json.value(nullptr);
    case Sort::Bool:
      return json.value(value.number != 0);
    case Sort::Unsigned:
      return json.value(value.number);
    case Sort::Integer:
      return json.value(static_cast<std::int64_t>(value.number));
    case Sort::Real:
      return json.value(value.real);
    case Sort::Text:
    case Sort::Json:  // not checked: as a text it does no harm within other JSON
      return json.value(value.text);
    case Sort::Pointer:
      return json.value(pointer_text(value.number));
    case Sort::Dict:
    case Sort::List:
      break;
  }
  if (depth >= kMaxDepth) return json.value(nullptr);
  const bool dict = value.sort == Sort::Dict;
  dict ? json.begin_object() : json.begin_array();
  for (const std::string_view entry : value.entries) {
    const Annotation child = parse(entry, sequence, builder);
    if (dict) json.key(child.name);
    write_json(child, sequence, builder, json, depth + 1);
  }
  dict ? json.end_object() : json.end_array();
}

}  // namespace

PendingArgument integer_argument(StringId key, std::int64_t value) {
  return {key, ArgType::Integer, std::bit_cast<std::uint64_t>(value)};
}

PendingArgument text_argument(StringId key, StringId text, ArgType type) {
  return {key, type, text.value};
}

bool read_annotation(std::string_view message, const Sequence& sequence, NamePool& names,
                     TraceBuilder& builder, std::vector<PendingArgument>& out) {
  using Sort = Annotation::Sort;
  const Annotation value = parse(message, sequence, builder);
  const StringId key = names.intern(value.name);
  switch (value.sort) {
    case Sort::None:
      return false;
    case Sort::Unsigned:
      if (value.number > INT64_MAX) {
        out.push_back(
            text_argument(key, builder.intern(std::to_string(value.number)), ArgType::Json));
        return true;
      }
      [[fallthrough]];
    case Sort::Integer:
      out.push_back({key, ArgType::Integer, value.number});
      return true;
    case Sort::Real:
      out.push_back({key, ArgType::Real, std::bit_cast<std::uint64_t>(value.real)});
      return true;
    case Sort::Text:
      out.push_back(text_argument(key, names.intern(value.text)));
      return true;
    case Sort::Json:
      out.push_back(text_argument(key, names.intern(value.text), ArgType::Json));
      return true;
    case Sort::Pointer:
      out.push_back(text_argument(key, builder.intern(pointer_text(value.number))));
      return true;
    case Sort::Bool:
    case Sort::Dict:
    case Sort::List:
      break;
  }
  JsonWriter json(JsonWriter::Layout::Minimal);
  write_json(value, sequence, builder, json, 0);
  out.push_back(text_argument(key, builder.intern(json.text()), ArgType::Json));
  return true;
}

}  // namespace sonde::perfetto_import
