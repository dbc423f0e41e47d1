#include "analysis/tfprof.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/framework_ops.hpp"

namespace sonde {
namespace {

std::string type_of(const FrameworkOpName& name) {
  if (name.type != "Unknown") return std::string(name.type);
  // "_arg_x_0:_Arg": nodes that TensorFlow adds have names of their own kind.
  const std::size_t colon = name.name.rfind(':');
  const bool added = name.name.starts_with("_") && colon != std::string_view::npos;
  return std::string(added && colon + 1 < name.name.size() ? name.name.substr(colon + 1)
                                                           : name.name);
}

// Where the graph begins and ends; tfprof leaves them out as well.
bool is_graph_end(std::string_view name) {
  return name.starts_with("_SOURCE") || name.starts_with("_SINK");
}

// "fusion.12" -> "fusion".
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool numbered =
      last != std::string_view::npos && last > 0 && last + 1 < name.size() && name[last] == '.';
  return numbered ? name.substr(0, last) : name;
}

// Memory that operators asked for, by type: the innermost operator around each allocation, or the
// one that the allocation names.
void add_requested_bytes(const Trace& trace, std::map<std::string, TfprofOp>& types) {
  const SliceColumns& slices = trace.slices();
  struct Request {
    TrackId track;
    Nanos time;
    std::int64_t bytes;
  };
  std::vector<Request> requests;
  for (const Allocation& allocation : trace.allocations()) {
    if (allocation.bytes <= 0) continue;
    const std::string_view tag = trace.text(allocation.tag);
    const auto named = tag.empty() ? types.end() : types.find(type_of(framework_op_name(tag)));
    if (named != types.end())
      named->second.requested_bytes += allocation.bytes;
    else
      requests.push_back({allocation.track, allocation.time, allocation.bytes});
  }
  if (requests.empty()) return;
  std::stable_sort(requests.begin(), requests.end(), [](const Request& a, const Request& b) {
    return std::tuple(a.track, a.time) < std::tuple(b.track, b.time);
  });
  std::vector<SliceId> ops = host_framework_ops(trace);
  std::sort(ops.begin(), ops.end(), [&](SliceId a, SliceId b) {
    return std::tuple(slices.track(a), slices.start(a), slices.depth(a), a) <
           std::tuple(slices.track(b), slices.start(b), slices.depth(b), b);
  });
  auto next = ops.begin();
  std::vector<SliceId> open;
  for (const Request& request : requests) {
    const auto before = [&](SliceId op) {
      return std::tuple(slices.track(op), slices.start(op)) <=
             std::tuple(request.track, request.time);
    };
    for (; next != ops.end() && before(*next); ++next) open.push_back(*next);
    const auto over = [&](SliceId op) {
      return slices.track(op) != request.track || slices.end(op) < request.time;
    };
    while (!open.empty() && over(open.back())) open.pop_back();
    if (open.empty()) continue;
    const auto type =
        types.find(type_of(framework_op_name(host_framework_op_name(trace, open.back()))));
    if (type != types.end()) type->second.requested_bytes += request.bytes;
  }
}

std::int64_t sort_value(const TfprofOp& op, TfprofOrder order) {
  switch (order) {
    case TfprofOrder::Bytes:
      return op.requested_bytes;
    case TfprofOrder::AcceleratorMicros:
      return op.accelerator_us;
    case TfprofOrder::CpuMicros:
      return op.cpu_us;
    case TfprofOrder::Occurrence:
      return op.defined;
    case TfprofOrder::Micros:
    case TfprofOrder::Name:
      break;
  }
  return op.total_us();
}

}  // namespace

std::vector<TfprofOp> tfprof_ops(const Trace& trace) {
  struct Times {
    Picos host = 0;
    Picos device = 0;
    std::int64_t host_runs = 0;
    std::int64_t device_runs = 0;
    std::int64_t host_ops = 0;
    std::int64_t device_ops = 0;
  };
  std::map<std::string, Times> times;
  const FrameworkOps ops = framework_ops(trace);
  for (const FrameworkOp& op : ops.ops) {
    if (is_graph_end(op.name)) continue;
    Times& type = times[type_of({op.name, op.type})];
    (op.on_device ? type.device : type.host) += op.self;
    (op.on_device ? type.device_runs : type.host_runs) += static_cast<std::int64_t>(op.occurrences);
    ++(op.on_device ? type.device_ops : type.host_ops);
  }
  if (ops.ops.empty()) {
    for (const HloOp& op : hlo_ops(trace).ops) {
      Times& type = times[std::string(without_number(op.name))];
      type.host += op.self;
      type.host_runs += static_cast<std::int64_t>(op.occurrences);
      ++type.host_ops;
    }
  }
  constexpr Picos kMicro = 1'000'000;
  std::map<std::string, TfprofOp> types;
  for (const auto& [name, time] : times) {
    TfprofOp& op = types[name];
    op.type = name;
    op.cpu_us = time.host / kMicro;
    op.accelerator_us = time.device / kMicro;
    // Runs are those of the host, which schedules; where it left none, the device's own.
    op.run = time.host_runs > 0 ? time.host_runs : time.device_runs;
    op.defined = time.host_ops > 0 ? time.host_ops : time.device_ops;
  }
  add_requested_bytes(trace, types);
  std::vector<TfprofOp> out;
  for (auto& [name, op] : types) out.push_back(std::move(op));
  return out;
}

std::vector<TfprofRow> tfprof_rows(std::vector<TfprofOp> ops, TfprofOrder order) {
  std::stable_sort(ops.begin(), ops.end(), [&](const TfprofOp& a, const TfprofOp& b) {
    if (order == TfprofOrder::Name) return a.type < b.type;
    const std::int64_t left = sort_value(a, order);
    const std::int64_t right = sort_value(b, order);
    return left != right ? left > right : a.type < b.type;
  });
  std::vector<TfprofRow> rows(ops.size());
  TfprofOp sum;
  for (std::size_t i = ops.size(); i-- > 0;) {
    sum.requested_bytes += ops[i].requested_bytes;
    sum.accelerator_us += ops[i].accelerator_us;
    sum.cpu_us += ops[i].cpu_us;
    sum.run += ops[i].run;
    sum.defined += ops[i].defined;
    rows[i].accumulated = sum;
    rows[i].op = std::move(ops[i]);
  }
  return rows;
}

}  // namespace sonde
