#include "import/trace_event/fields.hpp"

#include <array>

namespace sonde {
namespace {

struct NamedField {
  std::string_view key;
  Field field;
};

constexpr NamedField kEventFields[] = {
    {"s", Field::Scope},      {"ts", Field::Time},       {"id", Field::Id},
    {"ph", Field::Phase},     {"sf", Field::StackFrame}, {"dur", Field::Duration},
    {"cat", Field::Category}, {"pid", Field::Pid},       {"tid", Field::Tid},
    {"id2", Field::Id2},      {"name", Field::Name},     {"args", Field::Arguments},
};

// Kineto's keys of all years. What nobody asks for is in the list too: an argument that is not here
// is kept as it stands.
constexpr NamedField kArgumentFields[] = {
    {"Seq", Field::CollectiveSequence},
    {"cbid", Field::Cbid},
    {"grid", Field::Grid},
    {"Addr", Field::Address},
    {"block", Field::Block},
    {"bytes", Field::Bytes},
    {"Bytes", Field::Bytes},
    {"dtype", Field::Dtype},
    {"Ev Idx", Field::Order},
    {"device", Field::Device},
    {"stream", Field::Stream},
    {"queued", Field::Ignored},
    {"context", Field::Context},
    {"Python id", Field::PythonId},
    {"Device Id", Field::DeviceId},
    {"Input Dims", Field::Shapes},
    {"Input dims", Field::Shapes},
    {"Input type", Field::Types},
    {"Call stack", Field::Stack},
    {"Group size", Field::GroupSize},
    {"External id", Field::ExternalId},
    {"external id", Field::ExternalId},
    {"correlation", Field::Correlation},
    {"Device Type", Field::DeviceType},
    {"warps per SM", Field::WarpsPerSm},
    {"Fwd thread id", Field::ForwardThread},
    {"Input Strides", Field::Strides},
    {"blocks per SM", Field::BlocksPerSm},
    {"shared memory", Field::SharedMemory},
    {"In msg nelems", Field::InElements},
    {"Out msg nelems", Field::OutElements},
    {"Total Reserved", Field::TotalReserved},
    {"Sequence number", Field::Sequence},
    {"Concrete Inputs", Field::Concrete},
    {"Total Allocated", Field::TotalAllocated},
    {"Collective name", Field::Collective},
    {"Python parent id", Field::PythonParent},
    {"Python module id", Field::PythonModule},
    {"Module Hierarchy", Field::Module},
    {"Record function id", Field::Ignored},
    {"Process Group Name", Field::Group},
    {"Process Group Ranks", Field::GroupRanks},
    {"registers per thread", Field::Registers},
    {"memory bandwidth (GB/s)", Field::Bandwidth},
    {"theoretical occupancy %", Field::Occupancy},
    {"est. achieved occupancy %", Field::Occupancy},
    {"Process Group Description", Field::GroupDescription},
};

// Keys of one length stand together, so that few are compared.
template <std::size_t N>
class FieldTable {
 public:
  constexpr explicit FieldTable(const NamedField (&fields)[N]) : fields_(fields) {
    for (std::size_t i = N; i-- > 0;) first_[fields[i].key.size()] = i + 1;
  }

  Field find(std::string_view key, Field unknown) const {
    if (key.size() >= first_.size() || first_[key.size()] == 0) return unknown;
    for (std::size_t i = first_[key.size()] - 1; i < N && fields_[i].key.size() == key.size();
         ++i) {
      if (fields_[i].key == key) return fields_[i].field;
    }
    return unknown;
  }

 private:
  const NamedField (&fields_)[N];
  std::array<std::size_t, 32> first_{};  // by length; 0: none
};

constexpr FieldTable kEvents(kEventFields);
constexpr FieldTable kArguments(kArgumentFields);

bool read_first_character(JsonCursor& in, char& out) {
  RawString text;
  if (!read_optional_string(in, text)) return false;
  if (!text.text.empty()) out = text.text[0];
  return true;
}

bool read_triple(JsonCursor& in, std::int64_t (&out)[3]) {
  if (in.peek() != '[') return in.skip_value();
  in.take('[');
  for (int i = 0; i < 3 && in.peek() != ']'; ++i) {
    if (!in.integer(out[i])) return false;
    if (!in.take(',')) break;
  }
  while (in.peek() != ']') {
    if (!in.skip_value()) return false;
    if (!in.take(',')) break;
  }
  return in.take(']');
}

bool read_id2(JsonCursor& in, ScalarText& id) {
  std::string_view text;
  if (!in.raw_value(text)) return false;
  id.type = ScalarText::Type::Text;
  id.text = {text, false};
  return true;
}

}  // namespace

Field event_field(std::string_view key) { return kEvents.find(key, Field::UnknownMember); }

Field argument_field(std::string_view key) { return kArguments.find(key, Field::UnknownArgument); }

bool read_odd_time(JsonCursor& in, TimeState& state, Nanos& out) {
  std::string_view text;
  bool quoted = false;
  if (!in.number_text(text, quoted)) return false;
  if (text.empty())
    state = TimeState::Missing;
  else if (!micros_to_nanos(text, out))
    state = TimeState::Bad;
  else
    state = quoted ? TimeState::Quoted : TimeState::Good;
  return true;
}

bool read_rare_field(JsonCursor& in, Field field, Event& event) {
  RareArgs& args = event.rare;
  if (field >= Field::Device) args.used = true;
  switch (field) {
    case Field::Phase:
      return read_first_character(in, event.phase);
    case Field::Scope:
      return read_first_character(in, event.scope);
    case Field::Id2:
      return read_id2(in, event.id);
    case Field::StackFrame:
      return read_any_text(in, event.stack_frame);
    case Field::Device:
      return in.integer(args.device);
    case Field::Stream:
      return in.integer(args.stream);
    case Field::Context:
      return in.integer(args.context);
    case Field::Bytes:
      return in.integer(args.bytes);
    case Field::Registers:
      return in.integer(args.registers);
    case Field::SharedMemory:
      return in.integer(args.shared_memory);
    case Field::Grid:
      return read_triple(in, args.grid);
    case Field::Block:
      return read_triple(in, args.block);
    case Field::BlocksPerSm:
      return in.real(args.blocks_per_sm);
    case Field::WarpsPerSm:
      return in.real(args.warps_per_sm);
    case Field::Occupancy:
      return in.real(args.occupancy);
    case Field::Bandwidth:
      return in.real(args.bandwidth);
    case Field::PythonId:
      return in.integer(args.python_id);
    case Field::PythonParent:
      return in.integer(args.python_parent);
    case Field::PythonModule:
      return in.integer(args.python_module);
    case Field::Address:
      return in.integer(args.address);
    case Field::DeviceType:
      return in.integer(args.device_type);
    case Field::DeviceId:
      return in.integer(args.device_id);
    case Field::TotalAllocated:
      return in.integer(args.total_allocated);
    case Field::TotalReserved:
      return in.integer(args.total_reserved);
    case Field::InElements:
      return in.integer(args.in_elements);
    case Field::OutElements:
      return in.integer(args.out_elements);
    case Field::GroupSize:
      return in.integer(args.group_size);
    case Field::CollectiveSequence:
      return in.integer(args.collective_sequence);
    case Field::Stack:
      return read_optional_string(in, args.stack);
    case Field::Module:
      return read_optional_string(in, args.module);
    case Field::Collective:
      return read_any_text(in, args.collective);
    case Field::Dtype:
      return read_any_text(in, args.dtype);
    case Field::Group:
      return read_any_text(in, args.group);
    case Field::GroupDescription:
      return read_any_text(in, args.group_description);
    case Field::GroupRanks:
      return read_any_text(in, args.group_ranks);
    default:
      return in.skip_value();
  }
}

}  // namespace sonde
