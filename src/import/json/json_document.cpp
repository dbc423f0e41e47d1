#include "import/json/json_document.hpp"

#include <cmath>
#include <vector>

namespace sonde {
namespace {

// One empty list and one null for all that have no value.
const JsonDocument& nothing() {
  static const JsonDocument document = [] {
    JsonDocument out;
    out.parser = std::make_unique<simdjson::dom::parser>();
    const auto parsed = out.parser->parse(std::string_view("[null, []]"));
    out.root = parsed.value_unsafe();
    return out;
  }();
  return document;
}

// NaN and Infinity outside of texts become null.
std::string mend_numbers(const std::string& text) {
  std::string out;
  out.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < text.size()) out += text[++i];
      if (c == '"') in_string = false;
    } else if (text.compare(i, 3, "NaN") == 0) {
      out += "null";
      i += 2;
    } else if (text.compare(i, 8, "Infinity") == 0) {
      if (!out.empty() && out.back() == '-') out.pop_back();
      out += "null";
      i += 7;
    } else {
      in_string = c == '"';
      out += c;
    }
  }
  return out;
}

}  // namespace

Result<JsonDocument> read_json_document(ByteSource& source, std::uint64_t max_bytes,
                                        std::string_view hint) {
  std::string text;
  std::vector<char> part(std::size_t{1} << 20);
  for (;;) {
    Result<std::size_t> got = source.read(part);
    if (!got) return got.error();
    if (*got == 0) break;
    text.append(part.data(), *got);
    if (text.size() > max_bytes) {
      return Error{ErrorCode::Unsupported,
                   "the JSON file is larger than the " + std::to_string(max_bytes >> 20) +
                       " MiB that Sonde reads of this format",
                   {},
                   {},
                   std::string(hint)};
    }
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  JsonDocument out;
  out.bytes = text.size();
  out.parser = std::make_unique<simdjson::dom::parser>();
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  auto parsed = out.parser->parse(text);
  if (parsed.error() != simdjson::SUCCESS) {
    text = mend_numbers(text);
    parsed = out.parser->parse(text);
  }
  if (parsed.error() != simdjson::SUCCESS) {
    return Error{
        ErrorCode::BrokenInput,
        std::string("the file is no well-formed JSON: ") + simdjson::error_message(parsed.error()),
        {},
        {},
        "was it copied whole?"};
  }
  out.root = parsed.value_unsafe();
  return out;
}

simdjson::dom::element json_member(simdjson::dom::element object, std::string_view key) {
  simdjson::dom::object members;
  simdjson::dom::element value;
  if (object.get(members) == simdjson::SUCCESS && members[key].get(value) == simdjson::SUCCESS) {
    return value;
  }
  return nothing().root.at(0).value_unsafe();
}

std::int64_t json_integer(simdjson::dom::element value, std::int64_t fallback) {
  std::int64_t whole = 0;
  if (value.get(whole) == simdjson::SUCCESS) return whole;
  std::uint64_t large = 0;
  if (value.get(large) == simdjson::SUCCESS) return static_cast<std::int64_t>(large);
  double real = 0;
  if (value.get(real) == simdjson::SUCCESS && std::abs(real) < 9e18) {
    return static_cast<std::int64_t>(real);
  }
  return fallback;
}

std::string_view json_text(simdjson::dom::element value) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

simdjson::dom::array json_items(simdjson::dom::element value) {
  simdjson::dom::array items;
  if (value.get(items) == simdjson::SUCCESS) return items;
  const bool good = nothing().root.at(1).get(items) == simdjson::SUCCESS;
  return good ? items : simdjson::dom::array();
}

}  // namespace sonde
