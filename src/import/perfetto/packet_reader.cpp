#include "import/perfetto/packet_reader.hpp"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <string>

#include "import/perfetto/packet_stream.hpp"
#include "import/perfetto/wire.hpp"

namespace sonde::perfetto_import {
namespace {

// Packets about the recording itself: configuration, statistics, versions, markers.
bool is_administrative(std::uint32_t field) {
  constexpr std::uint32_t kFields[] = {33, 35, 36, 45,  46,  64,  69, 72,
                                       89, 94, 96, 106, 109, 110, 116};
  return std::find(std::begin(kFields), std::end(kFields), field) != std::end(kFields);
}

// Fields of every packet, which are no payload.
bool is_envelope(std::uint32_t field) {
  constexpr std::uint32_t kFields[] = {3, 8, 10, 12, 13, 41, 42, 58, 59, 76, 79, 87, 88, 98, 104};
  return std::find(std::begin(kFields), std::end(kFields), field) != std::end(kFields);
}

std::optional<std::string> inflate_bounded(std::string_view packed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  std::string out;
  std::vector<char> part(std::size_t{1} << 18);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int status = Z_OK;
  while (status == Z_OK && out.size() <= kMaxPacketBytes) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(part.data(), part.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || out.size() > kMaxPacketBytes) return std::nullopt;
  return out;
}

}  // namespace

void PacketReader::read(std::string_view packet, std::uint64_t offset) {
  offset_ = offset;
  try {
    read_packet(packet);
  } catch (const protozero::exception&) {
    lose(
        "broken_packets", Severity::Warning,
        "Packets whose content does not fit together; what could not be read of them is left out.");
  }
}

void PacketReader::read_packet(std::string_view bytes_of_packet) {
  Packet packet;
  protozero::pbf_reader reader(bytes_of_packet.data(), bytes_of_packet.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint(8):
        packet.timestamp = reader.get_uint64();
        break;
      case varint(10):
        packet.sequence = reader.get_uint32();
        break;
      case varint(13):
        packet.flags = reader.get_uint32();
        break;
      case varint(58):
        packet.clock = reader.get_uint32();
        break;
      case bytes(12):
        packet.interned = text_of(reader);
        packet.has_interned = true;
        break;
      case bytes(59):
        packet.defaults = text_of(reader);
        packet.has_defaults = true;
        break;
      case varint(42):
        if (reader.get_bool()) {
          lose("lost_by_recorder", Severity::Warning,
               "Gaps where the recorder could not keep packets; what was in them is not here.");
        }
        break;
      default:
        if (reader.wire_type() == protozero::pbf_wire_type::length_delimited &&
            !is_envelope(reader.tag())) {
          packet.field = reader.tag();
          packet.payload = text_of(reader);
        } else {
          reader.skip();
        }
    }
  }
  Sequence& sequence = sequences_[packet.sequence];
  constexpr std::uint32_t kCleared = 1;
  constexpr std::uint32_t kNeedsState = 2;
  if ((packet.flags & kCleared) != 0) {
    sequence = Sequence();
    sequence.valid = true;
  }
  if (packet.has_defaults) sequence.set_defaults(packet.defaults);
  if (packet.has_interned) sequence.add_interned(packet.interned, names_);
  if ((packet.flags & kNeedsState) != 0 && !sequence.valid) {
    return lose("packets_without_state", Severity::Warning,
                "Packets that refer to names from before the recording; they are left out.");
  }
  read_payload(packet, sequence);
}

void PacketReader::read_payload(const Packet& packet, Sequence& sequence) {
  switch (packet.field) {
    case 0:
      return;
    case 2:
      return tracks_.add_process_tree(packet.payload);
    case 6:
      return clocks_.add_snapshot(packet.payload, packet.sequence);
    case 11:
      return read_event(packet, sequence);
    case 50:
      return read_compressed(packet.payload);
    case 60:
      return tracks_.describe(packet.payload);
    case 1:
      return lose("ftrace_packets", Severity::Warning,
                  "Packets with events of the Linux kernel (ftrace); Sonde does not read these.");
    case 54:
    case 66:
      return lose("stack_sample_packets", Severity::Warning,
                  "Packets with stack samples; Sonde does not read these.");
    default:
      if (is_administrative(packet.field)) return;
      return lose("unknown_packets", Severity::Warning,
                  "Packets of a kind that Sonde does not read.");
  }
}

void PacketReader::read_compressed(std::string_view packed) {
  const std::optional<std::string> packets =
      in_compressed_ ? std::nullopt : inflate_bounded(packed);
  if (!packets) {
    return lose("broken_compression", Severity::Warning,
                "Packed packets that cannot be unpacked, or are larger than 64 MiB.");
  }
  in_compressed_ = true;
  const std::uint64_t offset = offset_;
  try {
    protozero::pbf_reader trace(packets->data(), packets->size());
    while (trace.next()) {
      if (trace.tag_and_type() == bytes(1))
        read(text_of(trace), offset);
      else
        trace.skip();
    }
  } catch (const protozero::exception&) {
    lose(
        "broken_packets", Severity::Warning,
        "Packets whose content does not fit together; what could not be read of them is left out.");
  }
  in_compressed_ = false;
}

void PacketReader::finish(unsigned threads) {
  events_.finish(threads);
  if (const auto offset = clocks_.wall_offset()) {
    builder_.meta().base_time = *offset;
    builder_.meta().wall_clock = true;
  }
}

}  // namespace sonde::perfetto_import
