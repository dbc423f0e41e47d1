#include "capture/torch/shapes.hpp"

#include <stdio.h>
#include <string.h>

#include "capture/torch/names.hpp"

namespace sonde::capture::torch {
namespace {

constexpr std::size_t kMaxInputs = 24;
constexpr std::size_t kMaxDimensions = 12;
constexpr std::size_t kMaxKey = kMaxInputs * (kMaxDimensions + 1);

NameCache cache;

// Count, then that many sizes; behind a pointer where there are too many for the object itself.
std::size_t read_sizes(const void* tensor, std::size_t place, std::int64_t* out) {
  const char* const at = static_cast<const char*>(tensor) + place;
  std::uint64_t count = 0;
  memcpy(&count, at, sizeof count);
  if (count > kMaxDimensions) return 0;
  const void* sizes = at + sizeof count;
  if (count > kMaxInlineDimensions) memcpy(&sizes, sizes, sizeof sizes);
  memcpy(out, sizes, count * sizeof *out);
  return count;
}

// "[[32, 64], []]" from -count, sizes, -count, sizes …: a count is stored as its negative minus 1.
const char* text_of(const std::int64_t* key, std::size_t words, char* text, std::size_t size) {
  std::size_t at = 0;
  const auto put = [&](const char* piece) {
    const std::size_t length = strlen(piece);
    if (at + length + 1 > size) return;
    memcpy(text + at, piece, length + 1);
    at += length;
  };
  text[0] = 0;
  put("[");
  for (std::size_t i = 0; i < words;) {
    if (i > 0) put(", ");
    std::int64_t count = -key[i++] - 1;
    put("[");
    for (bool first = true; count > 0 && i < words; --count, first = false) {
      char number[24];
      snprintf(number, sizeof number, first ? "%lld" : ", %lld", static_cast<long long>(key[i++]));
      put(number);
    }
    put("]");
  }
  put("]");
  return text;
}

}  // namespace

std::uint32_t shapes_of(const void* record, const Places& places) {
  if (places.inputs == 0 || places.sizes == 0) return 0;
  const Value* values = nullptr;
  std::uint64_t count = 0;
  const char* const at = static_cast<const char*>(record) + places.inputs;
  memcpy(&values, at, sizeof values);
  memcpy(&count, at + sizeof values, sizeof count);
  if (!values || count == 0) return 0;
  if (count > kMaxInputs) count = kMaxInputs;
  std::int64_t key[kMaxKey];
  std::size_t words = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t dimensions = 0;
    if (values[i].tag == kTensorTag && values[i].payload) {
      dimensions = read_sizes(values[i].payload, places.sizes, key + words + 1);
    }
    key[words] = -static_cast<std::int64_t>(dimensions) - 1;
    words += dimensions + 1;
  }
  char text[kMaxKey * 8];
  return cache.find_key(key, words, [&] { return text_of(key, words, text, sizeof text); });
}

}  // namespace sonde::capture::torch
