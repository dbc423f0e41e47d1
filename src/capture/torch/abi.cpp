#include "capture/torch/abi.hpp"

#include <string.h>

namespace sonde::capture::torch {

const char* name_of(const void* record, const Functions& functions, const Places& places) {
  if (functions.name) return functions.name(record);
  if (places.sequence < kNameBeforeSequence) return nullptr;
  const char* const at = static_cast<const char*>(record) + places.sequence;
  const char* text = nullptr;
  memcpy(&text, at - kNameBeforeSequence, sizeof text);
  const bool schema = *(at - kNameKindBeforeSequence) == 1;
  // The schema's first member is the string of its name; a string's first member is its text.
  if (schema && text) memcpy(&text, text, sizeof text);
  return text;
}

}  // namespace sonde::capture::torch
