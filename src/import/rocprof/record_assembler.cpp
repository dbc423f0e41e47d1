#include "import/rocprof/record_assembler.hpp"

#include <algorithm>

#include "import/trace_event/correlation.hpp"

namespace sonde::rocprof {
namespace {

std::int32_t small(std::int64_t value) {
  return value >= 0 && value <= INT32_MAX ? static_cast<std::int32_t>(value) : -1;
}

std::string_view copy_name(std::string_view direction) {
  const auto has = [&](std::string_view part) {
    return direction.find(part) != std::string_view::npos;
  };
  if (has("HOST_TO_DEVICE")) return "Memcpy HtoD";
  if (has("DEVICE_TO_HOST")) return "Memcpy DtoH";
  if (has("DEVICE_TO_DEVICE")) return "Memcpy DtoD";
  if (has("HOST_TO_HOST")) return "Memcpy HtoH";
  return "Memcpy";
}

SliceKind call_kind(std::string_view domain) {
  if (domain.starts_with("HIP_")) return SliceKind::Runtime;
  if (domain.starts_with("HSA_")) return SliceKind::Driver;
  if (domain.starts_with("MARKER_") || domain.starts_with("ROCTX")) return SliceKind::UserRange;
  if (domain.starts_with("RCCL_")) return SliceKind::Communication;
  return SliceKind::Api;
}

}  // namespace

TrackId RecordAssembler::thread(std::int64_t pid, std::int64_t tid) {
  const auto [at, added] = threads_.try_emplace({pid, tid});
  if (added) {
    Track track;
    track.pid = pid;
    track.tid = tid;
    at->second = builder_.add_track(track);
  }
  return at->second;
}

TrackId RecordAssembler::stream(std::int64_t pid, std::int32_t device, std::int64_t number,
                                std::string_view word) {
  const auto [at, added] = streams_.try_emplace({pid, device, number, std::string(word)});
  if (added) {
    Track track;
    track.type = TrackType::Stream;
    track.pid = pid;
    track.device = device;
    track.tid = number == kNoNumber ? 0 : number;
    std::string name(word);
    if (number != kNoNumber) name += ' ' + std::to_string(number);
    track.name = builder_.intern(name);
    at->second = builder_.add_track(track);
  }
  return at->second;
}

bool RecordAssembler::check(Nanos start, Nanos& end) {
  ++records_;
  if (start < 0 || start > kMaxTime || end > kMaxTime) {
    builder_.losses().add("bad_time", Severity::Warning,
                          "Records with an impossible time; they are left out.");
    return false;
  }
  if (end < start) {
    builder_.losses().add("negative_duration", Severity::Warning,
                          "Records that end before they start; they are kept with 0.");
    end = start;
  }
  end = std::min(end, start + kMaxDuration);
  return true;
}

void RecordAssembler::add_counter(std::int64_t dispatch, const KernelRecord& kernel,
                                  std::string_view counter, double value) {
  ++records_;
  const auto [at, added] = counters_.try_emplace(dispatch);
  if (added) {
    at->second.kernel = kernel;
    at->second.name = kernel.name;
  }
  at->second.values.emplace_back(names_.intern(counter), value);
}

void RecordAssembler::add_kernel(const KernelRecord& record) {
  Nanos end = record.end;
  if (!check(record.start, end)) return;
  const bool has_stream = record.stream != kNoNumber;
  const SliceId slice = builder_.add_slice(
      record.start, end - record.start,
      stream(record.pid, record.device, has_stream ? record.stream : record.queue,
             has_stream ? "stream" : "queue"),
      names_.intern(record.name), SliceKind::Kernel);
  DeviceRow row;
  row.correlation = record.correlation;
  row.device = record.device;
  row.stream = has_stream ? record.stream : record.queue;
  row.registers = small(record.registers);
  row.shared_memory = small(record.shared_memory);
  for (std::size_t i = 0; i < 3; ++i) {
    row.block[i] = small(record.group[i]);
    // HIP counts the grid in work items.
    if (record.grid[i] > 0 && record.group[i] > 0) {
      row.grid[i] = small((record.grid[i] - 1) / record.group[i] + 1);
    }
  }
  builder_.add_device_work(slice, row);
  const auto keep = [&](const char* key, std::int64_t value, bool if_zero) {
    if (value != kNoNumber && (if_zero || value != 0)) {
      builder_.add_argument({slice, builder_.intern(key), value});
    }
  };
  keep("dispatch id", record.dispatch, true);
  keep("thread", record.thread, true);
  keep("scalar registers", record.scalar_registers, false);
  keep("scratch bytes", record.scratch, false);
  if (has_stream) keep("queue", record.queue, true);
  if (const auto counted = counters_.find(record.dispatch); counted != counters_.end()) {
    counted->second.used = true;
    for (const auto& [name, value] : counted->second.values) {
      builder_.add_argument({slice, name, value});
    }
  }
}

void RecordAssembler::add_copy(const CopyRecord& record) {
  Nanos end = record.end;
  if (!check(record.start, end)) return;
  const SliceId slice = builder_.add_slice(
      record.start, end - record.start, stream(record.pid, record.device, kNoNumber, "copies"),
      builder_.intern(copy_name(record.direction)), SliceKind::Memcpy);
  DeviceRow row;
  // 0: the runtime's own copies, which no call asked for.
  if (record.correlation > 0) row.correlation = record.correlation;
  row.device = record.device;
  if (record.bytes >= 0) {
    row.bytes = record.bytes;
    const Nanos duration = end - record.start;
    if (duration > 0) {
      row.bandwidth =
          static_cast<float>(static_cast<double>(record.bytes) / static_cast<double>(duration));
    }
  }
  builder_.add_device_work(slice, row);
  if (record.source >= 0) {
    builder_.add_argument({slice, builder_.intern("source agent"), record.source});
  }
  if (record.target >= 0) {
    builder_.add_argument({slice, builder_.intern("target agent"), record.target});
  }
}

void RecordAssembler::add_call(const CallRecord& record) {
  Nanos end = record.end;
  if (!check(record.start, end)) return;
  const SliceKind kind = call_kind(record.domain);
  const StringId name = names_.intern(record.name);
  const TrackId track = thread(record.pid, record.thread);
  if (kind == SliceKind::UserRange && record.start == end) {
    Marker marker;
    marker.time = record.start;
    marker.track = track;
    marker.name = name;
    builder_.add_marker(marker);
    return;
  }
  const SliceId slice = builder_.add_slice(record.start, end - record.start, track, name, kind);
  if (is_launch_call(kind)) {
    LaunchRow row;
    row.correlation = record.correlation;
    builder_.add_launch(slice, row);
  } else if (is_host_operator(kind)) {
    OperatorRow row;
    row.is_annotation = kind == SliceKind::UserRange;
    builder_.add_operator(slice, row);
  }
  builder_.add_category(slice, names_.intern(record.domain));
}

void RecordAssembler::add_allocation(const AllocationRecord& record) {
  Nanos end = record.time;
  if (!check(record.time, end)) return;
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  std::int64_t bytes = std::clamp<std::int64_t>(record.bytes, 0, kMost);
  if (record.free) {
    // A free tells the address only.
    const auto known = live_.find(record.address);
    if (known != live_.end()) {
      bytes = known->second;
      live_.erase(known);
    }
  } else {
    live_[record.address] = bytes;
  }
  Allocation allocation;
  allocation.time = record.time;
  allocation.address = record.address;
  allocation.bytes = record.free ? -bytes : bytes;
  allocation.device_type = 1;
  allocation.device = record.device;
  allocation.track = thread(record.pid, 0);
  std::int64_t& total = totals_[record.device];
  total = std::clamp<std::int64_t>(total + allocation.bytes, 0, std::int64_t{1} << 62);
  allocation.total_allocated = total;
  builder_.add_allocation(allocation);
  builder_.meta().profile_memory = true;
}

void RecordAssembler::add_other(std::string_view category, std::string_view name, Nanos start,
                                Nanos end, std::int64_t pid, std::int64_t tid) {
  if (!check(start, end)) return;
  const SliceId slice = builder_.add_slice(start, end - start, thread(pid, tid),
                                           names_.intern(name), SliceKind::Other);
  builder_.add_category(slice, names_.intern(category));
}

void RecordAssembler::add_total(std::string_view name, std::int64_t calls, Nanos total) {
  ++records_;
  CallProfile& profile = builder_.call_profile();
  if (profile.types.empty()) {
    profile.types.push_back({builder_.intern("time"), builder_.intern("ns")});
  }
  CallProfile::Function function;
  function.name = names_.intern(name);
  function.calls = function.primitive_calls = std::max<std::int64_t>(calls, 0);
  profile.functions.push_back(function);
  profile.function_self.push_back(std::max<Nanos>(total, 0));
  profile.function_total.push_back(std::max<Nanos>(total, 0));
}

void RecordAssembler::finish(unsigned threads) {
  // Counters of kernels that no trace of kernels has. Without times the order is all there is.
  for (auto& [dispatch, counted] : counters_) {
    if (counted.used) continue;
    counted.kernel.name = counted.name;
    if (!counted.kernel.has_time) {
      counted.kernel.start = counted.kernel.end = static_cast<Nanos>(timeless_++);
    }
    add_kernel(counted.kernel);
    --records_;
  }
  builder_.losses().add(
      "kernels_without_times", Severity::Info,
      "Kernels of which only the counters are known: they are in their order, with a "
      "length of 0. Record with --kernel-trace for times.",
      timeless_);
  builder_.nest(threads);
  link_by_correlation(builder_);
}

}  // namespace sonde::rocprof
