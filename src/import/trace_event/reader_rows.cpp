// The rows of the side tables and the arguments that an event brings along.

#include "import/trace_event/reader.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "import/trace_event/fields.hpp"
#include "import/trace_event/narrow.hpp"

namespace sonde {

// The side-table rows that the event's kind has, and the record itself.
void EventReader::take_rows(const Event& event, Record& record) {
  const LocalId category = intern_category(event);
  if (category_known_.size() <= category) {
    category_known_.resize(category + 1, false);
    categories_.resize(category + 1);
  }
  if (!category_known_[category]) {
    categories_[category] = kineto_category(strings_->view(StringId(category)));
    category_known_[category] = true;
    batch_->new_categories.push_back(category);
  }
  const KinetoCategory known = categories_[category];
  record.kind = kineto_kind_by_name(known.kind, event.name.text);
  if (!known.known) {
    record.kind = dialect_ == Dialect::Kineto ? SliceKind::Other : SliceKind::UserRange;
    if (dialect_ == Dialect::Kineto) {
      batch_->losses.add(
          "unknown_category", Severity::Info,
          "Events of a category that Sonde does not know; they are kept as kind \"other\".");
    }
  }
  if (!known.known || record.kind == SliceKind::Other) {
    record.category = category;
    record.rows |= kCategoryRow;
  }

  const EventArgs& args = event.args;
  const RareArgs& rare = event.rare;
  if (is_host_operator(record.kind) || record.kind == SliceKind::Step) {
    if (known.known || args.external_id != kNoNumber || !args.shapes.empty()) {
      OperatorRow row;
      row.external_id = args.external_id;
      row.sequence = args.sequence;
      row.forward_thread = args.forward_thread == kNoNumber ? -1 : small(args.forward_thread);
      row.order = small(args.order == kNoNumber ? -1 : args.order);
      row.stack = local_string(rare.stack);
      row.module = local_string(rare.module);
      row.is_annotation = known.annotation;
      batch_->operators.push_back(row);
      batch_->inputs.push_back(intern_inputs(event));
      record.rows |= kOperatorRow;
    }
  } else if (is_launch_call(record.kind) || record.kind == SliceKind::Sync ||
             record.kind == SliceKind::Overhead) {
    batch_->launches.push_back({args.correlation, args.external_id, args.cbid});
    record.rows |= kLaunchRow;
  } else if (record.kind == SliceKind::PythonFunction || record.kind == SliceKind::Module) {
    batch_->python.push_back({rare.python_id, rare.python_parent, rare.python_module});
    record.rows |= kPythonRow;
  }
  if (is_device_work(record.kind) || record.kind == SliceKind::DeviceRange ||
      (record.kind == SliceKind::Sync && rare.stream != kNoNumber)) {
    DeviceRow row;
    row.correlation = args.correlation;
    row.external_id = args.external_id;
    row.stream = rare.stream;
    row.context = rare.context == kNoNumber ? -1 : small(rare.context);
    row.bytes = rare.bytes;
    row.device = rare.device == kNoNumber ? -1 : small(rare.device);
    row.registers = rare.registers == kNoNumber ? -1 : small(rare.registers);
    row.shared_memory = rare.shared_memory == kNoNumber ? -1 : small(rare.shared_memory);
    for (std::size_t i = 0; i < 3; ++i) {
      row.grid[i] = small(rare.grid[i]);
      row.block[i] = small(rare.block[i]);
    }
    row.blocks_per_sm = narrow(rare.blocks_per_sm);
    row.warps_per_sm = narrow(rare.warps_per_sm);
    row.occupancy = narrow(rare.occupancy);
    row.bandwidth = narrow(rare.bandwidth);
    batch_->device_work.push_back(row);
    record.rows |= kDeviceRow;
  }
  if (!rare.collective.text.empty()) {
    CollectiveRow row;
    row.collective = local_string(rare.collective);
    row.dtype = local_string(rare.dtype);
    row.group = local_string(rare.group);
    row.group_description = local_string(rare.group_description);
    row.group_ranks = local_string(rare.group_ranks);
    row.in_elements = rare.in_elements;
    row.out_elements = rare.out_elements;
    row.group_size = rare.group_size;
    row.sequence = rare.collective_sequence;
    batch_->collectives.push_back(row);
    record.rows |= kCollectiveRow;
  }
  if (dialect_ == Dialect::Chrome || event.has_unknown_arguments) take_arguments(event, record);
  batch_->records.push_back(record);
}

// Arguments that have no column: all of a generic trace, and what Kineto's list of keys lacks.
void EventReader::take_arguments(const Event& event, Record& record) {
  JsonCursor in(event.args_text);
  if (!in.take('{') || in.peek() == '}') return;
  std::uint32_t count = 0;
  do {
    RawString key;
    std::string_view value;
    if (!in.string(key) || !in.take(':') || !in.raw_value(value)) break;
    if (dialect_ != Dialect::Chrome && argument_field(key.text) != Field::UnknownArgument) continue;
    LocalArgument argument;
    argument.key = intern(key);
    set_value(value, argument);
    batch_->arguments.push_back(argument);
    ++count;
  } while (in.take(','));
  if (count == 0) return;
  batch_->argument_counts.push_back(count);
  record.rows |= kArgumentRow;
}

void EventReader::set_value(std::string_view value, LocalArgument& argument) {
  const char* const end = value.data() + value.size();
  if (value.starts_with('"')) {
    RawString text;
    JsonCursor(value).string(text);
    argument.type = ArgType::Text;
    argument.text = intern(text);
    return;
  }
  const auto whole = std::from_chars(value.data(), end, argument.integer);
  if (whole.ec == std::errc() && whole.ptr == end) return;
  const auto real = std::from_chars(value.data(), end, argument.real);
  if (real.ec == std::errc() && real.ptr == end && std::isfinite(argument.real)) {
    argument.type = ArgType::Real;
    return;
  }
  argument.type = ArgType::Json;
  argument.text = intern(value);
}

InputTexts EventReader::intern_inputs(const Event& event) {
  const std::array<std::string_view, ExpectedInputs::kTexts> texts = {
      event.args.shapes, event.args.types, event.args.strides, event.args.concrete};
  std::array<LocalId, ExpectedInputs::kTexts> ids{};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (event.as_expected & 1u << i) {
      ids[i] = event.expected->ids[i];
      continue;
    }
    ids[i] = intern_optional(texts[i]);
    // Only lists: the end of a bare number cannot be told from the number itself.
    if (event.expected != nullptr && texts[i].starts_with('[')) {
      event.expected->texts[i] = strings_->view(StringId(ids[i]));
      event.expected->ids[i] = ids[i];
    }
  }
  return {ids[0], ids[1], ids[2], ids[3]};
}

}  // namespace sonde
