#include <algorithm>
#include <string>
#include <vector>

#include "import/nsys/callchains.hpp"
#include "import/nsys/report_file.hpp"

namespace sonde::nsys {
namespace {

void read_cpu_samples(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("COMPOSITE_EVENTS");
  if (table == nullptr) return;
  TraceBuilder& builder = file.builder();
  const Callchains stacks = Callchains::of_samples(file, "SAMPLING_CALLCHAINS", *table);
  TableReader rows(file.database(), *table, {"id", "start", "globalTid", "cpuCycles"});
  const bool cycles = rows.has(3);
  SampleType type;
  type.name = builder.intern("cpu");
  type.unit = builder.intern(cycles ? "cycles" : "count");
  const std::uint32_t type_id = builder.add_sample_type(type);
  std::uint64_t without_stack = 0;
  while (rows.next()) {
    file.count_row();
    const auto time = file.time(rows.integer(1));
    if (!time) continue;
    Sample sample;
    sample.time = *time;
    sample.track = file.thread(rows.integer(2, 0));
    if (!builder.takes(Point::Sample, *time)) continue;
    sample.stack = stacks.stack(rows.integer(0));
    sample.weight = cycles ? static_cast<double>(std::max<std::int64_t>(rows.integer(3, 0), 0)) : 1;
    sample.type = type_id;
    without_stack += !sample.stack.valid();
    builder.add_sample(sample);
  }
  builder.losses().add("samples_without_stack", Severity::Info,
                       "CPU samples whose stack is not in the file.", without_stack);
  file.note_damage(*table, rows);
}

// Who ran on each processor, as slices on a lane of the processor.
void read_scheduling(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("SCHED_EVENTS");
  if (table == nullptr) return;
  struct Switch {
    Nanos time;
    std::int64_t cpu;
    std::int64_t tid;
    bool in;
  };
  std::vector<Switch> switches;
  TableReader rows(file.database(), *table, {"start", "cpu", "isSchedIn", "globalTid"});
  while (rows.next()) {
    file.count_row();
    const auto time = file.time(rows.integer(0));
    if (time) {
      switches.push_back({*time, rows.integer(1, 0), rows.integer(3, 0), rows.integer(2, 0) != 0});
    }
  }
  file.note_damage(*table, rows);
  std::stable_sort(switches.begin(), switches.end(), [](const Switch& a, const Switch& b) {
    return std::tie(a.cpu, a.time) < std::tie(b.cpu, b.time);
  });
  TraceBuilder& builder = file.builder();
  const StringId category = builder.intern("sched");
  std::uint64_t halves = 0;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const Switch& begin = switches[i];
    if (!begin.in) continue;
    const bool ended = i + 1 < switches.size() && switches[i + 1].cpu == begin.cpu;
    if (!ended) {
      ++halves;
      continue;
    }
    const TrackId lane = file.lane(0, "CPU " + std::to_string(begin.cpu), TrackType::Async);
    const Nanos duration = std::min(switches[i + 1].time - begin.time, kMaxDuration);
    if (builder.takes(begin.time, duration, lane, SliceKind::Other, {}, {}) == Taken::No) continue;
    const SliceId slice =
        builder.add_slice(begin.time, duration, lane,
                          builder.intern("pid " + std::to_string(ReportFile::pid_of(begin.tid)) +
                                         " tid " + std::to_string(ReportFile::tid_of(begin.tid))),
                          SliceKind::Other);
    builder.add_category(slice, category);
  }
  builder.losses().add(
      "open_scheduling", Severity::Info,
      "Threads that were still running when the recording ended; that last stretch is "
      "left out.",
      halves);
}

}  // namespace

void read_samples(ReportFile& file) {
  read_cpu_samples(file);
  read_scheduling(file);
}

void read_metrics(ReportFile& file) {
  TraceBuilder& builder = file.builder();
  if (const SqliteFile::Table* table = file.database().table("GPU_METRICS")) {
    std::map<std::pair<std::int64_t, std::int64_t>, StringId> names;
    if (const SqliteFile::Table* info = file.database().table("TARGET_INFO_GPU_METRICS")) {
      TableReader rows(file.database(), *info, {"typeId", "metricId", "metricName"});
      while (rows.next()) {
        names[{rows.integer(0, 0), rows.integer(1, 0)}] = file.names().intern(rows.text(2));
      }
      file.note_damage(*info, rows);
    }
    TableReader rows(file.database(), *table, {"timestamp", "typeId", "metricId", "value"});
    std::uint64_t odd = 0;
    while (rows.next()) {
      file.count_row();
      const auto time = file.time(rows.integer(0));
      const auto value = rows.real(3);
      if (!time || !value || !(*value > -1e300 && *value < 1e300)) {
        odd += time.has_value();
        continue;
      }
      const std::int64_t type = rows.integer(1, 0);
      const std::int64_t metric = rows.integer(2, 0);
      const auto name = names.find({type, metric});
      CounterValue counter;
      counter.time = *time;
      // The lowest byte of the type is the number of the GPU.
      counter.track =
          file.lane(0, "GPU " + std::to_string(type & 0xFF) + " metrics", TrackType::Counter);
      counter.counter =
          name != names.end() ? name->second : builder.intern("metric " + std::to_string(metric));
      counter.value = *value;
      if (builder.takes(Point::Counter, *time)) builder.add_counter(counter);
    }
    builder.losses().add("odd_counter_values", Severity::Warning,
                         "GPU metrics whose value is no finite number; they are left out.", odd);
    file.note_damage(*table, rows);
  }
  if (const SqliteFile::Table* table = file.database().table("GENERIC_EVENTS")) {
    TableReader rows(file.database(), *table, {"timestamp", "rawTimestamp", "typeId", "data"});
    while (rows.next()) {
      file.count_row();
      const auto time = file.time(rows.integer(rows.has(0) ? 0 : 1));
      if (!time) continue;
      Marker marker;
      marker.time = *time;
      marker.track = file.lane(0, "generic events", TrackType::Async);
      marker.name = builder.intern("event of type " + std::to_string(rows.integer(2, 0)));
      marker.scope = 'g';
      if (!builder.takes(Point::Marker, *time)) continue;
      const MarkerId id = builder.add_marker(marker);
      if (const std::string_view data = rows.text(3); !data.empty()) {
        builder.add_argument(MarkerArg(id, builder.intern("data"), file.names().intern(data)));
      }
    }
    file.note_damage(*table, rows);
  }
}

}  // namespace sonde::nsys
