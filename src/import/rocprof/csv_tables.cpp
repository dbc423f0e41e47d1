#include "import/rocprof/csv_tables.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "import/csv/csv_reader.hpp"

namespace sonde::rocprof {
namespace {

bool has(const std::vector<std::string>& header, std::string_view name) {
  return std::find(header.begin(), header.end(), name) != header.end();
}

// One row with its fields by the names of the columns.
class Row {
 public:
  Row(const std::vector<std::string>& header, const std::vector<std::string>& fields)
      : header_(header), fields_(fields) {}

  // The field of the first of these columns that the file has.
  std::string_view text(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      const auto at = std::find(header_.begin(), header_.end(), name);
      const auto column = static_cast<std::size_t>(at - header_.begin());
      if (at != header_.end() && column < fields_.size()) return fields_[column];
    }
    return {};
  }

  // Also where a word stands before it: "Agent 4".
  std::int64_t number(std::initializer_list<std::string_view> names,
                      std::int64_t fallback = kNoNumber) const {
    std::string_view digits = text(names);
    while (!digits.empty() && (digits[0] < '0' || digits[0] > '9') && digits[0] != '-') {
      digits.remove_prefix(1);
    }
    std::int64_t out = fallback;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (parsed.ec == std::errc()) return out;
    std::uint64_t large = 0;  // addresses
    const auto wide = std::from_chars(digits.data(), digits.data() + digits.size(), large);
    return wide.ec == std::errc() ? static_cast<std::int64_t>(large) : fallback;
  }

  std::optional<double> real(std::initializer_list<std::string_view> names) const {
    const std::string_view digits = text(names);
    double out = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (parsed.ec != std::errc() || !std::isfinite(out)) return std::nullopt;
    return out;
  }

 private:
  const std::vector<std::string>& header_;
  const std::vector<std::string>& fields_;
};

std::int32_t device_of(std::int64_t agent) {
  return agent >= 0 && agent <= INT32_MAX ? static_cast<std::int32_t>(agent) : -1;
}

KernelRecord kernel_of(const Row& row, std::int64_t pid) {
  KernelRecord kernel;
  kernel.name = row.text({"Kernel_Name", "KernelName"});
  kernel.start = row.number({"Start_Timestamp", "BeginNs"});
  kernel.end = row.number({"End_Timestamp", "EndNs"});
  kernel.has_time = kernel.start != kNoNumber && kernel.end != kNoNumber;
  kernel.pid = row.number({"Process_Id", "pid"}, pid);
  kernel.thread = row.number({"Thread_Id", "tid"});
  kernel.device = device_of(row.number({"Agent_Id", "gpu-id"}, -1));
  kernel.queue = row.number({"Queue_Id", "queue-id"});
  kernel.stream = row.number({"Stream_Id"});
  kernel.correlation = row.number({"Correlation_Id"});
  kernel.dispatch = row.number({"Dispatch_Id", "Index"});
  kernel.group = {row.number({"Workgroup_Size_X", "Workgroup_Size", "wgr"}),
                  row.number({"Workgroup_Size_Y"}, 1), row.number({"Workgroup_Size_Z"}, 1)};
  kernel.grid = {row.number({"Grid_Size_X", "Grid_Size", "grd"}), row.number({"Grid_Size_Y"}, 1),
                 row.number({"Grid_Size_Z"}, 1)};
  kernel.registers = row.number({"VGPR_Count", "vgpr"});
  kernel.scalar_registers = row.number({"SGPR_Count", "sgpr"});
  kernel.shared_memory = row.number({"LDS_Block_Size", "Group_Segment_Size", "lds"});
  kernel.scratch = row.number({"Scratch_Size", "Private_Segment_Size", "scr"});
  return kernel;
}

void add_agent(const Row& row, TraceBuilder& builder) {
  if (row.text({"Agent_Type"}) != "GPU") return;
  Device device;
  device.id = row.number({"Node_Id", "Logical_Node_Id"}, 0);
  device.name = mend_utf8(row.text({"Product_Name", "Name"}).substr(0, 200));
  device.multiprocessors = std::max<std::int64_t>(row.number({"Cu_Count"}, 0), 0);
  device.warp_size = std::max<std::int64_t>(row.number({"Wave_Front_Size"}, 0), 0);
  builder.meta().devices.push_back(device);
}

// False where the row lacks what its table is about.
bool add_row(CsvTable table, const Row& row, std::int64_t default_pid, RecordAssembler& assembler,
             TraceBuilder& builder) {
  const Nanos start = row.number({"Start_Timestamp"});
  const Nanos end = row.number({"End_Timestamp"});
  const bool timed = start != kNoNumber && end != kNoNumber;
  const std::int64_t pid = row.number({"Process_Id"}, default_pid);
  switch (table) {
    case CsvTable::Agents:
      add_agent(row, builder);
      return true;
    case CsvTable::Counters: {
      const KernelRecord kernel = kernel_of(row, pid);
      const auto value = row.real({"Counter_Value"});
      if (!value || kernel.dispatch == kNoNumber) return false;
      assembler.add_counter(kernel.dispatch, kernel, row.text({"Counter_Name"}), *value);
      return true;
    }
    case CsvTable::Kernels: {
      const KernelRecord kernel = kernel_of(row, pid);
      if (!kernel.has_time || kernel.name.empty()) return false;
      assembler.add_kernel(kernel);
      return true;
    }
    case CsvTable::Copies: {
      CopyRecord copy;
      copy.direction = row.text({"Direction"});
      copy.start = start;
      copy.end = end;
      copy.pid = pid;
      copy.source = row.number({"Source_Agent_Id"}, -1);
      copy.target = row.number({"Destination_Agent_Id"}, -1);
      copy.correlation = row.number({"Correlation_Id"});
      copy.bytes = row.number({"Bytes", "Size"}, -1);
      const bool to_host = copy.direction.find("DEVICE_TO_HOST") != std::string_view::npos;
      copy.device = device_of(to_host ? copy.source : copy.target);
      if (timed) assembler.add_copy(copy);
      return timed;
    }
    case CsvTable::Calls: {
      CallRecord call;
      call.domain = row.text({"Domain"});
      call.name = row.text({"Function"});
      call.start = start;
      call.end = end;
      call.pid = pid;
      call.thread = row.number({"Thread_Id"}, 0);
      call.correlation = row.number({"Correlation_Id"});
      if (timed) assembler.add_call(call);
      return timed;
    }
    case CsvTable::Allocations: {
      AllocationRecord allocation;
      allocation.time = start;
      allocation.pid = pid;
      allocation.device = device_of(row.number({"Agent_Id"}, -1));
      allocation.bytes = row.number({"Allocation_Size"}, 0);
      std::string_view address = row.text({"Address"});
      std::uint64_t value = 0;
      const int base = address.starts_with("0x") ? 16 : 10;
      if (base == 16) address.remove_prefix(2);
      std::from_chars(address.data(), address.data() + address.size(), value, base);
      allocation.address = value;
      allocation.free = row.text({"Operation", "Kind"}).find("FREE") != std::string_view::npos;
      if (timed) assembler.add_allocation(allocation);
      return timed;
    }
    case CsvTable::Other: {
      const std::string_view kind = row.text({"Kind", "Domain"});
      std::string_view name = row.text({"Operation", "Function", "Name"});
      if (name.empty()) name = kind;
      if (timed) {
        assembler.add_other(kind, name, start, end, pid, row.number({"Thread_Id"}, 0));
      }
      return timed;
    }
    case CsvTable::Totals: {
      const std::int64_t total = row.number({"TotalDurationNs"});
      const std::int64_t calls = row.number({"Calls"});
      if (total == kNoNumber || calls == kNoNumber) return false;
      assembler.add_total(row.text({"Name"}), calls, total);
      return true;
    }
    case CsvTable::Unknown:
      break;
  }
  return false;
}

}  // namespace

CsvTable csv_table(const std::vector<std::string>& header) {
  const bool timed = has(header, "Start_Timestamp") && has(header, "End_Timestamp");
  if (has(header, "Counter_Name") && has(header, "Counter_Value") && has(header, "Dispatch_Id")) {
    return CsvTable::Counters;
  }
  if (has(header, "Agent_Type") && has(header, "Node_Id")) return CsvTable::Agents;
  if (has(header, "Name") && has(header, "Calls") && has(header, "TotalDurationNs")) {
    return CsvTable::Totals;
  }
  if (has(header, "KernelName") && has(header, "BeginNs") && has(header, "EndNs")) {
    return CsvTable::Kernels;
  }
  if (!timed) return CsvTable::Unknown;
  if (has(header, "Kernel_Name")) return CsvTable::Kernels;
  if (has(header, "Direction") && has(header, "Source_Agent_Id")) return CsvTable::Copies;
  if (has(header, "Domain") && has(header, "Function")) return CsvTable::Calls;
  if (has(header, "Allocation_Size")) return CsvTable::Allocations;
  if (has(header, "Kind")) return CsvTable::Other;
  return CsvTable::Unknown;
}

Result<bool> read_csv_table(ByteSource& source, std::int64_t pid, RecordAssembler& assembler,
                            TraceBuilder& builder, std::uint64_t& bytes) {
  CsvReader reader(source);
  Result<bool> row = reader.next();
  if (!row) return row;
  if (!*row) return false;
  std::vector<std::string> header = reader.fields();
  if (header[0].starts_with("\xEF\xBB\xBF")) header[0].erase(0, 3);
  if (header[0].starts_with('"')) header[0] = header[0].substr(1, header[0].size() - 2);
  const CsvTable table = csv_table(header);
  for (;;) {
    row = reader.next();
    if (!row) return row;
    if (!*row) break;
    if (!add_row(table, Row(header, reader.fields()), pid, assembler, builder)) {
      builder.losses().add(
          "odd_rows", Severity::Warning,
          "Rows without what their table is about (a name, times, a value); they are "
          "left out.",
          1, reader.offset());
    }
  }
  if (reader.ended_in_quotes()) {
    builder.losses().add("file_cut", Severity::Warning,
                         "The file ends within a text: it was cut; what came before is read.", 1,
                         reader.offset());
  }
  if (table == CsvTable::Totals) {
    builder.losses().add(
        "totals_only", Severity::Info,
        "A table of sums: calls and total times are here, the shortest, longest and "
        "spread of each are not, and there is no timeline.");
  }
  bytes += reader.bytes_read();
  builder.losses().merge(source.losses());
  return true;
}

}  // namespace sonde::rocprof
