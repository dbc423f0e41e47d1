#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/builder.hpp"
#include "trace/trace_set.hpp"

namespace sonde::testing {

// Writes traces slice by slice, in microseconds, with one thread and one stream to start with.
class TraceWriter {
 public:
  TraceWriter() {
    Track thread;
    thread.pid = 100;
    thread.tid = 101;
    thread.process = builder_.intern("python");
    thread.name = builder_.intern("thread 101 (python)");
    thread_ = builder_.add_track(thread);
    Track stream;
    stream.type = TrackType::Stream;
    stream.tid = 7;
    stream.device = 0;
    stream.name = builder_.intern("stream 7");
    stream_ = builder_.add_track(stream);
  }

  TraceBuilder& builder() { return builder_; }
  TrackId thread() const { return thread_; }

  SliceId host(std::string_view name, SliceKind kind, double start, double duration) {
    const SliceId slice =
        builder_.add_slice(nanos(start), nanos(duration), thread_, builder_.intern(name), kind);
    OperatorRow row;
    row.external_id = ++external_;
    if (is_host_operator(kind) || kind == SliceKind::Step) builder_.add_operator(slice, row);
    return slice;
  }

  // A runtime call inside of the operator that was added last.
  SliceId call(std::string_view name, double start, double duration) {
    const SliceId slice = builder_.add_slice(nanos(start), nanos(duration), thread_,
                                             builder_.intern(name), SliceKind::Runtime);
    LaunchRow row;
    row.correlation = ++correlation_;
    row.external_id = external_;
    builder_.add_launch(slice, row);
    return slice;
  }

  // Device work that the call added last asked for.
  SliceId device(std::string_view name, SliceKind kind, double start, double duration,
                 std::int64_t bytes = kNoNumber, float occupancy = -1) {
    const SliceId slice =
        builder_.add_slice(nanos(start), nanos(duration), stream_, builder_.intern(name), kind);
    DeviceRow row;
    row.correlation = correlation_;
    row.external_id = external_;
    row.device = 0;
    row.stream = 7;
    row.bytes = bytes;
    row.occupancy = occupancy;
    if (occupancy >= 0) row.blocks_per_sm = 2;
    builder_.add_device_work(slice, row);
    return slice;
  }

  // An operator with one call and one piece of device work.
  void launch(std::string_view op, std::string_view call_name, std::string_view work,
              SliceKind kind, double start, double device_start, double device_duration,
              std::int64_t bytes = kNoNumber) {
    const SliceId owner = host(op, SliceKind::Operator, start, 40);
    const SliceId runtime = call(call_name, start + 10, 12);
    const SliceId target = device(work, kind, device_start, device_duration, bytes);
    links_.push_back({owner, runtime, target});
  }

  Trace finish() {
    builder_.nest(1);
    for (const Linked& link : links_) {
      builder_.add_launch_link(link.runtime, link.device);
      builder_.add_operator_link(link.op, link.runtime);
    }
    return builder_.finish();
  }

 private:
  struct Linked {
    SliceId op;
    SliceId runtime;
    SliceId device;
  };

  static Nanos nanos(double micros) { return static_cast<Nanos>(micros * 1000); }

  TraceBuilder builder_;
  TrackId thread_;
  TrackId stream_;
  std::int64_t external_ = 0;
  std::int64_t correlation_ = 0;
  std::vector<Linked> links_;
};

// Two training steps of a tiny model on one GPU: loads, copies, computes; with a hostile name and
// one loss.
inline Trace small_trace(std::int64_t rank = -1) {
  TraceWriter writer;
  TraceMeta& meta = writer.builder().meta();
  meta.format = "kineto";
  meta.producer = "PyTorch profiler (Kineto)";
  meta.version = "torch 2.4";
  meta.device_family = "CUDA";
  meta.rank = rank;
  if (rank >= 0) {
    meta.world_size = 2;
    meta.backend = "nccl";
  }
  Device device;
  device.name = "Test GPU";
  device.memory_bytes = std::int64_t{16} << 30;
  device.compute_major = 8;
  device.multiprocessors = 100;
  meta.devices.push_back(device);
  writer.builder().losses().add("bad_duration", Severity::Warning,
                                "Events had a negative duration; they are kept with 0", 3, 4711,
                                "{\"dur\":-1}");
  for (int step = 0; step < 2; ++step) {
    const double length = rank > 0 ? 1090 : 990;  // the second rank is the slower one
    const double at = (length + 10) * step;
    writer.host("ProfilerStep#" + std::to_string(step + 1), SliceKind::Step, at, length);
    writer.host("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                SliceKind::DataLoader, at + 10, 300);
    writer.launch("aten::copy_", "cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)",
                  SliceKind::Memcpy, at + 320, at + 350, 60, 1 << 20);
    writer.launch("aten::mm", "cudaLaunchKernel", "ampere_sgemm_128x64_nn", SliceKind::Kernel,
                  at + 420, at + 450, 200);
    writer.launch("evil\x1b[31m|name\n", "cudaLaunchKernel", "void at::native::relu<float>(int)",
                  SliceKind::Kernel, at + 480, at + 660, 5);
    writer.launch("aten::zero_", "cudaMemsetAsync", "Memset (Device)", SliceKind::Memset, at + 540,
                  at + 670, 2, 4096);
    writer.host("aten::item", SliceKind::Operator, at + 700, 200);
    writer.host("aten::_local_scalar_dense", SliceKind::Operator, at + 705, 190);
    writer.call("cudaStreamSynchronize", at + 710, 180);
  }
  return writer.finish();
}

inline NamedTrace named(Trace trace, std::string worker) {
  std::string path = worker + ".pt.trace.json";
  return {".", std::move(worker), std::move(path), std::move(trace)};
}

}  // namespace sonde::testing
