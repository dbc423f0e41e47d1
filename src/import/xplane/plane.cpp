#include "import/xplane/plane.hpp"

#include <algorithm>
#include <cstring>
#include <protozero/pbf_reader.hpp>

#include "import/xplane/messages.hpp"

namespace sonde {
namespace {

constexpr std::size_t kPieceBytes = 1024 * 1024;

// What is kept of a binary value in a name's statistics; beyond it lie whole compiled programs.
constexpr std::size_t kMaxBinaryBytes = 4096;

void count_long(LossLedger& losses, std::uint64_t offset) {
  losses.add("long_message", Severity::Warning,
             "Events, names or statistics of more than 64 MiB; they are passed over.", 1, offset);
}

// The bytes of a field; false for a field that is passed over, or at the end of what can be read.
bool field_bytes(ProtoStream& stream, const ProtoField& field, std::uint64_t end,
                 std::string_view& out, LossLedger& losses) {
  if (field.wire_type != ProtoField::kBytes) {
    stream.skip_value(field, end);
    return false;
  }
  std::uint64_t size = 0;
  if (!stream.length(end, size)) return false;
  if (size > kMaxMessageBytes) {
    count_long(losses, stream.offset());
    stream.skip(size);
    return false;
  }
  return stream.bytes(size, out);
}

bool field_number(ProtoStream& stream, const ProtoField& field, std::uint64_t end,
                  std::int64_t& out) {
  if (field.wire_type != ProtoField::kVarint) return stream.skip_value(field, end);
  std::uint64_t value = 0;
  if (!stream.varint(value)) return false;
  out = static_cast<std::int64_t>(value);
  return true;
}

void read_line(ProtoStream& stream, std::uint64_t end, PlaneData& plane, LossLedger& losses,
               const VisitEvent& visit) {
  LineHead line;
  std::string_view bytes;
  ProtoField field;
  while (stream.next(end, field)) {
    switch (field.number) {
      case 1:
        field_number(stream, field, end, line.id);
        break;
      case 2:
        if (field_bytes(stream, field, end, bytes, losses)) line.name = bytes;
        break;
      case 3:
        field_number(stream, field, end, line.timestamp_ns);
        break;
      case 4:
        if (field_bytes(stream, field, end, bytes, losses)) {
          if (visit)
            visit(plane.lines.size(), bytes);
          else
            plane.events.append(bytes);
          ++line.events;
        }
        break;
      case 10:
        field_number(stream, field, end, line.display_id);
        break;
      case 11:
        if (field_bytes(stream, field, end, bytes, losses)) line.display_name = bytes;
        break;
      default:
        stream.skip_value(field, end);
    }
  }
  plane.lines.push_back(std::move(line));
}

// Key and value of a map's entry.
bool map_entry(std::string_view entry, std::int64_t& key, std::string_view& value) {
  using protozero::pbf_wire_type;
  using protozero::tag_and_type;
  protozero::pbf_reader reader(entry.data(), entry.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, pbf_wire_type::varint):
        key = reader.get_int64();
        break;
      case tag_and_type(2, pbf_wire_type::length_delimited): {
        const protozero::data_view view = reader.get_view();
        value = {view.data(), view.size()};
        break;
      }
      default:
        reader.skip();
    }
  }
  return true;
}

void append_message(std::string& out, std::string_view message) {
  std::uint64_t size = message.size();
  do {
    out += static_cast<char>((size & 0x7F) | (size > 0x7F ? 0x80 : 0));
    size >>= 7;
  } while (size > 0);
  out += message;
}

void add_event_metadata(std::string_view entry, PlaneData& plane) {
  using protozero::pbf_wire_type;
  using protozero::tag_and_type;
  std::int64_t id = 0;
  std::string_view value;
  if (!map_entry(entry, id, value)) return;
  EventMetadata metadata;
  protozero::pbf_reader reader(value.data(), value.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case tag_and_type(2, pbf_wire_type::length_delimited):
        metadata.name = reader.get_string();
        break;
      case tag_and_type(4, pbf_wire_type::length_delimited):
        metadata.display_name = reader.get_string();
        break;
      case tag_and_type(5, pbf_wire_type::length_delimited): {
        const protozero::data_view view = reader.get_view();
        const RawStat stat = parse_stat({view.data(), view.size()});
        if (stat.type == StatValue::Type::Bytes && stat.text.size() > kMaxBinaryBytes) {
          ++plane.programs;
          plane.program_bytes += stat.text.size();
        } else {
          append_message(metadata.stats, {view.data(), view.size()});
        }
        break;
      }
      default:
        reader.skip();
    }
  }
  plane.event_metadata_by_id.set(static_cast<std::uint64_t>(id),
                                 static_cast<std::uint32_t>(plane.event_metadata.size()));
  plane.event_metadata.push_back(std::move(metadata));
}

void add_stat_metadata(std::string_view entry, PlaneData& plane) {
  using protozero::pbf_wire_type;
  using protozero::tag_and_type;
  std::int64_t id = 0;
  std::string_view value;
  if (!map_entry(entry, id, value)) return;
  std::string name;
  protozero::pbf_reader reader(value.data(), value.size());
  while (reader.next()) {
    if (reader.tag_and_type() == tag_and_type(2, pbf_wire_type::length_delimited))
      name = reader.get_string();
    else
      reader.skip();
  }
  plane.stat_names_by_id.set(static_cast<std::uint64_t>(id),
                             static_cast<std::uint32_t>(plane.stat_names.size()));
  plane.stat_names.push_back(std::move(name));
}

}  // namespace

void MessageStore::append(std::string_view message) {
  const std::size_t needed = message.size() + sizeof(std::uint32_t);
  if (pieces_.empty() || pieces_.back().size - pieces_.back().used < needed) {
    const std::size_t size = std::max(kPieceBytes, needed);
    pieces_.push_back({std::unique_ptr<char[]>(new char[size]), size, 0});
  }
  Piece& piece = pieces_.back();
  const auto length = static_cast<std::uint32_t>(message.size());
  std::memcpy(piece.data.get() + piece.used, &length, sizeof length);
  if (!message.empty())
    std::memcpy(piece.data.get() + piece.used + sizeof length, message.data(), message.size());
  piece.used += needed;
  bytes_ += needed;
}

std::string_view MessageStore::take_one() {
  while (reading_ < pieces_.size() && read_ == pieces_[reading_].used) {
    pieces_[reading_].data.reset();
    ++reading_;
    read_ = 0;
  }
  if (reading_ >= pieces_.size()) return {};
  const char* const at = pieces_[reading_].data.get() + read_;
  std::uint32_t length = 0;
  std::memcpy(&length, at, sizeof length);
  read_ += sizeof length + length;
  return {at + sizeof length, length};
}

void read_plane(ProtoStream& stream, std::uint64_t end, PlaneData& plane, LossLedger& losses,
                const VisitEvent& visit) {
  std::string_view bytes;
  ProtoField field;
  while (stream.next(end, field)) {
    const std::uint64_t offset = stream.offset();
    try {
      switch (field.number) {
        case 1:
          field_number(stream, field, end, plane.id);
          break;
        case 2:
          if (field_bytes(stream, field, end, bytes, losses)) plane.name = bytes;
          break;
        case 3: {
          std::uint64_t size = 0;
          if (field.wire_type != ProtoField::kBytes)
            stream.skip_value(field, end);
          else if (stream.length(end, size))
            read_line(stream, stream.offset() + size, plane, losses, visit);
          break;
        }
        case 4:
          if (field_bytes(stream, field, end, bytes, losses)) add_event_metadata(bytes, plane);
          break;
        case 5:
          if (field_bytes(stream, field, end, bytes, losses)) add_stat_metadata(bytes, plane);
          break;
        case 6:
          if (field_bytes(stream, field, end, bytes, losses)) plane.stats.emplace_back(bytes);
          break;
        default:
          stream.skip_value(field, end);
      }
    } catch (const protozero::exception&) {
      losses.add("bad_name", Severity::Warning,
                 "Names of events or statistics that are damaged; what they name has none.", 1,
                 offset);
    }
  }
}

}  // namespace sonde
