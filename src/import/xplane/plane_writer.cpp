#include "import/xplane/plane_writer.hpp"

#include <algorithm>
#include <bit>
#include <protozero/pbf_reader.hpp>

#include "base/json_writer.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

constexpr std::size_t kMaxProperties = 1000;
constexpr std::size_t kMaxPropertyBytes = 4096;

// Picoseconds as whole nanoseconds, the nearest ones.
Nanos to_nanos(std::int64_t ps) { return ps / 1000 + (ps % 1000 >= 500) - (ps % 1000 < -500); }

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, is_utf8(text) ? std::string(text) : mend_utf8(text));
  return out;
}

std::string json_value(const StatValue& value) {
  switch (value.type) {
    case StatValue::Type::Unsigned:
      return std::to_string(static_cast<std::uint64_t>(value.integer));
    case StatValue::Type::Real: {
      JsonWriter json;
      json.value(value.real);
      return json.take();
    }
    case StatValue::Type::Text:
      return json_text(value.text.substr(0, kMaxPropertyBytes));
    case StatValue::Type::Bytes:
      return json_text(std::to_string(value.text.size()) + " bytes");
    case StatValue::Type::Integer:
    case StatValue::Type::None:
      break;
  }
  return std::to_string(value.integer);
}

}  // namespace

const StatKey& PlaneWriter::stat_key(const PlaneData& plane, std::int64_t id) {
  if (const std::uint32_t* at = plane.stat_names_by_id.find(static_cast<std::uint64_t>(id))) {
    std::optional<StatKey>& key = stat_keys_[*at];
    if (!key) key = events_.key(plane.stat_names[*at]);
    return *key;
  }
  // Without a name its number has to do.
  const auto next = static_cast<std::uint32_t>(unnamed_key_list_.size());
  const std::uint32_t at = unnamed_keys_.get_or_insert(static_cast<std::uint64_t>(id), next);
  if (at == next) unnamed_key_list_.push_back(events_.key("stat " + std::to_string(id)));
  return unnamed_key_list_[at];
}

bool PlaneWriter::resolve(const PlaneData& plane, const RawStat& raw, Stat& out) {
  out.key = stat_key(plane, raw.metadata_id);
  out.value = {};
  out.value.type = raw.type;
  out.value.text = raw.text;
  out.value.integer = static_cast<std::int64_t>(raw.bits);
  if (raw.type == StatValue::Type::Real) out.value.real = std::bit_cast<double>(raw.bits);
  if (!raw.is_reference) return true;
  const std::uint32_t* at = plane.stat_names_by_id.find(raw.bits);
  if (at == nullptr) {
    builder_.losses().add("unknown_text", Severity::Warning,
                          "Arguments whose text is not in the file; they are passed over.");
    return false;
  }
  StringId& text = stat_texts_[*at];
  if (!text.valid()) text = events_.text(plane.stat_names[*at]);
  out.value.text_id = text;
  out.value.text = builder_.text(text);
  return true;
}

const EventType& PlaneWriter::event_type(const PlaneData& plane, std::int64_t id) {
  const std::uint32_t* at = plane.event_metadata_by_id.find(static_cast<std::uint64_t>(id));
  if (at == nullptr) {
    builder_.losses().add("unnamed_event", Severity::Warning,
                          "Events whose name is not in the file.");
    if (!unnamed_type_) unnamed_type_ = events_.make_type("(no name)", {});
    return *unnamed_type_;
  }
  std::optional<EventType>& type = types_[*at];
  if (type) return *type;
  const EventMetadata& metadata = plane.event_metadata[*at];
  type = events_.make_type(metadata.name, metadata.display_name);
  const char* begin = metadata.stats.data();
  const char* const end = begin + metadata.stats.size();
  while (begin < end) {
    const std::uint64_t size = protozero::decode_varint(&begin, end);
    Stat stat;
    if (resolve(plane, parse_stat({begin, static_cast<std::size_t>(size)}), stat))
      type->stats.push_back(stat);
    begin += size;
  }
  return *type;
}

void PlaneWriter::write_event(PlaneData& plane, const LineHead& line, std::string_view message) {
  using protozero::pbf_wire_type;
  using protozero::tag_and_type;
  RawEvent event;
  stats_.clear();
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case tag_and_type(1, pbf_wire_type::varint):
          event.metadata_id = reader.get_int64();
          break;
        case tag_and_type(2, pbf_wire_type::varint):
          event.offset_ps = reader.get_int64();
          break;
        case tag_and_type(3, pbf_wire_type::varint):
          event.duration_ps = reader.get_int64();
          break;
        case tag_and_type(4, pbf_wire_type::length_delimited): {
          const protozero::data_view view = reader.get_view();
          Stat stat;
          if (resolve(plane, parse_stat({view.data(), view.size()}), stat)) stats_.push_back(stat);
          break;
        }
        case tag_and_type(5, pbf_wire_type::varint):
          event.occurrences = reader.get_int64();
          break;
        default:
          reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    builder_.losses().add("bad_event", Severity::Warning, "Damaged events; they are passed over.");
    return;
  }
  if (event.occurrences > 0) {
    builder_.losses().add(
        "aggregated_event", Severity::Warning,
        "Events that are sums over many, without a place in time; they are passed over.");
    return;
  }
  if (event.duration_ps < 0) {
    builder_.losses().add("negative_duration", Severity::Warning,
                          "Events with a negative duration; they are kept with 0.");
    event.duration_ps = 0;
  }
  const Nanos offset = to_nanos(event.offset_ps);
  std::int64_t end_ps = 0;
  const bool too_long = __builtin_add_overflow(event.offset_ps, event.duration_ps, &end_ps);
  const bool in_range = line.timestamp_ns >= -kMaxTime / 2 && line.timestamp_ns <= kMaxTime / 2;
  if (too_long || !in_range) {
    builder_.losses().add("bad_time", Severity::Warning,
                          "Events at a time that no clock shows; they are passed over.");
    return;
  }
  // Both ends are rounded, so that what lies within another event still does.
  const Nanos duration = to_nanos(end_ps) - offset;
  events_.add(event_type(plane, event.metadata_id), line.timestamp_ns + offset, duration,
              event.duration_ps, stats_);
}

void PlaneWriter::add_property(std::string key, const StatValue& value) {
  auto& properties = builder_.meta().properties;
  if (properties.size() >= kMaxProperties) {
    ++facts_.properties_left_out;
    return;
  }
  properties.emplace_back(is_utf8(key) ? std::move(key) : mend_utf8(key), json_value(value));
}

void PlaneWriter::describe_device(const PlaneData& plane, PlaneKind kind) {
  TraceMeta& meta = builder_.meta();
  Device device;
  device.id = kind.device;
  for (const Device& known : meta.devices) {
    if (known.id == device.id) return;
  }
  std::string vendor;
  for (const std::string& message : plane.stats) {
    Stat stat;
    if (!resolve(plane, parse_stat(message), stat)) continue;
    const std::string_view name = builder_.text(stat.key.key);
    if (name == "gpu_device_name" || name == "device_type_string")
      device.name = stat.value.text;
    else if (name == "memory_size")
      device.memory_bytes = stat.value.whole(0);
    else if (name == "core_count")
      device.multiprocessors = stat.value.whole(0);
    else if (name == "compute_cap_major")
      device.compute_major = stat.value.whole(0);
    else if (name == "compute_cap_minor")
      device.compute_minor = stat.value.whole(0);
    else if (name == "device_vendor")
      vendor = stat.value.text;
  }
  if (!is_utf8(device.name)) device.name = mend_utf8(device.name);
  if (device.name.empty()) device.name = kind.type == PlaneType::Tpu ? "TPU" : "GPU";
  meta.device_family = kind.type == PlaneType::Tpu ? "TPU" : vendor == "AMD" ? "ROCm" : "CUDA";
  meta.devices.push_back(std::move(device));
}

void PlaneWriter::describe(PlaneData& plane) {
  const PlaneKind kind = plane_kind(plane.name);
  if (kind.device >= 0) describe_device(plane, kind);
  for (const std::string& message : plane.stats) {
    Stat stat;
    if (!resolve(plane, parse_stat(message), stat)) continue;
    const std::string_view name = builder_.text(stat.key.key);
    if (plane.name == "Task Environment" && name == "profile_start_time")
      facts_.start_time = stat.value.whole(kNoNumber);
    if (name == "jax_version") facts_.jax_version = stat.value.text;
    if (name == "tensorflow_version" || name == "tf_version")
      facts_.tensorflow_version = stat.value.text;
    add_property(plane.name + " " + std::string(name), stat.value);
  }
  if (plane.programs > 0) {
    builder_.losses().add(
        "hlo_program", Severity::Info,
        "Compiled programs (HLO) in the file; their names are kept, their code is "
        "not read.",
        plane.programs);
  }
  // Names without a single event: the list of compiled programs.
  if (!plane.lines.empty()) return;
  for (const EventMetadata& metadata : plane.event_metadata) {
    StatValue value;
    value.type = StatValue::Type::Text;
    value.text = metadata.name;
    add_property(plane.name + " name", value);
  }
}

void PlaneWriter::begin(PlaneData& plane) {
  stat_keys_.assign(plane.stat_names.size(), {});
  stat_texts_.assign(plane.stat_names.size(), {});
  types_.assign(plane.event_metadata.size(), {});
  unnamed_keys_ = {};
  unnamed_key_list_.clear();

  std::int64_t process = 0;
  const bool has_step_numbers = std::find(plane.stat_names.begin(), plane.stat_names.end(),
                                          "step_num") != plane.stat_names.end();
  try {
    describe(plane);
    for (const std::string& message : plane.stats) {
      Stat stat;
      if (resolve(plane, parse_stat(message), stat) && builder_.text(stat.key.key) == "process_id")
        process = stat.value.whole(0);
    }
  } catch (const protozero::exception&) {
    builder_.losses().add(
        "bad_name", Severity::Warning,
        "Names of events or statistics that are damaged; what they name has none.");
  }
  events_.begin_plane(plane.name, process, has_step_numbers);
}

void PlaneWriter::begin_line(const LineHead& line) {
  events_.begin_line(line.id, line.display_name.empty() ? line.name : line.display_name);
}

void PlaneWriter::end() {
  stat_keys_.clear();
  types_.clear();
}

void PlaneWriter::write(PlaneData& plane, double done) {
  begin(plane);
  for (const LineHead& line : plane.lines) {
    begin_line(line);
    builder_.make_room(line.events, 0, 0, 0, done);
    plane.events.take(line.events,
                      [&](std::string_view message) { write_event(plane, line, message); });
  }
  end();
}

}  // namespace sonde
