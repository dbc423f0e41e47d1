// Events that are no slices: instants, counters, flows, asynchronous ones, metadata, samples.

#include "import/trace_event/reader.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "import/trace_event/narrow.hpp"

namespace sonde {
namespace {

bool is_launch_flow(std::string_view category) {
  return category == "ac2g" || category == "async_cpu_to_gpu" || category == "async" ||
         category == "async_gpu";
}

}  // namespace

void EventReader::take_instant(const Event& event, Record& record) {
  record.name = intern(event.name);
  record.track = track(event);
  record.type = RecordType::Marker;
  if (record.name == memory_name_ || record.name == out_of_memory_name_) {
    record.type = RecordType::Allocation;
    Allocation allocation;
    allocation.address = static_cast<std::uint64_t>(event.rare.address);
    allocation.bytes = event.rare.bytes == kNoNumber ? 0 : event.rare.bytes;
    allocation.total_allocated = event.rare.total_allocated;
    allocation.total_reserved = event.rare.total_reserved;
    allocation.device_type =
        event.rare.device_type == kNoNumber ? 0 : small(event.rare.device_type);
    allocation.device = event.rare.device_id == kNoNumber ? -1 : small(event.rare.device_id);
    allocation.out_of_memory = record.name == out_of_memory_name_;
    batch_->allocations.push_back(allocation);
  } else {
    record.category = intern_category(event);
    take_arguments(event, record);
  }
  batch_->records.push_back(record);
}

void EventReader::take_counter(const Event& event, Record& record) {
  record.type = RecordType::Counter;
  record.name = intern(event.name);
  record.track = track(event);
  JsonCursor in(event.args_text);
  if (!in.take('{') || in.peek() == '}') return;
  do {
    std::string_view series;
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!in.key(series) || !in.real(value)) return;
    if (std::isnan(value)) {
      batch_->losses.add("counter_unusable", Severity::Warning,
                         "Counter values that are no finite number; they were passed over.");
      continue;
    }
    record.category = intern(series);
    batch_->counter_values.push_back(value);
    batch_->records.push_back(record);
  } while (in.take(','));
}

void EventReader::take_flow(const Event& event, Record& record) {
  // The arrow from a launch to its kernel says what the correlation id says better.
  if (is_launch_flow(event.category.text) && dialect_ == Dialect::Kineto) return;
  record.type = event.phase == 's'   ? RecordType::FlowStart
                : event.phase == 't' ? RecordType::FlowStep
                                     : RecordType::FlowEnd;
  record.name = intern(event.name);
  record.category = event.category.text.empty() ? 0 : intern(event.category);
  record.track = track(event);
  FlowId id;
  if (event.id.type == ScalarText::Type::Text)
    id.text = intern(event.id.text);
  else
    id.number = event.id.number;
  batch_->flow_ids.push_back(id);
  batch_->records.push_back(record);
}

void EventReader::take_async(const Event& event, Record& record) {
  record.name = intern(event.name);
  if (dialect_ == Dialect::MXNet) {
    record.track = track(event);  // the id is the thread once more
  } else {
    std::string lane(event.category.text);
    lane += ':';
    if (event.id.type == ScalarText::Type::Text)
      lane += event.id.text.text;
    else
      lane += std::to_string(event.id.number);
    record.track = track(event, intern(lane));
  }
  switch (event.phase) {
    case 'b':
    case 'S':
    case '(':
      record.type = RecordType::Begin;
      return take_half(event, record);
    case 'e':
    case 'F':
    case ')':
      record.type = RecordType::End;
      return take_half(event, record);
    default:
      record.type = RecordType::Marker;
      take_arguments(event, record);
      batch_->records.push_back(record);
  }
}

void EventReader::take_metadata(const Event& event, Record& record) {
  const std::string_view name = event.name.text;
  const bool text = name == "process_name" || name == "process_labels" || name == "thread_name";
  const bool index = name == "process_sort_index" || name == "thread_sort_index";
  if (!text && !index) {
    batch_->losses.add("unknown_metadata", Severity::Info,
                       "Metadata events (ph M) of a name that Sonde does not use.");
    return;
  }
  record.type = name == "process_name"        ? RecordType::ProcessName
                : name == "process_labels"    ? RecordType::ProcessLabels
                : name == "thread_name"       ? RecordType::ThreadName
                : name == "thread_sort_index" ? RecordType::ThreadSortIndex
                                              : RecordType::ProcessSortIndex;
  record.track = track(event);
  JsonCursor in(event.args_text);
  if (!in.take('{') || in.peek() == '}') return;
  do {
    std::string_view key;
    if (!in.key(key)) return;
    if (text && (key == "name" || key == "labels") && in.peek() == '"') {
      RawString value;
      if (!in.string(value)) return;
      record.category = intern(value);
    } else if (index && key == "sort_index") {
      if (!in.integer(record.duration)) return;
    } else if (!in.skip_value()) {
      return;
    }
  } while (in.take(','));
  batch_->records.push_back(record);
}

void EventReader::take_sample(const Event& event, Record& record) {
  record.type = RecordType::Sample;
  record.name = intern(event.name);
  record.track = track(event);
  record.category = event.stack_frame.text.empty() ? 0 : intern(event.stack_frame);
  batch_->records.push_back(record);
}

}  // namespace sonde
