#include "import/xplane/event_facts.hpp"

#include <string>

#include "import/xplane/event_writer.hpp"

namespace sonde {
namespace {

// "$$7" -> 7.
std::int32_t context_number(const StatValue& value, std::string_view text) {
  StatValue number = value;
  number.text = text;
  while (number.text.starts_with("$")) number.text.remove_prefix(1);
  const std::int64_t context = number.whole(-1);
  return context >= 0 && context <= INT32_MAX ? static_cast<std::int32_t>(context) : -1;
}

void note(const Stat& stat, EventFacts& facts, TraceBuilder& builder, EventWriter& writer) {
  const StatValue& value = stat.value;
  const auto view = [&] {
    return value.text_id.valid() ? builder.text(value.text_id) : value.text;
  };
  const auto whole = [&](std::int64_t otherwise) {
    StatValue number = value;
    number.text = view();
    return number.whole(otherwise);
  };
  const auto interned = [&] {
    return value.text_id.valid()                 ? value.text_id
           : value.type == StatValue::Type::Text ? writer.text(value.text)
                                                 : builder.intern(std::to_string(value.whole(0)));
  };
  switch (stat.key.name.known) {
    case KnownStat::None:
    case KnownStat::StepName:
    case KnownStat::IsRoot:
    case KnownStat::ResidencyDetails:
      break;
    case KnownStat::CorrelationId:
      facts.correlation = whole(kNoNumber);
      break;
    case KnownStat::ContextId:
      facts.context = context_number(value, view());
      break;
    case KnownStat::DeviceId:
      facts.device = whole(kNoNumber);
      break;
    case KnownStat::KernelDetails:
      facts.kernel = parse_kernel_details(view());
      facts.has_kernel_details = true;
      break;
    case KnownStat::MemcpyDetails:
    case KnownStat::MemsetDetails:
    case KnownStat::AllocationDetails:
    case KnownStat::FreeDetails:
      facts.bytes = parse_details_bytes(view());
      break;
    case KnownStat::StepNumber:
      facts.step_number = whole(kNoNumber);
      break;
    case KnownStat::ProducerType:
      facts.produces.type = whole(0);
      break;
    case KnownStat::ProducerId:
      facts.produces.id = whole(kNoNumber);
      break;
    case KnownStat::ConsumerType:
      facts.consumes.type = whole(0);
      break;
    case KnownStat::ConsumerId:
      facts.consumes.id = whole(kNoNumber);
      break;
    case KnownStat::HloOp:
      facts.hlo_op = interned();
      break;
    case KnownStat::HloCategory:
      facts.category = interned();
      break;
    case KnownStat::TfOp:
      facts.tf_op = interned();
      break;
    case KnownStat::AllocatorName:
      facts.allocator = interned();
      break;
    case KnownStat::BytesReserved:
      facts.reserved = whole(kNoNumber);
      break;
    case KnownStat::BytesAllocated:
      facts.allocated = whole(kNoNumber);
      break;
    case KnownStat::AllocationBytes:
      facts.allocation = whole(kNoNumber);
      break;
    case KnownStat::Address:
      facts.address = whole(0);
      break;
    case KnownStat::IndexOnHost:
      facts.index_on_host = whole(kNoNumber);
      break;
  }
}

}  // namespace

EventFacts gather_facts(const EventType& type, std::span<const Stat> stats, TraceBuilder& builder,
                        EventWriter& writer) {
  EventFacts facts;
  for (const Stat& stat : type.stats) note(stat, facts, builder, writer);
  for (const Stat& stat : stats) note(stat, facts, builder, writer);
  return facts;
}

}  // namespace sonde
