#pragma once

#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "import/input/byte_source.hpp"
#include "trace/trace.hpp"

namespace sonde {

// A JSON file as a whole, for formats that are no lists of events. Not for headers that others
// include: simdjson stays within import/.
struct JsonDocument {
  std::unique_ptr<simdjson::dom::parser> parser;  // owns what `root` refers to
  simdjson::dom::element root;
  std::uint64_t bytes = 0;
};

// The bare words NaN and Infinity, which Python writes, are read as null. Larger files than
// `max_bytes` are refused, with `hint` as the way out.
Result<JsonDocument> read_json_document(ByteSource& source, std::uint64_t max_bytes,
                                        std::string_view hint);

// What stands under a path of keys, or nothing: a missing key, another type and a value out of
// range are all the same to a reader.
simdjson::dom::element json_member(simdjson::dom::element object, std::string_view key);
std::int64_t json_integer(simdjson::dom::element value, std::int64_t fallback = kNoNumber);
std::string_view json_text(simdjson::dom::element value);
// The items of a list; an empty one where the value is none.
simdjson::dom::array json_items(simdjson::dom::element value);

}  // namespace sonde
