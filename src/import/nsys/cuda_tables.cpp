#include <algorithm>
#include <array>
#include <string>

#include "import/nsys/callchains.hpp"
#include "import/nsys/report_file.hpp"

namespace sonde::nsys {
namespace {

constexpr std::array<std::string_view, 14> kCopyKinds = {
    "",     "HtoD", "DtoH", "HtoA", "AtoH",     "AtoA",     "AtoD",
    "DtoA", "DtoD", "HtoH", "PtoP", "UVM HtoD", "UVM DtoH", "UVM DtoD"};
constexpr std::array<std::string_view, 8> kMemoryKinds = {
    "Pageable", "Pinned",        "Device",         "Array",
    "Managed",  "Device Static", "Managed Static", "Unknown"};
constexpr std::array<std::string_view, 5> kSyncTypes = {"Sync", "Event sync", "Stream wait sync",
                                                        "Stream sync", "Context sync"};

template <std::size_t Size>
std::string_view label(const std::array<std::string_view, Size>& labels, std::int64_t number,
                       std::string_view fallback) {
  if (number < 0 || number >= static_cast<std::int64_t>(Size)) return fallback;
  return labels[static_cast<std::size_t>(number)];
}

std::int32_t small(std::int64_t number) {
  return number >= 0 && number <= INT32_MAX ? static_cast<std::int32_t>(number) : -1;
}

// "cudaMalloc_v3020" -> "cudaMalloc". The driver's own "_v2" is a part of its names.
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (!name.starts_with("cuda") || at == std::string_view::npos) return name;
  const std::string_view digits = name.substr(at + 2);
  const bool version = digits.size() >= 4 && std::all_of(digits.begin(), digits.end(), [](char c) {
                         return c >= '0' && c <= '9';
                       });
  return version ? name.substr(0, at) : name;
}

// The columns that every device activity begins with.
enum Common { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kPid, kGraphNode, kCommon };
#define SONDE_NSYS_COMMON \
  "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphNodeId"

class DeviceTable {
 public:
  explicit DeviceTable(ReportFile& file) : file_(file) {}

  // The slice of the row at work; the caller fills `row` and adds it.
  SliceId add(const TableReader& rows, StringId name, SliceKind kind, DeviceRow& row) {
    const std::int64_t pid = rows.integer(kPid, 0);
    row.stream = rows.integer(kStream, 0);
    row.device = small(rows.integer(kDevice, -1));
    row.context = small(rows.integer(kContext, -1));
    row.correlation = file_.correlation(pid, rows.integer(kCorrelation));
    SliceIds ids;
    ids.correlation = row.correlation;
    return file_.add_slice(rows.integer(kStart), rows.integer(kEnd),
                           file_.stream(pid, row.device, row.context, row.stream), name, kind, ids);
  }
  void add_graph_node(const TableReader& rows, SliceId slice) {
    const auto node = rows.integer(kGraphNode);
    if (node && *node != 0) {
      file_.builder().add_argument({slice, file_.builder().intern("graph node id"), *node});
    }
  }

 private:
  ReportFile& file_;
};

void read_calls(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("CUPTI_ACTIVITY_KIND_RUNTIME");
  if (table == nullptr) return;
  TraceBuilder& builder = file.builder();
  const Callchains stacks = Callchains::of_calls(file, "CUDA_CALLCHAINS", *table);
  TableReader rows(file.database(), *table,
                   {"start", "end", "eventClass", "globalTid", "correlationId", "nameId",
                    "returnValue", "callchainId"});
  FlatMap<StringId> names;
  while (rows.next()) {
    const std::int64_t tid = rows.integer(3, 0);
    const auto name_id = rows.integer(5);
    StringId& name =
        names.get_or_insert(static_cast<std::uint64_t>(name_id.value_or(-1)), StringId());
    if (!name.valid()) {
      name = file.text(name_id);
      if (name.valid()) name = builder.intern(std::string(without_version(builder.text(name))));
    }
    // 0 runtime, 1 driver; the name decides where the class is another.
    const std::int64_t event_class = rows.integer(2, -1);
    const bool runtime = event_class == 0 || (event_class != 1 && name.valid() &&
                                              builder.text(name).starts_with("cuda"));
    LaunchRow row;
    row.correlation = file.correlation(tid, rows.integer(4));
    SliceIds ids;
    ids.correlation = row.correlation;
    ids.is_call = true;
    const SliceId slice = file.add_slice(rows.integer(0), rows.integer(1), file.thread(tid), name,
                                         runtime ? SliceKind::Runtime : SliceKind::Driver, ids);
    if (!slice.valid()) continue;
    builder.add_launch(slice, row);
    if (const auto result = rows.integer(6); result && *result != 0) {
      builder.add_argument({slice, builder.intern("return value"), *result});
    }
    if (const StringId stack = stacks.text(rows.integer(7)); stack.valid()) {
      builder.add_argument({slice, builder.intern("Call stack"), stack});
    }
  }
  file.note_damage(*table, rows);
}

void read_kernels(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("CUPTI_ACTIVITY_KIND_KERNEL");
  if (table == nullptr) return;
  TraceBuilder& builder = file.builder();
  TableReader rows(file.database(), *table,
                   {SONDE_NSYS_COMMON, "demangledName", "mangledName", "shortName",
                    "registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "gridX",
                    "gridY", "gridZ", "blockX", "blockY", "blockZ", "launchType"});
  DeviceTable device_table(file);
  while (rows.next()) {
    StringId name;
    for (int column = kCommon; column < kCommon + 3 && !name.valid(); ++column) {
      name = file.text(rows.integer(column));
    }
    DeviceRow row;
    const SliceId slice = device_table.add(rows, name, SliceKind::Kernel, row);
    if (!slice.valid()) continue;
    row.registers = small(rows.integer(kCommon + 3, -1));
    const std::int64_t fixed = std::clamp<std::int64_t>(rows.integer(kCommon + 4, 0), 0, INT32_MAX);
    const std::int64_t dynamic =
        std::clamp<std::int64_t>(rows.integer(kCommon + 5, 0), 0, INT32_MAX);
    row.shared_memory = small(fixed + dynamic);
    double blocks = 1;
    double threads = 1;
    for (int i = 0; i < 3; ++i) {
      const auto axis = static_cast<std::size_t>(i);
      row.grid[axis] = small(rows.integer(kCommon + 6 + i, -1));
      row.block[axis] = small(rows.integer(kCommon + 9 + i, -1));
      blocks *= std::max(row.grid[axis], 0);
      threads *= std::max(row.block[axis], 0);
    }
    const auto processors = static_cast<double>(file.multiprocessors(row.device));
    if (processors > 0 && blocks > 0 && threads > 0) {
      row.blocks_per_sm = static_cast<float>(blocks / processors);
      row.warps_per_sm = static_cast<float>(blocks * threads / 32 / processors);
    }
    builder.add_device_work(slice, row);
    device_table.add_graph_node(rows, slice);
    if (const auto type = rows.integer(kCommon + 12); type && (*type == 2 || *type == 3)) {
      builder.add_argument({slice, builder.intern("launch type"), builder.intern("cooperative")});
    }
  }
  file.note_damage(*table, rows);
}

void read_copies(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("CUPTI_ACTIVITY_KIND_MEMCPY");
  if (table == nullptr) return;
  TraceBuilder& builder = file.builder();
  TableReader rows(file.database(), *table,
                   {SONDE_NSYS_COMMON, "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId",
                    "dstDeviceId", "migrationCause"});
  DeviceTable device_table(file);
  while (rows.next()) {
    const std::string_view kind = label(kCopyKinds, rows.integer(kCommon + 1, 0), "");
    std::string text = "Memcpy";
    if (!kind.empty()) (text += ' ') += kind;
    if (!rows.is_null(kCommon + 2) && !rows.is_null(kCommon + 3)) {
      text += " (";
      text += label(kMemoryKinds, rows.integer(kCommon + 2, 7), "Unknown");
      text += " -> ";
      text += label(kMemoryKinds, rows.integer(kCommon + 3, 7), "Unknown");
      text += ')';
    }
    DeviceRow row;
    const SliceId slice = device_table.add(rows, builder.intern(text), SliceKind::Memcpy, row);
    if (!slice.valid()) continue;
    const Nanos duration = builder.slices().duration(slice);
    if (const auto bytes = rows.integer(kCommon); bytes && *bytes >= 0) {
      row.bytes = *bytes;
      if (duration > 0)
        row.bandwidth =
            static_cast<float>(static_cast<double>(*bytes) / static_cast<double>(duration));
    }
    builder.add_device_work(slice, row);
    device_table.add_graph_node(rows, slice);
    const auto source = rows.integer(kCommon + 4);
    const auto target = rows.integer(kCommon + 5);
    if (source && target && *source != *target) {
      builder.add_argument({slice, builder.intern("source device"), *source});
      builder.add_argument({slice, builder.intern("target device"), *target});
    }
    if (const auto cause = rows.integer(kCommon + 6); cause && *cause != 0) {
      builder.add_argument({slice, builder.intern("migration cause"), *cause});
    }
  }
  file.note_damage(*table, rows);
}

void read_memsets(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("CUPTI_ACTIVITY_KIND_MEMSET");
  if (table == nullptr) return;
  TraceBuilder& builder = file.builder();
  TableReader rows(file.database(), *table, {SONDE_NSYS_COMMON, "bytes", "value", "memKind"});
  DeviceTable device_table(file);
  while (rows.next()) {
    std::string text = "Memset";
    if (!rows.is_null(kCommon + 2)) {
      text +=
          " (" + std::string(label(kMemoryKinds, rows.integer(kCommon + 2, 7), "Unknown")) + ')';
    }
    DeviceRow row;
    const SliceId slice = device_table.add(rows, builder.intern(text), SliceKind::Memset, row);
    if (!slice.valid()) continue;
    if (const auto bytes = rows.integer(kCommon); bytes && *bytes >= 0) row.bytes = *bytes;
    builder.add_device_work(slice, row);
    device_table.add_graph_node(rows, slice);
    if (const auto value = rows.integer(kCommon + 1)) {
      builder.add_argument({slice, builder.intern("value"), *value});
    }
  }
  file.note_damage(*table, rows);
}

// Lengths of waiting, as the host saw them: they lie beside the streams, not on them.
void read_synchronisation(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
  if (table == nullptr) return;
  TraceBuilder& builder = file.builder();
  TableReader rows(file.database(), *table, {SONDE_NSYS_COMMON, "syncType", "eventId"});
  while (rows.next()) {
    const std::int64_t pid = rows.integer(kPid, 0);
    const std::string_view type = label(kSyncTypes, rows.integer(kCommon, 0), "Sync");
    LaunchRow row;
    row.correlation = file.correlation(pid, rows.integer(kCorrelation));
    SliceIds ids;
    ids.correlation = row.correlation;
    ids.is_call = true;
    const SliceId slice = file.add_slice(rows.integer(kStart), rows.integer(kEnd),
                                         file.lane(pid, "CUDA synchronization", TrackType::Async),
                                         builder.intern(type), SliceKind::Sync, ids);
    if (!slice.valid()) continue;
    builder.add_launch(slice, row);
    const auto stream = rows.integer(kStream);
    if (stream && *stream >= 0 && *stream < UINT32_MAX) {
      builder.add_argument({slice, builder.intern("stream"), *stream});
    }
    if (const auto event = rows.integer(kCommon + 1); event && *event != 0) {
      builder.add_argument({slice, builder.intern("event id"), *event});
    }
  }
  file.note_damage(*table, rows);
}

// A graph that was traced as a whole: the only sign of the kernels in it.
void read_graphs(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
  if (table == nullptr) return;
  TraceBuilder& builder = file.builder();
  TableReader rows(file.database(), *table, {SONDE_NSYS_COMMON, "graphId", "graphExecId"});
  DeviceTable device_table(file);
  while (rows.next()) {
    DeviceRow row;
    const std::string name = "CUDA graph " + std::to_string(rows.integer(kCommon, 0));
    const SliceId slice = device_table.add(rows, builder.intern(name), SliceKind::Kernel, row);
    if (!slice.valid()) continue;
    builder.add_device_work(slice, row);
    if (const auto exec = rows.integer(kCommon + 1)) {
      builder.add_argument({slice, builder.intern("graph exec id"), *exec});
    }
  }
  file.note_damage(*table, rows);
}

void read_graph_nodes(ReportFile& file) {
  for (const char* name : {"CUDA_GRAPH_NODE_EVENTS", "CUDA_GRAPH_EVENTS"}) {
    const SqliteFile::Table* table = file.database().table(name);
    if (table == nullptr) continue;
    TraceBuilder& builder = file.builder();
    TableReader rows(
        file.database(), *table,
        {"start", "end", "nameId", "globalTid", "graphNodeId", "originalGraphNodeId", "graphId"});
    const StringId category = builder.intern("cuda_graph");
    while (rows.next()) {
      const SliceId slice =
          file.add_slice(rows.integer(0), rows.integer(1), file.thread(rows.integer(3, 0)),
                         file.text(rows.integer(2)), SliceKind::Other);
      if (!slice.valid()) continue;
      builder.add_category(slice, category);
      if (const auto node = rows.integer(4)) {
        builder.add_argument({slice, builder.intern("graph node id"), *node});
      }
      if (const auto node = rows.integer(5)) {
        builder.add_argument({slice, builder.intern("original graph node id"), *node});
      }
      if (const auto graph = rows.integer(6)) {
        builder.add_argument({slice, builder.intern("graph id"), *graph});
      }
    }
    file.note_damage(*table, rows);
  }
}

}  // namespace

#undef SONDE_NSYS_COMMON

void read_cuda_tables(ReportFile& file) {
  read_calls(file);
  read_kernels(file);
  read_copies(file);
  read_memsets(file);
  read_graphs(file);
  read_synchronisation(file);
  read_graph_nodes(file);
}

void read_memory_usage(ReportFile& file) {
  const SqliteFile::Table* table = file.database().table("CUDA_GPU_MEMORY_USAGE_EVENTS");
  if (table == nullptr) return;
  TraceBuilder& builder = file.builder();
  TableReader rows(file.database(), *table,
                   {"start", "globalPid", "deviceId", "address", "bytes", "memKind",
                    "memoryOperationType", "name", "streamId"});
  std::vector<Allocation> allocations;
  while (rows.next()) {
    file.count_row();
    const auto time = file.time(rows.integer(0));
    if (!time) continue;
    const std::int64_t kind = rows.integer(5, 7);
    Allocation allocation;
    allocation.time = *time;
    allocation.track = file.lane(rows.integer(1, 0), "CUDA memory", TrackType::Async);
    allocation.address = static_cast<std::uint64_t>(rows.integer(3, 0));
    const std::int64_t bytes = std::max<std::int64_t>(rows.integer(4, 0), 0);
    allocation.bytes = rows.integer(6, 0) == 1 ? -bytes : bytes;
    allocation.device_type = kind == 0 || kind == 1 ? 0 : 1;
    allocation.device = small(rows.integer(2, -1));
    allocation.pool = builder.intern(label(kMemoryKinds, kind, "Unknown"));
    // A name is a text in new exports and the number of one in old ones.
    if (const std::string_view name = rows.text(7); !name.empty()) {
      allocation.tag = file.names().intern(name);
    } else {
      allocation.tag = file.text(rows.integer(7));
    }
    allocations.push_back(allocation);
  }
  file.note_damage(*table, rows);
  std::stable_sort(allocations.begin(), allocations.end(),
                   [](const Allocation& a, const Allocation& b) { return a.time < b.time; });
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> totals;
  for (Allocation& allocation : allocations) {
    std::int64_t& total = totals[{allocation.device_type, allocation.device}];
    if (__builtin_add_overflow(total, allocation.bytes, &total)) total = INT64_MAX;
    total = std::max<std::int64_t>(total, 0);  // freed, but allocated before the recording
    allocation.total_allocated = total;
    if (builder.takes(Point::Allocation, allocation.time)) builder.add_allocation(allocation);
  }
  if (!allocations.empty()) builder.meta().profile_memory = true;
}

}  // namespace sonde::nsys
