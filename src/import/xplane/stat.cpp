#include "import/xplane/stat.hpp"

#include <charconv>
#include <utility>

#include "trace/trace.hpp"

namespace sonde {
namespace {

constexpr std::pair<std::string_view, KnownStat> kKnown[] = {
    {"correlation_id", KnownStat::CorrelationId},
    {"context_id", KnownStat::ContextId},
    {"device_id", KnownStat::DeviceId},
    {"kernel_details", KnownStat::KernelDetails},
    {"memcpy_details", KnownStat::MemcpyDetails},
    {"Memset_details", KnownStat::MemsetDetails},
    {"memset_details", KnownStat::MemsetDetails},
    {"memalloc_details", KnownStat::AllocationDetails},
    {"MemFree_details", KnownStat::FreeDetails},
    {"MemoryResidency_details", KnownStat::ResidencyDetails},
    {"step_num", KnownStat::StepNumber},
    {"step_name", KnownStat::StepName},
    {"_r", KnownStat::IsRoot},
    {"_pt", KnownStat::ProducerType},
    {"_p", KnownStat::ProducerId},
    {"_ct", KnownStat::ConsumerType},
    {"_c", KnownStat::ConsumerId},
    {"hlo_op", KnownStat::HloOp},
    {"hlo_category", KnownStat::HloCategory},
    {"tf_op", KnownStat::TfOp},
    {"allocator_name", KnownStat::AllocatorName},
    {"bytes_reserved", KnownStat::BytesReserved},
    {"bytes_allocated", KnownStat::BytesAllocated},
    {"allocation_bytes", KnownStat::AllocationBytes},
    {"addr", KnownStat::Address},
    {"index_on_host", KnownStat::IndexOnHost},
};

constexpr std::string_view kVarying[] = {
    "correlation_id",
    "device_offset_ps",
    "device_duration_ps",
    "run_id",
    "_p",
    "_c",
    "flow",
    "all_reduce_unique_id",
    "step_num",
    "group_id",
    "id",
    "element_id",
    "parent_id",
    "addr",
    "iter_num",
    "launch_id",
    "duration_ps",
};

// The value behind "key:" in a list separated by blanks or line ends; empty where it is not there.
std::string_view detail(std::string_view text, std::string_view key) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find_first_of(" \n\t", at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(at, end - at);
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == ':')
      return word.substr(key.size() + 1);
    at = end + 1;
  }
  return {};
}

template <class Number>
Number number_or(std::string_view text, Number otherwise) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? number : otherwise;
}

void parse_triple(std::string_view text, std::int32_t (&out)[3]) {
  for (std::int32_t& part : out) {
    if (text.empty()) return;
    part = number_or<std::int32_t>(text, -1);
    const std::size_t comma = text.find(',');
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
}

}  // namespace

StatName stat_name(std::string_view name) {
  StatName out;
  for (const auto& [text, known] : kKnown) {
    if (text == name) out.known = known;
  }
  for (const std::string_view text : kVarying) out.varies |= text == name;
  return out;
}

std::int64_t StatValue::whole(std::int64_t otherwise) const {
  switch (type) {
    case Type::Integer:
    case Type::Unsigned:
      return integer;
    case Type::Real:
      return real > -9e18 && real < 9e18 ? static_cast<std::int64_t>(real) : otherwise;
    case Type::Text: {
      std::int64_t number = 0;
      const char* const end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data(), end, number);
      return parsed.ec == std::errc() && parsed.ptr == end ? number : otherwise;
    }
    case Type::None:
    case Type::Bytes:
      break;
  }
  return otherwise;
}

KernelDetails parse_kernel_details(std::string_view text) {
  KernelDetails out;
  out.registers = number_or<std::int32_t>(detail(text, "regs"), -1);
  const auto fixed = number_or<std::int64_t>(detail(text, "static_shared"), -1);
  const auto dynamic = number_or<std::int64_t>(detail(text, "dynamic_shared"), -1);
  if (fixed >= 0 && dynamic >= 0 && fixed < INT32_MAX && dynamic < INT32_MAX)
    out.shared_memory = fixed + dynamic;
  parse_triple(detail(text, "grid"), out.grid);
  parse_triple(detail(text, "block"), out.block);
  out.occupancy = number_or<float>(detail(text, "occ_pct"), -1);
  return out;
}

std::int64_t parse_details_bytes(std::string_view text) {
  for (const std::string_view key : {"size", "num_bytes"}) {
    const auto bytes = number_or<std::int64_t>(detail(text, key), -1);
    if (bytes >= 0) return bytes;
  }
  return kNoNumber;
}

}  // namespace sonde
