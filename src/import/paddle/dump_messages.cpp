#include "import/paddle/dump_messages.hpp"

#include <algorithm>
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

// Any number, however it was written; other fields are passed over.
std::uint64_t number_of(pbf_reader& in) {
  switch (in.wire_type()) {
    case protozero::pbf_wire_type::varint:
      return in.get_uint64();
    case protozero::pbf_wire_type::fixed64:
      return in.get_fixed64();
    case protozero::pbf_wire_type::fixed32:
      return in.get_fixed32();
    default:
      in.skip();
      return 0;
  }
}

float float_of(pbf_reader& in) {
  if (in.wire_type() == protozero::pbf_wire_type::fixed32) {
    const float value = in.get_float();
    return value >= 0 && value < 1e30f ? value : -1;
  }
  in.skip();
  return -1;
}

bool is_message(const pbf_reader& in) {
  return in.wire_type() == protozero::pbf_wire_type::length_delimited;
}

std::int32_t small(std::uint64_t value) {
  return value <= INT32_MAX ? static_cast<std::int32_t>(value) : -1;
}

std::int64_t id_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

PaddleEventType type_of(std::uint64_t number) {
  if (number < kPaddleEventTypes.size()) return kPaddleEventTypes[number];
  return {"", SliceKind::UserRange, true};
}

void read_kernel_info(std::string_view message, DeviceRow& row) {
  std::uint64_t shared = 0;
  bool has_shared = false;
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    const auto tag = in.tag();
    if (tag >= 1 && tag <= 3) {
      row.block[tag - 1] = small(number_of(in));
    } else if (tag >= 4 && tag <= 6) {
      row.grid[tag - 4] = small(number_of(in));
    } else if (tag == 7 || tag == 8) {
      shared += number_of(in);
      has_shared = true;
    } else if (tag == 9) {
      row.registers = small(number_of(in));
    } else if (tag == 15) {
      row.blocks_per_sm = float_of(in);
    } else if (tag == 16) {
      row.warps_per_sm = float_of(in);
    } else if (tag == 17) {
      const float fraction = float_of(in);
      row.occupancy = fraction < 0 ? -1 : fraction * 100;
    } else {
      in.skip();
    }
  }
  if (has_shared) row.shared_memory = small(shared);
}

// The first field of copies and memsets.
std::int64_t byte_count(std::string_view message) {
  std::int64_t bytes = kNoNumber;
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    if (in.tag() == 1)
      bytes = id_of(number_of(in));
    else
      in.skip();
  }
  return bytes < 0 ? kNoNumber : bytes;
}

// {repeated key(1), repeated list(2){…}} as JSON: {"x": [[8, 16]]}. `write_list` writes one list.
template <class WriteList>
std::string lists_by_key(std::string_view message, WriteList write_list) {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> lists;
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    if (in.tag() == 1 && is_message(in))
      keys.push_back(view_of(in));
    else if (in.tag() == 2 && is_message(in))
      lists.push_back(view_of(in));
    else
      in.skip();
  }
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
  for (pbf_reader in(list.data(), list.size()); in.next();) {
    if (in.tag() != 1 || !is_message(in)) {
      in.skip();
      continue;
    }
    const std::string_view shape = view_of(in);
    json.begin_array();
    for (pbf_reader sizes(shape.data(), shape.size()); sizes.next();) {
      if (sizes.tag() == 1 && is_message(sizes)) {
        for (const std::uint64_t size : sizes.get_packed_uint64()) json.value(id_of(size));
      } else if (sizes.tag() == 1) {
        json.value(id_of(number_of(sizes)));
      } else {
        sizes.skip();
      }
    }
    json.end_array();
  }
}

void write_types(std::string_view list, JsonWriter& json) {
  for (pbf_reader in(list.data(), list.size()); in.next();) {
    if (in.tag() == 1 && is_message(in))
      json.value(view_of(in));
    else
      in.skip();
  }
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
  bool root = false;
  bool has_event = false;
  std::string_view name;
  std::uint64_t type = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t pid = 0;
  OperatorRow row;
  std::vector<std::string_view> calls;
  std::vector<std::string_view> memory;
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    if (in.tag() == 2) {
      root = id_of(number_of(in)) < 0;
    } else if (in.tag() == 3 && is_message(in)) {
      has_event = true;
      for (pbf_reader event = in.get_message(); event.next();) {
        switch (event.tag()) {
          case 1:
            if (is_message(event))
              name = view_of(event);
            else
              event.skip();
            break;
          case 2:
            type = number_of(event);
            break;
          case 3:
            start = number_of(event);
            break;
          case 4:
            end = number_of(event);
            break;
          case 5:
            pid = number_of(event);
            break;
          default:
            event.skip();
        }
      }
    } else if (in.tag() == 4 && is_message(in)) {
      calls.push_back(view_of(in));
    } else if (in.tag() == 5 && is_message(in)) {
      memory.push_back(view_of(in));
    } else if (in.tag() == 6 && is_message(in)) {
      for (pbf_reader node = in.get_message(); node.next();) {
        if (node.tag() == 1 && is_message(node))
          read_supplement(view_of(node), row);
        else
          node.skip();
      }
    } else {
      in.skip();
    }
  }
  if (!has_event) return false;
  if (root) {
    assembler_.begin_thread();
  } else {
    ++events_;
    PaddleSlice slice;
    if (take_times(start, end, slice)) {
      const PaddleEventType known = type_of(type);
      slice.name = assembler_.intern(name);
      slice.kind = known.kind;
      slice.track = assembler_.thread(id_of(pid), id_of(thread));
      if (known.keeps_name)
        slice.category = assembler_.intern(known.name.empty() ? "type " + std::to_string(type)
                                                              : std::string(known.name));
      if (is_device_work(known.kind) || known.kind == SliceKind::Runtime) {
        losses().add("type_on_the_wrong_side", Severity::Warning,
                     "Host events of a type that only devices and calls have; they are kept as "
                     "user ranges.");
        slice.kind = SliceKind::UserRange;
        slice.category = assembler_.intern(known.name);
      }
      if (known.name.empty()) {
        losses().add(
            "unknown_category", Severity::Info,
            "Events of a type that Sonde does not know; they are kept under their own name.");
      }
      assembler_.add_host(slice, &row);
    }
  }
  for (const std::string_view call : calls) read_call_node(call);
  for (const std::string_view node : memory) {
    for (pbf_reader in(node.data(), node.size()); in.next();) {
      if (in.tag() == 1 && is_message(in))
        read_memory(view_of(in));
      else
        in.skip();
    }
  }
  return true;
} catch (const protozero::exception&) {
  return false;
}

void DumpMessages::read_call_node(std::string_view message) {
  std::string_view name;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t pid = 0;
  std::uint64_t tid = 0;
  LaunchRow row;
  std::vector<std::string_view> devices;
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    if (in.tag() == 1 && is_message(in)) {
      for (pbf_reader event = in.get_message(); event.next();) {
        if (event.tag() == 1 && is_message(event))
          name = view_of(event);
        else if (event.tag() == 2)
          start = number_of(event);
        else if (event.tag() == 3)
          end = number_of(event);
        else if (event.tag() == 4)
          pid = number_of(event);
        else if (event.tag() == 5)
          tid = number_of(event);
        else if (event.tag() == 6)
          row.correlation = id_of(number_of(event));
        else if (event.tag() == 7)
          row.cbid = id_of(number_of(event));
        else
          event.skip();
      }
    } else if (in.tag() == 2 && is_message(in)) {
      devices.push_back(view_of(in));
    } else {
      in.skip();
    }
  }
  ++events_;
  PaddleSlice slice;
  if (take_times(start, end, slice)) {
    slice.kind = SliceKind::Runtime;
    slice.name = assembler_.intern(name);
    slice.track = assembler_.thread(id_of(pid), id_of(tid));
    assembler_.add_call(slice, row);
  }
  for (const std::string_view node : devices) {
    for (pbf_reader in(node.data(), node.size()); in.next();) {
      if (in.tag() == 1 && is_message(in))
        read_device_event(view_of(in));
      else
        in.skip();
    }
  }
}

void DumpMessages::read_device_event(std::string_view message) {
  std::string_view name;
  std::uint64_t type = 4;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  DeviceRow row;
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    switch (in.tag()) {
      case 1:
        if (is_message(in))
          name = view_of(in);
        else
          in.skip();
        break;
      case 2:
        type = number_of(in);
        break;
      case 3:
        start = number_of(in);
        break;
      case 4:
        end = number_of(in);
        break;
      case 5:
        row.device = small(number_of(in));
        break;
      case 6:
        row.context = small(number_of(in));
        break;
      case 7:
        row.stream = id_of(number_of(in));
        break;
      case 8:
        row.correlation = id_of(number_of(in));
        break;
      case 9:
        if (is_message(in))
          read_kernel_info(view_of(in), row);
        else
          in.skip();
        break;
      case 10:
      case 11:
        if (is_message(in))
          row.bytes = byte_count(view_of(in));
        else
          in.skip();
        break;
      default:
        in.skip();
    }
  }
  ++events_;
  PaddleSlice slice;
  if (!take_times(start, end, slice)) return;
  const PaddleEventType known = type_of(type);
  slice.kind = is_device_work(known.kind) ? known.kind : SliceKind::Kernel;
  slice.name = assembler_.intern(name);
  slice.track = assembler_.stream(row.device, row.stream == kNoNumber ? 0 : row.stream);
  if (slice.kind == SliceKind::Memcpy && row.bytes != kNoNumber && slice.duration > 0)
    row.bandwidth =
        static_cast<float>(static_cast<double>(row.bytes) / static_cast<double>(slice.duration));
  assembler_.add_device_work(slice, row);
}

void DumpMessages::read_memory(std::string_view message) {
  PaddleMemory memory;
  std::uint64_t time = 0;
  std::uint64_t type = UINT64_MAX;
  std::uint64_t pid = 0;
  std::uint64_t tid = 0;
  std::string_view place;
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    switch (in.tag()) {
      case 1:
        time = number_of(in);
        break;
      case 2:
        type = number_of(in);
        break;
      case 3:
        memory.address = number_of(in);
        break;
      case 4:
        pid = number_of(in);
        break;
      case 5:
        tid = number_of(in);
        break;
      case 6:
        memory.bytes = id_of(number_of(in));
        break;
      case 7:
        if (is_message(in))
          place = view_of(in);
        else
          in.skip();
        break;
      case 8:
        memory.allocated = id_of(number_of(in));
        break;
      case 9:
        memory.reserved = id_of(number_of(in));
        break;
      case 10:
        memory.peak_allocated = id_of(number_of(in));
        break;
      case 11:
        memory.peak_reserved = id_of(number_of(in));
        break;
      default:
        in.skip();
    }
  }
  ++events_;
  if (type >= kPaddleMemoryTypes.size() || time > static_cast<std::uint64_t>(kMaxTime)) {
    losses().add("memory_unusable", Severity::Warning,
                 "Memory events of an unknown type or without a time; they were passed over.");
    return;
  }
  memory.type = static_cast<std::uint8_t>(type);
  memory.time = static_cast<Nanos>(time);
  memory.track = assembler_.thread(id_of(pid), id_of(tid));
  memory.place = assembler_.intern(place);
  assembler_.add_memory(memory);
}

void DumpMessages::read_supplement(std::string_view message, OperatorRow& row) {
  OperatorInputs inputs;
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    if (in.tag() == 5 && is_message(in)) {
      const std::string shapes = lists_by_key(view_of(in), write_shapes);
      if (!shapes.empty()) inputs.shapes = assembler_.intern(shapes);
    } else if (in.tag() == 6 && is_message(in)) {
      const std::string types = lists_by_key(view_of(in), write_types);
      if (!types.empty()) inputs.types = assembler_.intern(types);
    } else if (in.tag() == 7 && is_message(in)) {
      const std::string stack = paddle_stack(view_of(in));
      if (!stack.empty()) row.stack = assembler_.intern(stack);
    } else {
      in.skip();
    }
  }
  if (inputs.shapes.valid() || inputs.types.valid())
    row.inputs = assembler_.builder().intern_inputs(inputs);
}

bool DumpMessages::read_extra_info(std::string_view message) try {
  std::string_view key;
  std::string_view value;
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    if (in.tag() == 1 && is_message(in))
      key = view_of(in);
    else if (in.tag() == 2 && is_message(in))
      value = view_of(in);
    else
      in.skip();
  }
  std::int64_t tid = 0;
  const auto parsed = std::from_chars(key.data(), key.data() + key.size(), tid);
  if (!key.empty() && parsed.ec == std::errc() && parsed.ptr == key.data() + key.size())
    assembler_.name_thread(tid, value);
  else
    assembler_.add_property(key, value);
  return true;
} catch (const protozero::exception&) {
  return false;
}

bool DumpMessages::read_device(std::string_view message) try {
  Device device;
  for (pbf_reader in(message.data(), message.size()); in.next();) {
    switch (in.tag()) {
      case 1:
        device.id = id_of(number_of(in));
        break;
      case 2:
        if (is_message(in))
          device.name = assembler_.builder().text(assembler_.intern(view_of(in)));
        else
          in.skip();
        break;
      case 3:
        device.memory_bytes = std::max<std::int64_t>(0, id_of(number_of(in)));
        break;
      case 4:
        device.compute_major = id_of(number_of(in));
        break;
      case 5:
        device.compute_minor = id_of(number_of(in));
        break;
      case 7:
        device.max_threads_per_multiprocessor = id_of(number_of(in));
        break;
      case 10:
        device.warp_size = id_of(number_of(in));
        break;
      case 13:
        device.multiprocessors = id_of(number_of(in));
        break;
      default:
        in.skip();
    }
  }
  assembler_.builder().meta().devices.push_back(std::move(device));
  return true;
} catch (const protozero::exception&) {
  return false;
}

}  // namespace sonde
