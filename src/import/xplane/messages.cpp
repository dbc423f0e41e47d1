#include "import/xplane/messages.hpp"

#include <bit>
#include <protozero/pbf_reader.hpp>

namespace sonde {

RawStat parse_stat(std::string_view message) {
  using protozero::pbf_wire_type;
  using protozero::tag_and_type;
  using Type = StatValue::Type;
  RawStat out;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case tag_and_type(1, pbf_wire_type::varint):
        out.metadata_id = reader.get_int64();
        break;
      case tag_and_type(2, pbf_wire_type::fixed64):
        out.bits = std::bit_cast<std::uint64_t>(reader.get_double());
        out.type = Type::Real;
        break;
      case tag_and_type(3, pbf_wire_type::varint):
        out.bits = reader.get_uint64();
        out.type = Type::Unsigned;
        break;
      case tag_and_type(4, pbf_wire_type::varint):
        out.bits = static_cast<std::uint64_t>(reader.get_int64());
        out.type = Type::Integer;
        break;
      case tag_and_type(5, pbf_wire_type::length_delimited):
      case tag_and_type(6, pbf_wire_type::length_delimited): {
        out.type = reader.tag() == 5 ? Type::Text : Type::Bytes;
        const protozero::data_view view = reader.get_view();
        out.text = {view.data(), view.size()};
        break;
      }
      case tag_and_type(7, pbf_wire_type::varint):
        out.bits = reader.get_uint64();
        out.type = Type::Text;
        out.is_reference = true;
        break;
      default:
        reader.skip();
    }
  }
  return out;
}

}  // namespace sonde
