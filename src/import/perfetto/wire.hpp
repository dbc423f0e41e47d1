#pragma once

#include <cstdint>
#include <protozero/pbf_message.hpp>
#include <protozero/pbf_reader.hpp>
#include <string_view>

namespace sonde::perfetto_import {

// Field number and wire type in one, for the labels of a switch over tag_and_type(): a field of
// another wire type than expected is then passed over like an unknown one.
constexpr std::uint32_t varint(std::uint32_t field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t bytes(std::uint32_t field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::length_delimited);
}
constexpr std::uint32_t fixed64(std::uint32_t field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed64);
}

inline std::string_view text_of(protozero::pbf_reader& message) {
  const protozero::data_view view = message.get_view();
  return {view.data(), view.size()};
}

}  // namespace sonde::perfetto_import
