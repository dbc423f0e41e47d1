#include "export/slice_facts.hpp"

#include <cmath>

#include "export/text_forms.hpp"

namespace sonde {

bool FactSource::has(std::string_view key) const {
  for (const Fact& fact : facts_) {
    if (fact.key == key) return true;
  }
  return false;
}

// What is no JSON after all (another format's own text) is written as a text.
bool FactSource::is_json(StringId text) {
  if (!text.valid()) return false;
  if (json_state_.size() <= text.index()) json_state_.resize(trace_.strings().size() + 1);
  std::uint8_t& state = json_state_[text.index()];
  if (state == 0) state = is_json_value(trace_.text(text)) ? 1 : 2;
  return state == 1;
}

void FactSource::add(std::string_view key, std::int64_t number) {
  if (number == kNoNumber || has(key)) return;
  Fact fact;
  fact.key = key;
  fact.integer = number;
  facts_.push_back(fact);
}

void FactSource::add_single(std::string_view key, float number) {
  if (!(number >= 0)) return;
  Fact fact;
  fact.key = key;
  fact.type = Fact::Type::Single;
  fact.real = number;
  facts_.push_back(fact);
}

void FactSource::add_text(std::string_view key, StringId text) {
  if (!text.valid()) return;
  Fact fact;
  fact.key = key;
  fact.type = Fact::Type::Text;
  fact.text = trace_.text(text);
  facts_.push_back(fact);
}

void FactSource::add_json(std::string_view key, StringId text) {
  if (!text.valid()) return;
  add_text(key, text);
  if (is_json(text)) facts_.back().type = Fact::Type::Json;
}

void FactSource::add_triple(std::string_view key, const std::array<std::int32_t, 3>& triple,
                            std::string& text) {
  if (triple[0] == -1 && triple[1] == -1 && triple[2] == -1) return;
  text = "[";
  for (std::size_t i = 0; i < 3; ++i) {
    if (i) text += ", ";
    append_integer(text, triple[i]);
  }
  text += ']';
  Fact fact;
  fact.key = key;
  fact.type = Fact::Type::Json;
  fact.text = text;
  facts_.push_back(fact);
}

template <class Owner>
void FactSource::add_argument(const Argument<Owner>& argument) {
  const std::string_view key = trace_.text(argument.key());
  if (has(key)) {
    ++left_out_;
    return;
  }
  Fact fact;
  fact.key = key;
  switch (argument.type()) {
    case ArgType::Integer:
      fact.integer = argument.integer();
      facts_.push_back(fact);
      break;
    case ArgType::Real:
      fact.type = Fact::Type::Real;
      fact.real = argument.real();
      if (!std::isfinite(fact.real)) {
        fact.type = Fact::Type::Text;
        fact.text = std::isnan(fact.real) ? "NaN" : fact.real < 0 ? "-Infinity" : "Infinity";
      }
      facts_.push_back(fact);
      break;
    case ArgType::Text:
      add_text(key, argument.text());
      break;
    case ArgType::Json:
      add_json(key, argument.text());
      break;
  }
}

template <class Owner>
void FactSource::add_arguments(const Arguments<Owner>& arguments, Owner owner) {
  if (arguments.empty()) return;
  for (const Argument<Owner>& argument : arguments.of(owner)) add_argument(argument);
}

void FactSource::add_operator(const OperatorRow& row) {
  add("External id", row.external_id);
  add("Sequence number", row.sequence);
  if (row.forward_thread != -1) add("Fwd thread id", row.forward_thread);
  if (row.inputs.valid()) {
    const OperatorInputs& inputs = trace_.inputs(row.inputs);
    add_json("Input Dims", inputs.shapes);
    add_json("Input type", inputs.types);
    add_json("Input Strides", inputs.strides);
    add_json("Concrete Inputs", inputs.concrete);
  }
  add_text("Call stack", row.stack);
  add_text("Module Hierarchy", row.module);
  if (row.order != -1) add("Ev Idx", row.order);
}

void FactSource::add_device_work(const DeviceRow& row) {
  add("External id", row.external_id);
  if (row.device != -1) add("device", row.device);
  if (row.context != -1) add("context", row.context);
  add("stream", row.stream);
  add("correlation", row.correlation);
  add("bytes", row.bytes);
  add_single("memory bandwidth (GB/s)", row.bandwidth);
  if (row.registers != -1) add("registers per thread", row.registers);
  if (row.shared_memory != -1) add("shared memory", row.shared_memory);
  add_single("blocks per SM", row.blocks_per_sm);
  add_single("warps per SM", row.warps_per_sm);
  add_triple("grid", row.grid, grid_);
  add_triple("block", row.block, block_);
  add_single("est. achieved occupancy %", row.occupancy);
}

void FactSource::add_collective(const CollectiveRow& row) {
  add_text("Collective name", row.collective);
  add_text("dtype", row.dtype);
  add("In msg nelems", row.in_elements);
  add("Out msg nelems", row.out_elements);
  add("Group size", row.group_size);
  add_text("Process Group Name", row.group);
  add_text("Process Group Description", row.group_description);
  add_text("Process Group Ranks", row.group_ranks);
  add("Seq", row.sequence);
}

const std::vector<Fact>& FactSource::of(SliceId slice) {
  facts_.clear();
  if (const OperatorRow* row = trace_.operators().find(slice)) add_operator(*row);
  if (const LaunchRow* row = trace_.launches().find(slice)) {
    add("External id", row->external_id);
    add("cbid", row->cbid);
    add("correlation", row->correlation);
  }
  if (const DeviceRow* row = trace_.device_work().find(slice)) add_device_work(*row);
  if (const PythonRow* row = trace_.python().find(slice)) {
    add("Python id", row->id);
    add("Python parent id", row->parent_id);
    add("Python module id", row->module_id);
  }
  if (const CollectiveRow* row = trace_.collectives().find(slice)) add_collective(*row);
  for_each_argument(trace_, slice, [&](const auto& argument) { add_argument(argument); });
  return facts_;
}

const std::vector<Fact>& FactSource::of(MarkerId marker) {
  facts_.clear();
  add_arguments(trace_.marker_arguments(), marker);
  return facts_;
}

const std::vector<Fact>& FactSource::of(CounterId counter) {
  facts_.clear();
  add_arguments(trace_.counter_arguments(), counter);
  return facts_;
}

const std::vector<Fact>& FactSource::of(const Allocation& allocation) {
  facts_.clear();
  add("Total Reserved", allocation.total_reserved);
  add("Total Allocated", allocation.total_allocated);
  add("Bytes", allocation.bytes);
  add("Addr", static_cast<std::int64_t>(allocation.address));
  add("Device Id", allocation.device);
  add("Device Type", allocation.device_type);
  if (allocation.pool.valid()) add_text("pool", allocation.pool);
  if (allocation.tag.valid()) add_text("tag", allocation.tag);
  return facts_;
}

void append_json_fact(std::string& out, const Fact& fact) {
  switch (fact.type) {
    case Fact::Type::Integer:
      append_integer(out, fact.integer);
      break;
    case Fact::Type::Real:
      append_real(out, fact.real);
      break;
    case Fact::Type::Single:
      append_real(out, static_cast<float>(fact.real));
      break;
    case Fact::Type::Text:
      append_json_text(out, fact.text);
      break;
    case Fact::Type::Json:
      out += fact.text;
      break;
  }
}

void append_json_facts(std::string& out, const std::vector<Fact>& facts) {
  out += '{';
  bool first = true;
  for (const Fact& fact : facts) {
    if (!first) out += ", ";
    first = false;
    append_json_text(out, fact.key);
    out += ": ";
    append_json_fact(out, fact);
  }
  out += '}';
}

}  // namespace sonde
