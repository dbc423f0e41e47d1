#include "export/perfetto/packets.hpp"

#include <cmath>

namespace sonde::perfetto {

using protozero::pbf_writer;

void PacketWriter::packet() {
  pbf_writer trace(out_.buffer());
  trace.add_message(field::kTracePacket, packet_);
  out_.settle();
  packet_.clear();
}

void PacketWriter::begin_sequence(std::uint32_t clock) {
  pbf_writer writer(packet_);
  writer.add_uint32(field::kSequenceId, kSequence);
  writer.add_uint32(field::kSequenceFlags, kStateCleared);
  writer.add_bool(field::kFirstPacket, true);
  {
    pbf_writer defaults(writer, field::kPacketDefaults);
    defaults.add_uint32(field::kTimestampClockId, clock);
  }
  packet();
}

void PacketWriter::clock_snapshot(std::uint64_t boot_time, std::uint64_t real_time) {
  pbf_writer writer(packet_);
  writer.add_uint32(field::kSequenceId, kSequence);
  {
    pbf_writer snapshot(writer, field::kClockSnapshot);
    const auto clock = [&](std::uint32_t id, std::uint64_t time) {
      pbf_writer reading(snapshot, 1);
      reading.add_uint32(1, id);
      reading.add_uint64(2, time);
    };
    clock(kBootTime, boot_time);
    clock(kRealTime, real_time);
    snapshot.add_int32(2, kBootTime);
  }
  packet();
}

void PacketWriter::track(std::string_view descriptor) {
  pbf_writer writer(packet_);
  writer.add_uint32(field::kSequenceId, kSequence);
  writer.add_message(field::kTrackDescriptor, descriptor.data(), descriptor.size());
  packet();
}

std::uint64_t PacketWriter::intern(Names& names, std::string_view text,
                                   protozero::pbf_tag_type list) {
  const auto [at, fresh] = names.ids.try_emplace(std::string(text), names.ids.size() + 1);
  if (fresh) {
    pbf_writer data(interned_);
    pbf_writer entry(data, list);
    entry.add_uint64(1, at->second);
    entry.add_string(2, text.data(), text.size());
  }
  return at->second;
}

void PacketWriter::event(const Event& event) {
  message_.clear();
  interned_.clear();
  {
    pbf_writer message(message_);
    message.add_int32(field::kType, static_cast<std::int32_t>(event.type));
    message.add_uint64(field::kTrackUuid, event.track);
    for (const std::string_view category : {event.category, event.kind_word}) {
      if (!category.empty())
        message.add_uint64(field::kCategoryIids,
                           intern(categories_, category, field::kEventCategories));
    }
    if (event.named)
      message.add_uint64(field::kNameIid, intern(names_, event.name, field::kEventNames));
    if (event.facts != nullptr) {
      for (const Fact& fact : *event.facts) {
        pbf_writer annotation(message, field::kAnnotations);
        annotation.add_uint64(field::kAnnotationNameIid,
                              intern(keys_, fact.key, field::kAnnotationNames));
        switch (fact.type) {
          case Fact::Type::Integer:
            annotation.add_int64(field::kInt, fact.integer);
            break;
          case Fact::Type::Real:
          case Fact::Type::Single:
            annotation.add_double(field::kDouble, fact.real);
            break;
          case Fact::Type::Text:
            if (!std::isfinite(fact.real))  // a number that other formats cannot write
              annotation.add_double(field::kDouble, fact.real);
            else
              annotation.add_string(field::kString, fact.text.data(), fact.text.size());
            break;
          case Fact::Type::Json:
            annotation.add_string(field::kLegacyJson, fact.text.data(), fact.text.size());
            break;
        }
      }
    }
    if (event.flows != nullptr) {
      for (const std::uint64_t flow : *event.flows) message.add_fixed64(field::kFlowIds, flow);
    }
    if (event.ended_flows != nullptr) {
      for (const std::uint64_t flow : *event.ended_flows)
        message.add_fixed64(field::kTerminatingFlowIds, flow);
    }
    if (event.type == EventType::Counter) message.add_double(field::kDoubleValue, event.value);
    if (!event.callstack.empty())
      message.add_message(field::kCallstack, event.callstack.data(), event.callstack.size());
  }
  pbf_writer writer(packet_);
  writer.add_uint64(field::kTimestamp, static_cast<std::uint64_t>(event.time));
  writer.add_uint32(field::kSequenceId, kSequence);
  writer.add_uint32(field::kSequenceFlags, kNeedsState);
  if (!interned_.empty()) writer.add_message(field::kInternedData, interned_);
  writer.add_message(field::kTrackEvent, message_);
  packet();
}

}  // namespace sonde::perfetto
