#include "import/sonde_run/cupti/labels.hpp"

#include <algorithm>
#include <array>

namespace sonde::cupti {
namespace {

constexpr std::array<std::string_view, 11> kCopyKinds = {
    "", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 8> kMemoryKinds = {
    "Unknown", "Pageable", "Pinned",        "Device",
    "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::array<std::string_view, 5> kSyncTypes = {"Sync", "Event Sync", "Stream Wait Event",
                                                        "Stream Sync", "Context Sync"};
constexpr std::array<std::string_view, 9> kOverheads = {"Unknown",
                                                        "Buffer Flush",
                                                        "Instrumentation",
                                                        "Resource",
                                                        "Runtime Triggered Module Loading",
                                                        "Lazy Function Loading",
                                                        "Command Buffer Full",
                                                        "Activity Buffer Request",
                                                        "UVM Activity Init"};

template <std::size_t Size>
std::string_view label(const std::array<std::string_view, Size>& labels, std::size_t number) {
  return labels[number < Size ? number : 0];
}

}  // namespace

std::string copy_name(std::uint8_t kind, std::uint8_t source, std::uint8_t target) {
  std::string out = "Memcpy";
  if (const std::string_view text = label(kCopyKinds, kind); !text.empty()) (out += ' ') += text;
  out += " (";
  out += memory_kind(source);
  out += " -> ";
  out += memory_kind(target);
  return out + ')';
}

std::string fill_name(std::uint16_t memory) {
  return "Memset (" + std::string(memory_kind(memory)) + ')';
}

std::string_view memory_kind(std::uint32_t kind) { return label(kMemoryKinds, kind); }
std::string_view sync_name(std::uint32_t type) { return label(kSyncTypes, type); }

std::string_view overhead_name(std::uint32_t kind) {
  if (kind == 1) return "Driver Compiler";
  return label(kOverheads, (kind & 0xFFFF) == 0 ? kind >> 16 : 0);
}

std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos) return name;
  const std::string_view digits = name.substr(at + 2);
  const bool version = digits.size() >= 4 && std::all_of(digits.begin(), digits.end(), [](char c) {
                         return c >= '0' && c <= '9';
                       });
  return version ? name.substr(0, at) : name;
}

}  // namespace sonde::cupti
