#include "import/paddle/dump_messages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "import/paddle/supplement.hpp"

namespace sonde {
namespace {

using protozero::pbf_reader;

std::string_view view_of(pbf_reader& in) {
  const protozero::data_view view = in.get_view();
  return {view.data(), view.size()};
}

bool is_message(const pbf_reader& in) {
  return in.wire_type() == protozero::pbf_wire_type::length_delimited;
}

// The fields of a message whose fields come once: numbers, however they were written, and texts or
// inner messages. Missing ones are 0 and empty; of several the last counts.
class Fields {
 public:
  explicit Fields(std::string_view message) {
    for (pbf_reader in(message.data(), message.size()); in.next();) {
      const std::uint32_t tag = in.tag();
      if (tag >= kCount) {
        in.skip();
        continue;
      }
      present_ |= 1u << tag;
      switch (in.wire_type()) {
        case protozero::pbf_wire_type::varint:
          numbers_[tag] = in.get_uint64();
          break;
        case protozero::pbf_wire_type::fixed64:
          numbers_[tag] = in.get_fixed64();
          break;
        case protozero::pbf_wire_type::fixed32:
          numbers_[tag] = in.get_fixed32();
          break;
        default:
          texts_[tag] = view_of(in);
      }
    }
  }

  bool has(std::uint32_t tag) const { return (present_ >> tag & 1) != 0; }
  std::uint64_t number(std::uint32_t tag) const { return numbers_[tag]; }
  std::int64_t id(std::uint32_t tag) const { return static_cast<std::int64_t>(numbers_[tag]); }
  std::string_view text(std::uint32_t tag) const { return texts_[tag]; }
  // -1 for what is missing or too large.
  std::int32_t small(std::uint32_t tag) const {
    return has(tag) && numbers_[tag] <= INT32_MAX ? static_cast<std::int32_t>(numbers_[tag]) : -1;
  }
  // -1 for what is missing, below 0 or no number.
  float real(std::uint32_t tag) const {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(numbers_[tag]));
    return has(tag) && value >= 0 && value < 1e30f ? value : -1;
  }

 private:
  static constexpr std::uint32_t kCount = 18;
  std::array<std::uint64_t, kCount> numbers_{};
  std::array<std::string_view, kCount> texts_{};
  std::uint32_t present_ = 0;
};

// Calls `visit` with each inner message of that number.
template <class Visit>
void each_message(std::string_view message, std::uint32_t tag, Visit visit) {
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    if (in.tag() == tag && is_message(in))
      visit(view_of(in));
    else
      in.skip();
  }
}

PaddleEventType type_of(std::uint64_t number) {
  if (number < kPaddleEventTypes.size()) return kPaddleEventTypes[number];
  return {"", SliceKind::UserRange, true};
}

void read_kernel_info(std::string_view message, DeviceRow& row) {
  const Fields in(message);
  for (std::uint32_t i = 0; i < 3; ++i) {
    row.block[i] = in.small(1 + i);
    row.grid[i] = in.small(4 + i);
  }
  const std::uint64_t shared = in.number(7) + in.number(8);
  if ((in.has(7) || in.has(8)) && shared <= INT32_MAX)
    row.shared_memory = static_cast<std::int32_t>(shared);
  row.registers = in.small(9);
  row.blocks_per_sm = in.real(15);
  row.warps_per_sm = in.real(16);
  row.occupancy = in.real(17) < 0 ? -1 : in.real(17) * 100;
}

// The first field of copies and memsets.
std::int64_t byte_count(std::string_view message) {
  const Fields in(message);
  return in.has(1) && in.id(1) >= 0 ? in.id(1) : kNoNumber;
}

// {repeated key(1), repeated list(2){…}} as JSON: {"x": [[8, 16]]}. `write_list` writes one list.
template <class WriteList>
std::string lists_by_key(std::string_view message, WriteList write_list) {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> lists;
  each_message(message, 1, [&](std::string_view key) { keys.push_back(key); });
  each_message(message, 2, [&](std::string_view list) { lists.push_back(list); });
  if (keys.empty()) return {};
  JsonWriter json;
  json.begin_object();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    json.key(keys[i]);
    json.begin_array();
    if (i < lists.size()) write_list(lists[i], json);
    json.end_array();
  }
  json.end_object();
  return json.take();
}

void write_shapes(std::string_view list, JsonWriter& json) {
  each_message(list, 1, [&](std::string_view shape) {
    json.begin_array();
    for (pbf_reader sizes(shape.data(), shape.size()); sizes.next();) {
      if (sizes.tag() == 1 && is_message(sizes)) {
        for (const std::uint64_t size : sizes.get_packed_uint64())
          json.value(static_cast<std::int64_t>(size));
      } else if (sizes.tag() == 1 && sizes.wire_type() == protozero::pbf_wire_type::varint) {
        json.value(static_cast<std::int64_t>(sizes.get_uint64()));
      } else {
        sizes.skip();
      }
    }
    json.end_array();
  });
}

void write_types(std::string_view list, JsonWriter& json) {
  each_message(list, 1, [&](std::string_view type) { json.value(type); });
}

}  // namespace

bool DumpMessages::take_times(std::uint64_t start, std::uint64_t end, PaddleSlice& slice) {
  if (start > static_cast<std::uint64_t>(kMaxTime)) {
    losses().add("time_unusable", Severity::Warning,
                 "Events whose time is no number that a clock can show; they were passed over.");
    return false;
  }
  if (end < start || end - start > static_cast<std::uint64_t>(kMaxDuration)) {
    losses().add("duration_unusable", Severity::Warning,
                 "Events that end before they begin, or last longer than ten years; they are kept "
                 "with 0.");
    end = start;
  }
  slice.start = slice.at = static_cast<Nanos>(start);
  slice.duration = static_cast<Nanos>(end - start);
  slice.end = slice.start + slice.duration;
  return true;
}

bool DumpMessages::read_host_node(std::string_view message, std::uint64_t thread) try {
  const Fields node(message);
  if (!node.has(3)) return false;
  const bool root = node.id(2) < 0;
  if (root)
    assembler_.begin_thread();
  else
    add_host(message, node.text(3), thread);
  each_message(message, 4, [&](std::string_view call) { read_call_node(call); });
  each_message(message, 5, [&](std::string_view wrapped) {
    each_message(wrapped, 1, [&](std::string_view memory) { read_memory(memory); });
  });
  return true;
} catch (const protozero::exception&) {
  return false;
}

void DumpMessages::add_host(std::string_view message, std::string_view event,
                            std::uint64_t thread) {
  ++events_;
  const Fields in(event);
  OperatorRow row;
  each_message(message, 6, [&](std::string_view wrapped) {
    each_message(wrapped, 1,
                 [&](std::string_view supplement) { read_supplement(supplement, row); });
  });
  PaddleSlice slice;
  if (!take_times(in.number(3), in.number(4), slice)) return;
  const PaddleEventType known = type_of(in.number(2));
  slice.name = assembler_.intern(in.text(1));
  slice.kind = known.kind;
  slice.track = assembler_.thread(in.id(5), static_cast<std::int64_t>(thread));
  if (known.keeps_name) {
    slice.category = assembler_.intern(known.name.empty() ? "type " + std::to_string(in.number(2))
                                                          : std::string(known.name));
  }
  if (known.name.empty()) {
    losses().add("unknown_category", Severity::Info,
                 "Events of a type that Sonde does not know; they are kept under their own name.");
  }
  if (is_device_work(known.kind) || known.kind == SliceKind::Runtime) {
    losses().add("type_on_the_wrong_side", Severity::Warning,
                 "Host events of a type that only devices and calls have; they are kept as user "
                 "ranges.");
    slice.kind = SliceKind::UserRange;
    slice.category = assembler_.intern(known.name);
  }
  assembler_.add_host(slice, &row);
}

void DumpMessages::read_call_node(std::string_view message) {
  const Fields in(Fields(message).text(1));
  ++events_;
  LaunchRow row;
  if (in.has(6)) row.correlation = in.id(6);
  if (in.has(7)) row.cbid = in.id(7);
  PaddleSlice slice;
  if (take_times(in.number(2), in.number(3), slice)) {
    slice.kind = SliceKind::Runtime;
    slice.name = assembler_.intern(in.text(1));
    slice.track = assembler_.thread(in.id(4), in.id(5));
    assembler_.add_call(slice, row);
  }
  each_message(message, 2, [&](std::string_view wrapped) {
    each_message(wrapped, 1, [&](std::string_view event) { read_device_event(event); });
  });
}

void DumpMessages::read_device_event(std::string_view message) {
  const Fields in(message);
  ++events_;
  PaddleSlice slice;
  if (!take_times(in.number(3), in.number(4), slice)) return;
  DeviceRow row;
  row.device = in.small(5);
  row.context = in.small(6);
  if (in.has(7)) row.stream = in.id(7);
  if (in.has(8)) row.correlation = in.id(8);
  if (in.has(9)) read_kernel_info(in.text(9), row);
  if (in.has(10)) row.bytes = byte_count(in.text(10));
  if (in.has(11)) row.bytes = byte_count(in.text(11));
  const SliceKind kind = type_of(in.number(2)).kind;
  slice.kind = is_device_work(kind) ? kind : SliceKind::Kernel;
  slice.name = assembler_.intern(in.text(1));
  slice.track = assembler_.stream(row.device, row.stream == kNoNumber ? 0 : row.stream);
  if (slice.kind == SliceKind::Memcpy && row.bytes != kNoNumber && slice.duration > 0)
    row.bandwidth =
        static_cast<float>(static_cast<double>(row.bytes) / static_cast<double>(slice.duration));
  assembler_.add_device_work(slice, row);
}

void DumpMessages::read_memory(std::string_view message) {
  const Fields in(message);
  ++events_;
  if (!in.has(2) || in.number(2) >= kPaddleMemoryTypes.size() ||
      in.number(1) > static_cast<std::uint64_t>(kMaxTime)) {
    losses().add("memory_unusable", Severity::Warning,
                 "Memory events of an unknown type or without a time; they were passed over.");
    return;
  }
  PaddleMemory memory;
  memory.time = in.id(1);
  memory.type = static_cast<std::uint8_t>(in.number(2));
  memory.address = in.number(3);
  memory.track = assembler_.thread(in.id(4), in.id(5));
  memory.bytes = in.id(6);
  memory.place = assembler_.intern(in.text(7));
  memory.allocated = in.id(8);
  memory.reserved = in.id(9);
  memory.peak_allocated = in.id(10);
  memory.peak_reserved = in.id(11);
  assembler_.add_memory(memory);
}

void DumpMessages::read_supplement(std::string_view message, OperatorRow& row) {
  const Fields in(message);
  OperatorInputs inputs;
  const std::string shapes = lists_by_key(in.text(5), write_shapes);
  if (!shapes.empty()) inputs.shapes = assembler_.intern(shapes);
  const std::string types = lists_by_key(in.text(6), write_types);
  if (!types.empty()) inputs.types = assembler_.intern(types);
  const std::string stack = paddle_stack(in.text(7));
  if (!stack.empty()) row.stack = assembler_.intern(stack);
  if (inputs.shapes.valid() || inputs.types.valid())
    row.inputs = assembler_.builder().intern_inputs(inputs);
}

bool DumpMessages::read_extra_info(std::string_view message) try {
  const Fields in(message);
  const std::string_view key = in.text(1);
  std::int64_t tid = 0;
  const auto parsed = std::from_chars(key.data(), key.data() + key.size(), tid);
  if (!key.empty() && parsed.ec == std::errc() && parsed.ptr == key.data() + key.size())
    assembler_.name_thread(tid, in.text(2));
  else
    assembler_.add_property(key, in.text(2));
  return true;
} catch (const protozero::exception&) {
  return false;
}

bool DumpMessages::read_device(std::string_view message) try {
  const Fields in(message);
  Device device;
  device.id = in.id(1);
  device.name = assembler_.builder().text(assembler_.intern(in.text(2)));
  device.memory_bytes = std::max<std::int64_t>(0, in.id(3));
  device.compute_major = in.id(4);
  device.compute_minor = in.id(5);
  device.max_threads_per_multiprocessor = in.id(7);
  device.warp_size = in.id(10);
  device.multiprocessors = in.id(13);
  assembler_.builder().meta().devices.push_back(std::move(device));
  return true;
} catch (const protozero::exception&) {
  return false;
}

}  // namespace sonde
