#include "import/nsys/torch_range.hpp"

#include <charconv>

namespace sonde::nsys {
namespace {

// Takes ", key = NUMBER" from the front.
bool take_number(std::string_view& text, std::string_view key, std::int64_t& out) {
  if (!text.starts_with(key)) return false;
  const char* const first = text.data() + key.size();
  const auto parsed = std::from_chars(first, text.data() + text.size(), out);
  if (parsed.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return true;
}

}  // namespace

bool parse_torch_range(std::string_view text, TorchRange& out) {
  constexpr std::string_view kSequence = ", seq = ";
  constexpr std::string_view kId = ", op_id = ";
  constexpr std::string_view kSizes = ", sizes = ";
  std::size_t at = text.size();
  for (const std::string_view key : {kSequence, kId, kSizes}) at = std::min(at, text.find(key));
  if (at == 0 || at >= text.size()) return false;
  out = {};
  out.name = text.substr(0, at);
  text.remove_prefix(at);
  take_number(text, kSequence, out.sequence);
  take_number(text, kId, out.op_id);
  if (text.starts_with(kSizes)) {
    text.remove_prefix(kSizes.size());
    const std::size_t end = text.find(", input_op_ids = ");
    out.sizes = text.substr(0, end);
    if (!out.sizes.starts_with('[') || !out.sizes.ends_with(']')) return false;
    text.remove_prefix(out.sizes.size());
  }
  return text.empty() || text.starts_with(", input_op_ids = ");
}

}  // namespace sonde::nsys
