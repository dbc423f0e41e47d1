// What a packet with an event of a track says.

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "import/perfetto/packet_reader.hpp"
#include "import/perfetto/wire.hpp"

namespace sonde::perfetto_import {
namespace {

enum EventType : int { kUnspecified = 0, kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

double double_of_bits(std::string_view eight_bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = 8; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(eight_bytes[i]);
  return std::bit_cast<double>(bits);
}

}  // namespace

void PacketReader::read_event(const Packet& packet, Sequence& sequence) {
  event_.name = builder_.intern("");
  event_.category = StringId();
  event_.stack = StringId();
  event_.frames = StackId();
  event_.arguments.clear();
  event_.flows.clear();
  categories_.clear();
  counter_tracks_.clear();
  double_counter_tracks_.clear();
  counter_values_.clear();
  double_counter_values_.clear();
  ++event_count_;

  std::optional<std::uint64_t> track = sequence.track;
  int type = kUnspecified;
  double value = 0;
  bool has_value = false;
  bool other_time = false;
  const auto add_category = [&](std::string_view text) {
    if (!categories_.empty()) categories_ += ',';
    categories_ += text;
  };
  const auto category_iid = [&](std::uint64_t iid) {
    const StringId text = sequence.text(InternTable::Categories, iid);
    if (text.valid()) add_category(builder_.text(text));
  };
  std::vector<std::uint64_t> numbers;
  protozero::pbf_reader event(packet.payload.data(), packet.payload.size());
  while (event.next()) {
    switch (event.tag_and_type()) {
      case varint(9):
        type = event.get_enum();
        break;
      case varint(11):
        track = event.get_uint64();
        break;
      case bytes(23):
        event_.name = names_.intern(text_of(event));
        break;
      case varint(10):
        event_.name = sequence.text(InternTable::EventNames, event.get_uint64());
        if (!event_.name.valid()) {
          lose("unknown_names", Severity::Warning,
               "Events whose name is not in the file; they are called \"(unknown)\".");
          event_.name = builder_.intern("(unknown)");
        }
        break;
      case bytes(22):
        add_category(text_of(event));
        break;
      case varint(3):
        category_iid(event.get_uint64());
        break;
      case bytes(3):
        numbers.clear();
        append_varints(text_of(event), numbers);
        for (const std::uint64_t iid : numbers) category_iid(iid);
        break;
      case bytes(4):
        if (!read_annotation(text_of(event), sequence, names_, builder_, event_.arguments)) {
          lose("unknown_annotations", Severity::Info,
               "Arguments of a sort that Sonde does not know; they are left out.");
        }
        break;
      case varint(30):
        value = static_cast<double>(event.get_int64());
        has_value = true;
        break;
      case fixed64(44):
        value = event.get_double();
        has_value = true;
        break;
      case varint(31):
        counter_tracks_.push_back(event.get_uint64());
        break;
      case bytes(31):
        append_varints(text_of(event), counter_tracks_);
        break;
      case varint(12):
        counter_values_.push_back(event.get_uint64());
        break;
      case bytes(12):
        append_varints(text_of(event), counter_values_);
        break;
      case varint(45):
        double_counter_tracks_.push_back(event.get_uint64());
        break;
      case bytes(45):
        append_varints(text_of(event), double_counter_tracks_);
        break;
      case fixed64(46):
        double_counter_values_.push_back(event.get_double());
        break;
      case bytes(46):
        for (std::string_view rest = text_of(event); rest.size() >= 8; rest.remove_prefix(8)) {
          double_counter_values_.push_back(double_of_bits(rest));
        }
        break;
      case fixed64(47):
      case fixed64(48):
        event_.flows.push_back({event.get_fixed64(), event.tag() == 48});
        break;
      case varint(36):
      case varint(42):
        event_.flows.push_back({event.get_uint64(), event.tag() == 42});
        break;
      case bytes(47):
      case bytes(48): {
        const bool ends = event.tag() == 48;
        for (const std::uint64_t id : event.get_packed_fixed64())
          event_.flows.push_back({id, ends});
        break;
      }
      case varint(52):
        event_.arguments.push_back(integer_argument(builder_.intern("correlation_id"),
                                                    static_cast<std::int64_t>(event.get_uint64())));
        break;
      case bytes(55):
        read_stack(text_of(event));
        break;
      case varint(56):
        event_.stack = sequence.stack_text(event.get_uint64(), builder_);
        break;
      case varint(34): {
        const auto found = sequence.locations.find(event.get_uint64());
        if (found == sequence.locations.end()) break;
        const SourceLocation& place = found->second;
        if (place.file.valid())
          event_.arguments.push_back(text_argument(builder_.intern("source file"), place.file));
        if (place.function.valid())
          event_.arguments.push_back(
              text_argument(builder_.intern("source function"), place.function));
        event_.arguments.push_back(integer_argument(builder_.intern("source line"), place.line));
        break;
      }
      case varint(1):
      case varint(16):
        other_time = true;
        event.skip();
        break;
      default:
        lose("event_fields", Severity::Info,
             "Fields of events that Sonde does not know; the events are read without them.");
        event.skip();
    }
  }
  if (!categories_.empty()) event_.category = names_.intern(categories_);
  if (other_time) {
    return lose("old_times", Severity::Warning,
                "Events with times in the old way (timestamp_delta_us); they are left out.");
  }
  const std::optional<Nanos> time =
      clocks_.to_trace(packet.timestamp, packet.clock.value_or(sequence.clock), packet.sequence);
  if (!time) {
    return lose("bad_time", Severity::Warning, "Events with impossible times; they are left out.");
  }
  event_.time = *time;
  event_.track = track.value_or(0);
  add_event(type, value, has_value);
  add_counters(sequence);
}

void PacketReader::read_stack(std::string_view message) {
  std::string out;
  protozero::pbf_reader stack(message.data(), message.size());
  while (stack.next(1, protozero::pbf_wire_type::length_delimited)) {
    protozero::pbf_reader frame = stack.get_message();
    std::string_view function;
    std::string_view file;
    std::uint32_t line = 0;
    while (frame.next()) {
      switch (frame.tag_and_type()) {
        case bytes(1):
          function = text_of(frame);
          break;
        case bytes(2):
          file = text_of(frame);
          break;
        case varint(3):
          line = frame.get_uint32();
          break;
        default:
          frame.skip();
      }
    }
    // The file has the outermost frame first.
    const std::int32_t known_line = line <= INT32_MAX ? static_cast<std::int32_t>(line) : 0;
    event_.frames =
        builder_.intern_stack({event_.frames, names_.intern(function),
                               file.empty() ? StringId() : names_.intern(file), known_line});
    std::string text(function);
    if (!file.empty()) text += " (" + std::string(file) + ':' + std::to_string(line) + ')';
    out = out.empty() ? text : text + ';' + out;
    constexpr std::size_t kMaxStack = 64 * 1024;
    if (out.size() > kMaxStack) break;
  }
  event_.stack = names_.intern(out);
}

void PacketReader::add_event(int type, double value, bool has_value) {
  switch (type) {
    case kBegin:
      return events_.begin_slice(event_);
    case kEnd:
      return events_.end_slice(event_);
    case kInstant:
      return events_.add_instant(event_);
    case kCounter:
      if (!has_value) {
        return lose("counters_without_value", Severity::Warning,
                    "Counter events without a value; they are left out.");
      }
      return events_.add_counter(event_, event_.track, value);
    default:
      return lose("old_events", Severity::Warning,
                  "Events of the old Chrome kind (legacy_event) or of none; they are left out.");
  }
}

// Counters that ride on another event.
void PacketReader::add_counters(const Sequence& sequence) {
  event_.arguments.clear();
  const auto& tracks = counter_tracks_.empty() ? sequence.counter_tracks : counter_tracks_;
  for (std::size_t i = 0; i < std::min(tracks.size(), counter_values_.size()); ++i) {
    events_.add_counter(event_, tracks[i],
                        static_cast<double>(static_cast<std::int64_t>(counter_values_[i])));
  }
  const auto& doubles =
      double_counter_tracks_.empty() ? sequence.double_counter_tracks : double_counter_tracks_;
  for (std::size_t i = 0; i < std::min(doubles.size(), double_counter_values_.size()); ++i) {
    events_.add_counter(event_, doubles[i], double_counter_values_[i]);
  }
}

}  // namespace sonde::perfetto_import
