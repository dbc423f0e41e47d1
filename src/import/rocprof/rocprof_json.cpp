#include <algorithm>
#include <thread>
#include <unordered_map>

#include "import/json/json_document.hpp"
#include "import/rocprof/record_assembler.hpp"
#include "import/rocprof/rocprof.hpp"

namespace sonde {
namespace {

using simdjson::dom::element;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

element member(element value, std::string_view first, std::string_view second) {
  return json_member(json_member(value, first), second);
}

// One process of the file.
class ProcessReader {
 public:
  ProcessReader(element process, rocprof::RecordAssembler& assembler, TraceBuilder& builder)
      : process_(process), assembler_(assembler), builder_(builder) {
    pid_ = json_integer(member(process, "metadata", "pid"), 0);
  }

  void read() {
    read_agents();
    read_names();
    read_counters();
    const element records = json_member(process_, "buffer_records");
    for (const element record : json_items(json_member(records, "kernel_dispatch")))
      add_kernel(record);
    for (const element record : json_items(json_member(records, "memory_copy"))) add_copy(record);
    simdjson::dom::object tables;
    if (records.get(tables) != simdjson::SUCCESS) return;
    for (const auto [name, list] : tables) {
      if (name == "kernel_dispatch" || name == "memory_copy") continue;
      for (const element record : json_items(list)) add_call(record, name);
    }
  }

 private:
  static constexpr std::int64_t kGpu = 2;

  void read_agents() {
    for (const element agent : json_items(json_member(process_, "agents"))) {
      if (json_integer(json_member(agent, "type"), 0) != kGpu) continue;
      const std::int64_t handle = json_integer(member(agent, "id", "handle"), 0);
      Device device;
      device.id = static_cast<std::int64_t>(devices_.size());
      if (!devices_.emplace(handle, static_cast<std::int32_t>(device.id)).second) continue;
      std::string_view name = json_text(json_member(agent, "product_name"));
      if (name.empty()) name = json_text(json_member(agent, "name"));
      device.name = std::string(name.empty() ? "AMD GPU" : name.substr(0, 200));
      device.multiprocessors =
          std::max<std::int64_t>(json_integer(json_member(agent, "cu_count"), 0), 0);
      device.warp_size =
          std::max<std::int64_t>(json_integer(json_member(agent, "wave_front_size"), 0), 0);
      const std::int64_t waves = json_integer(json_member(agent, "max_waves_per_simd"), 0);
      const std::int64_t simds = json_integer(json_member(agent, "simd_per_cu"), 0);
      if (waves > 0 && waves < 1000 && simds > 0 && simds < 1000 && device.warp_size < 1000) {
        device.max_threads_per_multiprocessor = waves * simds * device.warp_size;
      }
      auto& known = builder_.meta().devices;
      if (std::none_of(known.begin(), known.end(),
                       [&](const Device& d) { return d.id == device.id; })) {
        known.push_back(device);
      }
    }
  }

  void read_names() {
    std::size_t kind = 0;
    for (const element entry : json_items(member(process_, "strings", "buffer_records"))) {
      Kind names;
      names.name = json_text(json_member(entry, "kind"));
      for (const element operation : json_items(json_member(entry, "operations"))) {
        names.operations.push_back(json_text(operation));
      }
      kinds_.emplace(kind++, std::move(names));
    }
    for (const element entry : json_items(member(process_, "strings", "marker_api"))) {
      markers_.emplace(json_integer(json_member(entry, "key")),
                       json_text(json_member(entry, "value")));
    }
    for (const element symbol : json_items(json_member(process_, "kernel_symbols"))) {
      std::string_view name;
      for (const char* key : {"demangled_kernel_name", "formatted_kernel_name", "kernel_name"}) {
        if (name.empty()) name = json_text(json_member(symbol, key));
      }
      kernels_.emplace(json_integer(json_member(symbol, "kernel_id")), name);
    }
    for (const element counter : json_items(json_member(process_, "counters"))) {
      counters_.emplace(json_integer(member(counter, "id", "handle")),
                        json_text(json_member(counter, "name")));
    }
  }

  rocprof::KernelRecord kernel_of(element record, element info) {
    rocprof::KernelRecord kernel;
    const std::int64_t id = json_integer(json_member(info, "kernel_id"));
    const auto name = kernels_.find(id);
    kernel.name = name == kernels_.end() || name->second.empty() ? "(unknown)" : name->second;
    if (name == kernels_.end()) {
      builder_.losses().add(
          "unknown_names", Severity::Warning,
          "Kernels whose name is not in the file; they are called \"(unknown)\".");
    }
    kernel.start = json_integer(json_member(record, "start_timestamp"));
    kernel.end = json_integer(json_member(record, "end_timestamp"));
    kernel.has_time = kernel.start != kNoNumber && kernel.end != kNoNumber;
    kernel.pid = pid_;
    kernel.thread = json_integer(json_member(record, "thread_id"));
    kernel.device = device_of(json_integer(member(info, "agent_id", "handle"), -1));
    kernel.queue = json_integer(member(info, "queue_id", "handle"));
    kernel.stream = json_integer(member(record, "stream_id", "handle"));
    kernel.correlation = json_integer(member(record, "correlation_id", "internal"));
    kernel.dispatch = json_integer(json_member(info, "dispatch_id"));
    kernel.shared_memory = json_integer(json_member(info, "group_segment_size"));
    kernel.scratch = json_integer(json_member(info, "private_segment_size"));
    constexpr std::string_view kAxes[] = {"x", "y", "z"};
    for (std::size_t i = 0; i < 3; ++i) {
      kernel.group[i] = json_integer(member(info, "workgroup_size", kAxes[i]));
      kernel.grid[i] = json_integer(member(info, "grid_size", kAxes[i]));
    }
    return kernel;
  }

  void read_counters() {
    const element list = member(process_, "callback_records", "counter_collection");
    for (const element entry : json_items(list)) {
      const element data = json_member(entry, "dispatch_data");
      rocprof::KernelRecord kernel = kernel_of(data, json_member(data, "dispatch_info"));
      kernel.thread = json_integer(json_member(entry, "thread_id"));
      kernel.registers = json_integer(json_member(entry, "arch_vgpr_count"));
      kernel.scalar_registers = json_integer(json_member(entry, "sgpr_count"));
      if (kernel.dispatch == kNoNumber) {
        lose_record();
        continue;
      }
      // A counter has a value for each part of the chip: their sum is what CSV files have.
      std::map<std::int64_t, double> sums;
      for (const element record : json_items(json_member(entry, "records"))) {
        double value = 0;
        if (json_member(record, "value").get(value) == simdjson::SUCCESS) {
          sums[json_integer(member(record, "counter_id", "handle"))] += value;
        }
      }
      for (const auto& [id, value] : sums) {
        const auto name = counters_.find(id);
        assembler_.add_counter(
            kernel.dispatch, kernel,
            name == counters_.end() ? "counter " + std::to_string(id) : std::string(name->second),
            value);
      }
    }
  }

  void add_kernel(element record) {
    const rocprof::KernelRecord kernel = kernel_of(record, json_member(record, "dispatch_info"));
    if (kernel.has_time)
      assembler_.add_kernel(kernel);
    else
      lose_record();
  }

  void add_copy(element record) {
    rocprof::CopyRecord copy;
    copy.direction = operation_of(record);
    copy.start = json_integer(json_member(record, "start_timestamp"));
    copy.end = json_integer(json_member(record, "end_timestamp"));
    copy.pid = pid_;
    const std::int64_t source = json_integer(member(record, "src_agent_id", "handle"), -1);
    const std::int64_t target = json_integer(member(record, "dst_agent_id", "handle"), -1);
    copy.device = device_of(target) >= 0 ? device_of(target) : device_of(source);
    copy.source = source;
    copy.target = target;
    copy.correlation = json_integer(member(record, "correlation_id", "internal"));
    copy.bytes = json_integer(json_member(record, "bytes"), -1);
    if (copy.start != kNoNumber && copy.end != kNoNumber)
      assembler_.add_copy(copy);
    else
      lose_record();
  }

  void add_call(element record, std::string_view table) {
    rocprof::CallRecord call;
    call.start = json_integer(json_member(record, "start_timestamp"));
    call.end = json_integer(json_member(record, "end_timestamp"));
    if (call.start == kNoNumber || call.end == kNoNumber) return lose_record();
    call.domain = kind_of(record);
    call.name = operation_of(record);
    call.pid = pid_;
    call.thread = json_integer(json_member(record, "thread_id"), 0);
    call.correlation = json_integer(member(record, "correlation_id", "internal"));
    if (call.domain.empty()) call.domain = table;
    // A marker's own text stands apart.
    if (const auto text = markers_.find(call.correlation);
        text != markers_.end() && call.domain.starts_with("MARKER")) {
      call.name = text->second;
    }
    if (call.name.empty()) call.name = "(unknown)";
    const bool api = call.domain.find("API") != std::string_view::npos;
    if (api)
      assembler_.add_call(call);
    else
      assembler_.add_other(call.domain, call.name, call.start, call.end, pid_, call.thread);
  }

  void lose_record() {
    builder_.losses().add("odd_records", Severity::Warning,
                          "Records without times or numbers that they need; they are left out.");
  }

  std::int32_t device_of(std::int64_t handle) const {
    const auto found = devices_.find(handle);
    return found == devices_.end() ? -1 : found->second;
  }

  struct Kind {
    std::string_view name;
    std::vector<std::string_view> operations;
  };
  std::string_view kind_of(element record) const {
    const auto found =
        kinds_.find(static_cast<std::size_t>(json_integer(json_member(record, "kind"))));
    return found == kinds_.end() ? std::string_view() : found->second.name;
  }
  std::string_view operation_of(element record) const {
    const auto found =
        kinds_.find(static_cast<std::size_t>(json_integer(json_member(record, "kind"))));
    const auto at = static_cast<std::uint64_t>(json_integer(json_member(record, "operation")));
    if (found == kinds_.end() || at >= found->second.operations.size()) return {};
    return found->second.operations[static_cast<std::size_t>(at)];
  }

  element process_;
  rocprof::RecordAssembler& assembler_;
  TraceBuilder& builder_;
  std::int64_t pid_ = 0;
  std::unordered_map<std::int64_t, std::int32_t> devices_;
  std::unordered_map<std::size_t, Kind> kinds_;
  std::unordered_map<std::int64_t, std::string_view> markers_;
  std::unordered_map<std::int64_t, std::string_view> kernels_;
  std::unordered_map<std::int64_t, std::string_view> counters_;
};

}  // namespace

bool looks_like_rocprof_json(std::string_view head) {
  std::size_t at = head.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (const std::string_view part : {"{", "\"rocprofiler-sdk-tool\"", ":", "["}) {
    at = head.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos || !head.substr(at).starts_with(part)) return false;
    at += part.size();
  }
  return true;
}

Result<Trace> import_rocprof_json(const ImportInput& input) {
  Result<JsonDocument> document =
      read_json_document(input.source, kMaxBytes, "write CSV: rocprofv3 --output-format csv");
  if (!document) return document.error();
  TraceBuilder builder;
  rocprof::RecordAssembler assembler(builder);
  for (const element process : json_items(json_member(document->root, "rocprofiler-sdk-tool"))) {
    ProcessReader(process, assembler, builder).read();
  }
  unsigned threads = input.options.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  assembler.finish(threads);
  TraceMeta& meta = builder.meta();
  meta.format = "rocprof";
  meta.producer = "rocprofv3";
  meta.device_family = "ROCm";
  meta.input_bytes = document->bytes;
  meta.file_events = assembler.records();
  builder.losses().add("no_events", Severity::Warning, "The file holds no record.",
                       assembler.records() == 0 ? 1 : 0);
  builder.losses().merge(input.source.losses());
  return builder.finish();
}

}  // namespace sonde
