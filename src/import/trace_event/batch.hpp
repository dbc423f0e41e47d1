#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "trace/trace.hpp"

namespace sonde {

// What one block of the file became, in the file's order. Strings and tracks carry the numbers of
// the reader that made the batch; the assembler gives them the trace's own. Rows of the side
// tables stand in the order of the records that have them.

// A string or track number of one reader.
using LocalId = std::uint32_t;
inline constexpr LocalId kNoLocal = UINT32_MAX;

enum class RecordType : std::uint8_t {
  Slice,
  Begin,
  End,
  Marker,
  Allocation,
  Counter,
  FlowStart,
  FlowStep,
  FlowEnd,
  Sample,
  ProcessName,
  ProcessLabels,
  ProcessSortIndex,
  ThreadName,
  ThreadSortIndex,
};

enum RecordRows : std::uint8_t {
  kOperatorRow = 1,
  kLaunchRow = 2,
  kDeviceRow = 4,
  kPythonRow = 8,
  kCollectiveRow = 16,
  kCategoryRow = 32,
  kArgumentRow = 64,
};

struct Record {
  Nanos time = 0;
  Nanos duration = 0;  // sort indices too
  LocalId name = 0;
  LocalId track = 0;
  LocalId category = 0;  // names, labels and series: their text
  RecordType type = RecordType::Slice;
  SliceKind kind = SliceKind::Other;
  std::uint8_t rows = 0;
  char scope = 't';
};

struct TrackKey {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  LocalId pid_text = kNoLocal;
  LocalId tid_text = kNoLocal;
  LocalId lane = kNoLocal;  // asynchronous events: category and id
  friend bool operator==(const TrackKey&, const TrackKey&) = default;
};

inline std::uint64_t hash_of(const TrackKey& key) {
  std::uint64_t hash = mix_bits(static_cast<std::uint64_t>(key.pid));
  hash = mix_bits(hash ^ static_cast<std::uint64_t>(key.tid));
  hash = mix_bits(hash ^ (std::uint64_t{key.pid_text} << 32 | key.tid_text));
  return mix_bits(hash ^ key.lane);
}

struct InputTexts {
  LocalId shapes = kNoLocal;
  LocalId types = kNoLocal;
  LocalId strides = kNoLocal;
  LocalId concrete = kNoLocal;
};

struct FlowId {
  std::int64_t number = 0;
  LocalId text = kNoLocal;
};

// An argument that Sonde only keeps; a text by its number.
struct LocalArgument {
  LocalId key = 0;
  ArgType type = ArgType::Integer;
  LocalId text = 0;
  std::int64_t integer = 0;
  double real = 0;
};

struct Batch {
  std::uint64_t sequence = 0;
  std::uint64_t events = 0;
  std::uint64_t disk_offset = 0;  // see EventBlock
  std::size_t reader = 0;

  std::uint64_t strings_epoch = 0;            // counts up when the reader forgot its strings
  std::vector<std::string_view> new_strings;  // next local ids, in order
  std::shared_ptr<void> string_owner;         // keeps the views alive
  std::vector<TrackKey> new_tracks;
  std::vector<LocalId> new_categories;  // those that the reader met for the first time

  std::vector<Record> records;
  std::vector<OperatorRow> operators;  // their StringIds hold LocalIds
  std::vector<InputTexts> inputs;      // one for each row of `operators`
  std::vector<LaunchRow> launches;
  std::vector<DeviceRow> device_work;
  std::vector<PythonRow> python;
  std::vector<CollectiveRow> collectives;  // their StringIds hold LocalIds
  std::vector<Allocation> allocations;     // without time and track
  std::vector<double> counter_values;
  std::vector<FlowId> flow_ids;
  std::vector<LocalArgument> arguments;
  std::vector<std::uint32_t> argument_counts;  // one for each record with kArgumentRow
  LossLedger losses;

  // As new, with the memory of its lists.
  void clear() {
    Batch old = std::move(*this);
    *this = Batch();
    const auto keep = [](auto& mine, auto& from) {
      from.clear();
      mine = std::move(from);
    };
    keep(new_strings, old.new_strings);
    keep(new_tracks, old.new_tracks);
    keep(new_categories, old.new_categories);
    keep(records, old.records);
    keep(operators, old.operators);
    keep(inputs, old.inputs);
    keep(launches, old.launches);
    keep(device_work, old.device_work);
    keep(python, old.python);
    keep(collectives, old.collectives);
    keep(allocations, old.allocations);
    keep(counter_values, old.counter_values);
    keep(flow_ids, old.flow_ids);
    keep(arguments, old.arguments);
    keep(argument_counts, old.argument_counts);
  }
};

}  // namespace sonde
