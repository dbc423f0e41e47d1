#include "import/perfetto/known_arguments.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "import/kineto/categories.hpp"

namespace sonde::perfetto_import {
namespace {

struct NamedKind {
  std::string_view name;
  SliceKind kind;
};

// Of rocprof, besides the words of PyTorch and Sonde.
constexpr std::array kRocprofKinds = {
    NamedKind{"kernel_dispatch", SliceKind::Kernel},
    NamedKind{"memory_copy", SliceKind::Memcpy},
    NamedKind{"hip_api", SliceKind::Runtime},
    NamedKind{"hip_runtime_api", SliceKind::Runtime},
    NamedKind{"hip_runtime_api_ext", SliceKind::Runtime},
    NamedKind{"hip_compiler_api", SliceKind::Runtime},
    NamedKind{"hsa_api", SliceKind::Driver},
    NamedKind{"hsa_core_api", SliceKind::Driver},
    NamedKind{"hsa_amd_ext_api", SliceKind::Driver},
    NamedKind{"hsa_image_ext_api", SliceKind::Driver},
    NamedKind{"hsa_finalize_ext_api", SliceKind::Driver},
    NamedKind{"marker_api", SliceKind::UserRange},
    NamedKind{"marker_core_api", SliceKind::UserRange},
    NamedKind{"rccl_api", SliceKind::Communication},
};

// Words of PyTorch that mean something else in most other programs.
bool is_general_word(std::string_view word) {
  return word == "user" || word == "trace" || word == "net";
}

std::optional<SliceKind> kind_of_word(std::string_view word) {
  for (const NamedKind& known : kRocprofKinds) {
    if (word == known.name) return known.kind;
  }
  for (std::size_t i = 0; i < kSliceKindCount; ++i) {
    const auto kind = static_cast<SliceKind>(i);
    if (kind != SliceKind::Other && word == kind_name(kind)) return kind;
  }
  if (is_general_word(word)) return std::nullopt;
  const KinetoCategory known = kineto_category(word);
  if (known.known && known.kind != SliceKind::Other) return known.kind;
  return std::nullopt;
}

std::optional<std::int64_t> whole(const PendingArgument& argument) {
  if (argument.type == ArgType::Integer) return std::bit_cast<std::int64_t>(argument.bits);
  return std::nullopt;
}

bool take_integer(const PendingArgument& argument, std::int64_t& out) {
  const auto value = whole(argument);
  if (!value) return false;
  out = *value;
  return true;
}

bool take_integer(const PendingArgument& argument, std::int32_t& out) {
  const auto value = whole(argument);
  if (!value || *value < 0 || *value > INT32_MAX) return false;
  out = static_cast<std::int32_t>(*value);
  return true;
}

bool take_real(const PendingArgument& argument, float& out) {
  double value = 0;
  if (argument.type == ArgType::Real) {
    value = std::bit_cast<double>(argument.bits);
  } else if (const auto number = whole(argument)) {
    value = static_cast<double>(*number);
  } else {
    return false;
  }
  if (!std::isfinite(value) || value < 0 || value > 1e9) return false;
  out = static_cast<float>(value);
  return true;
}

bool take_text(const PendingArgument& argument, StringId& out) {
  if (argument.type != ArgType::Text && argument.type != ArgType::Json) return false;
  out = StringId(static_cast<std::uint32_t>(argument.bits));
  return true;
}

// "[1,2,3]" with any blanks.
bool take_triple(const PendingArgument& argument, const TraceBuilder& builder,
                 std::array<std::int32_t, 3>& out) {
  StringId id;
  if (!take_text(argument, id)) return false;
  std::string_view text = builder.text(id);
  std::array<std::int32_t, 3> values{};
  std::size_t at = 0;
  const auto skip = [&](char c) {
    while (at < text.size() && text[at] == ' ') ++at;
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    while (at < text.size() && text[at] == ' ') ++at;
    return true;
  };
  for (std::size_t i = 0; i < 3; ++i) {
    if (!skip(i == 0 ? '[' : ',')) return false;
    const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), values[i]);
    if (parsed.ec != std::errc() || values[i] < 0) return false;
    at = static_cast<std::size_t>(parsed.ptr - text.data());
  }
  if (!skip(']') || at != text.size()) return false;
  out = values;
  return true;
}

bool take_operator(SliceRows& rows, std::string_view key, const PendingArgument& argument) {
  OperatorRow& row = rows.op;
  if (key == "External id" || key == "external id") return take_integer(argument, row.external_id);
  if (key == "Sequence number") return take_integer(argument, row.sequence);
  if (key == "Fwd thread id") return take_integer(argument, row.forward_thread);
  if (key == "Ev Idx") return take_integer(argument, row.order);
  if (key == "Input Dims") return take_text(argument, rows.inputs.shapes);
  if (key == "Input type") return take_text(argument, rows.inputs.types);
  if (key == "Input Strides") return take_text(argument, rows.inputs.strides);
  if (key == "Concrete Inputs") return take_text(argument, rows.inputs.concrete);
  if (key == "Call stack") return take_text(argument, row.stack);
  if (key == "Module Hierarchy") return take_text(argument, row.module);
  return false;
}

bool take_launch(LaunchRow& row, std::string_view key, const PendingArgument& argument) {
  if (key == "correlation" || key == "corr_id") return take_integer(argument, row.correlation);
  if (key == "External id" || key == "external id") return take_integer(argument, row.external_id);
  if (key == "cbid") return take_integer(argument, row.cbid);
  return false;
}

bool take_device(DeviceRow& row, std::string_view key, const PendingArgument& argument,
                 const TraceBuilder& builder) {
  if (key == "correlation" || key == "corr_id") return take_integer(argument, row.correlation);
  if (key == "External id" || key == "external id") return take_integer(argument, row.external_id);
  if (key == "stream") return take_integer(argument, row.stream);
  if (key == "device") return take_integer(argument, row.device);
  if (key == "context") return take_integer(argument, row.context);
  if (key == "bytes" || key == "Bytes") return take_integer(argument, row.bytes);
  if (key == "registers per thread") return take_integer(argument, row.registers);
  if (key == "shared memory") return take_integer(argument, row.shared_memory);
  if (key == "grid") return take_triple(argument, builder, row.grid);
  if (key == "block") return take_triple(argument, builder, row.block);
  if (key == "blocks per SM") return take_real(argument, row.blocks_per_sm);
  if (key == "warps per SM") return take_real(argument, row.warps_per_sm);
  if (key == "est. achieved occupancy %") return take_real(argument, row.occupancy);
  if (key == "memory bandwidth (GB/s)") return take_real(argument, row.bandwidth);
  return false;
}

bool take_python(PythonRow& row, std::string_view key, const PendingArgument& argument) {
  if (key == "Python id") return take_integer(argument, row.id);
  if (key == "Python parent id") return take_integer(argument, row.parent_id);
  if (key == "Python module id") return take_integer(argument, row.module_id);
  return false;
}

bool take_collective(CollectiveRow& row, std::string_view key, const PendingArgument& argument) {
  if (key == "Collective name") return take_text(argument, row.collective);
  if (key == "dtype") return take_text(argument, row.dtype);
  if (key == "Process Group Name") return take_text(argument, row.group);
  if (key == "Process Group Description") return take_text(argument, row.group_description);
  if (key == "Process Group Ranks") return take_text(argument, row.group_ranks);
  if (key == "In msg nelems") return take_integer(argument, row.in_elements);
  if (key == "Out msg nelems") return take_integer(argument, row.out_elements);
  if (key == "Group size") return take_integer(argument, row.group_size);
  if (key == "Seq") return take_integer(argument, row.sequence);
  return false;
}

}  // namespace

SliceKind kind_of(std::string_view categories, std::string_view name) {
  while (!categories.empty()) {
    const std::size_t comma = std::min(categories.find(','), categories.size());
    if (const auto kind = kind_of_word(categories.substr(0, comma))) {
      return kineto_kind_by_name(*kind, name);
    }
    categories.remove_prefix(std::min(comma + 1, categories.size()));
  }
  return SliceKind::Other;
}

std::optional<SliceKind> take_own_kind(std::string_view& categories) {
  const std::size_t comma = categories.rfind(',');
  std::string_view word =
      comma == std::string_view::npos ? categories : categories.substr(comma + 1);
  constexpr std::string_view kOwn = "sonde.";
  if (!word.starts_with(kOwn)) return std::nullopt;
  word.remove_prefix(kOwn.size());
  for (std::size_t i = 0; i < kSliceKindCount; ++i) {
    const auto kind = static_cast<SliceKind>(i);
    if (word != kind_name(kind)) continue;
    categories = comma == std::string_view::npos ? std::string_view() : categories.substr(0, comma);
    return kind;
  }
  return std::nullopt;
}

bool SliceRows::take(SliceKind kind, const PendingArgument& argument, const TraceBuilder& builder) {
  const std::string_view key = builder.text(argument.key);
  bool taken = false;
  if (is_device_work(kind) || kind == SliceKind::DeviceRange) {
    taken = take_device(device, key, argument, builder);
  } else if (is_launch_call(kind) || kind == SliceKind::Sync) {
    taken = take_launch(launch, key, argument);
  } else if (is_host_operator(kind) || kind == SliceKind::Step) {
    taken = take_operator(*this, key, argument);
    has_op |= taken;
  } else if (kind == SliceKind::PythonFunction || kind == SliceKind::Module) {
    taken = take_python(python, key, argument);
    has_python |= taken;
  }
  const bool may_be_collective = kind == SliceKind::Communication || kind == SliceKind::Kernel ||
                                 kind == SliceKind::Operator || kind == SliceKind::UserRange;
  if (!taken && may_be_collective) {
    taken = take_collective(collective, key, argument);
    has_collective |= taken;
  }
  return taken;
}

}  // namespace sonde::perfetto_import
