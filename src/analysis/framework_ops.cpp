#include "analysis/framework_ops.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "trace/tensorflow_names.hpp"

namespace sonde {
namespace {

constexpr std::string_view kUnknown = "Unknown";

// No operator takes longer than a day and no recording longer than 46: sums and differences of
// picoseconds stay within their range.
constexpr Picos kMostPicos = Picos{24} * 3600 * 1'000'000'000'000;
constexpr Picos kLatestPicos = 4'000'000'000'000'000'000;
Picos to_picos(Nanos nanos, Picos most) { return std::min(nanos, most / 1000) * 1000; }

// Keys of arguments, looked up once.
struct Keys {
  explicit Keys(const Trace& trace)
      : lengths(trace),
        device_offset(trace.strings().find("device_offset_ps")),
        tf_op(trace.strings().find("tf_op")),
        hlo_op(trace.strings().find("hlo_op")),
        hlo_category(trace.strings().find("hlo_category")),
        program(trace.strings().find("program_id")),
        long_name(trace.strings().find("long_name")),
        source(trace.strings().find("source")),
        flops(trace.strings().find("flops")),
        model_flops(trace.strings().find("model_flops")),
        bytes(trace.strings().find("bytes_accessed")) {}

  PicoLengths lengths;
  StringId device_offset, tf_op, hlo_op, hlo_category, program, long_name, source, flops,
      model_flops, bytes;
};

Picos picos(const Trace&, const Keys& keys, SliceId slice) { return keys.lengths.of(slice); }

std::string_view text_of(const Trace& trace, SliceId slice, StringId key) {
  return trace.text(find_argument(trace, slice, key).text());
}

double number_of(const Trace& trace, SliceId slice, StringId key) {
  const double number = find_argument(trace, slice, key).number(trace, 0);
  return std::isfinite(number) && number > 0 ? number : 0;
}

// When a slice was at work, on the clock of its device where the file has that.
struct PicoInterval {
  Picos start = 0;
  Picos end = 0;
};
PicoInterval pico_interval(const Trace& trace, const Keys& keys, SliceId slice) {
  PicoInterval out;
  out.start = to_picos(trace.slices().start(slice), kLatestPicos);
  if (const ArgumentValue value = find_argument(trace, slice, keys.device_offset))
    out.start = std::clamp<Picos>(value.integer(trace, out.start), 0, kLatestPicos);
  out.end = out.start + picos(trace, keys, slice);
  return out;
}

// First and last moment of a track's operators.
struct Span {
  Picos start = std::numeric_limits<Picos>::max();
  Picos end = std::numeric_limits<Picos>::min();
  void add(const PicoInterval& interval) {
    start = std::min(start, interval.start);
    end = std::max(end, interval.end);
  }
  Picos length() const { return end > start ? end - start : 0; }
};

// Self times of a set of slices: each one's length less that of the chosen ones directly inside.
class SelfTimes {
 public:
  explicit SelfTimes(std::size_t slices) : inner_(slices, 0), chosen_(slices, false) {}
  void choose(SliceId slice) { chosen_[slice.index()] = true; }
  bool chosen(SliceId slice) const { return chosen_[slice.index()]; }

  // After all were chosen. Ways up are short but for hostile files: those are cut.
  void sum(const Trace& trace, const Keys& keys, const std::vector<SliceId>& list) {
    constexpr int kMaxWay = 4096;
    for (const SliceId slice : list) {
      int way = 0;
      for (SliceId up = trace.slices().parent(slice); up.valid() && ++way < kMaxWay;
           up = trace.slices().parent(up)) {
        if (!chosen(up)) continue;
        // On the device's own clock the two may lie side by side.
        const PicoInterval outer = pico_interval(trace, keys, up);
        const PicoInterval within = pico_interval(trace, keys, slice);
        if (within.start < outer.start || within.end > outer.end) continue;
        inner_[up.index()] += picos(trace, keys, slice);
        break;
      }
    }
  }
  Picos inner(SliceId slice) const { return inner_[slice.index()]; }

 private:
  std::vector<Picos> inner_;
  std::vector<bool> chosen_;
};

// The name under which the work of a device or a host operator is listed.
std::string_view listed_name(const Trace& trace, const Keys& keys, SliceId slice, bool device) {
  const std::string_view tf_op = text_of(trace, slice, keys.tf_op);
  if (!tf_op.empty()) return tf_op;
  if (!device) {
    const std::string_view full = text_of(trace, slice, keys.long_name);
    return full.empty() ? trace.name(slice) : full;
  }
  const SliceId launch = trace.launch_to_device().source(slice);
  const SliceId op = launch.valid() ? trace.operator_to_launch().source(launch) : SliceId();
  if (op.valid() && trace.slices().kind(op) != SliceKind::Step) return trace.name(op);
  return trace.name(slice);
}

// Operators of the framework, as it wrote them; what was compiled from them is in hlo_ops().
bool is_framework_op(const Trace& trace, const Keys& keys, SliceId slice) {
  switch (trace.slices().kind(slice)) {
    case SliceKind::Operator:
    case SliceKind::OperatorInner:
    case SliceKind::DataLoader:
    case SliceKind::Communication:
    case SliceKind::Api:
      break;
    default:
      return false;
  }
  if (find_argument(trace, slice, keys.tf_op)) return true;
  return trace.slices().kind(slice) != SliceKind::Api &&
         !find_argument(trace, slice, keys.hlo_op) &&
         !trace.name(slice).starts_with("PjitFunction(");
}

bool is_on_device(const Trace& trace, SliceId slice) {
  return trace.track(trace.slices().track(slice)).type == TrackType::Stream;
}

// A peak of the device, from what the file says about the recording.
double property(const Trace& trace, std::string_view ending) {
  for (const auto& [key, value] : trace.meta().properties) {
    if (!std::string_view(key).ends_with(ending)) continue;
    double number = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
    if (parsed.ec == std::errc() && number > 0) return number;
  }
  return 0;
}

}  // namespace

FrameworkOpName framework_op_name(std::string_view full) {
  if (full.starts_with("Iterator::")) return {full, "Dataset"};
  const std::size_t colon = full.find(':');
  if (colon == std::string_view::npos) return {full, kUnknown};
  const std::string_view name = full.substr(0, colon);
  std::string_view type = full.substr(colon + 1);
  if (is_node_name(name) && is_op_type(type)) return {name, type};
  if (type.empty()) {
    const std::size_t slash = name.rfind('/');
    type = slash == std::string_view::npos ? name : name.substr(slash + 1);
    type = type.substr(0, type.find('['));
    return {name, type.empty() ? kUnknown : type};
  }
  // "aten::mm", "a name: with a colon": no more than a name.
  return {full, kUnknown};
}

PicoLengths::PicoLengths(const Trace& trace)
    : trace_(trace),
      device_duration_(trace.strings().find("device_duration_ps")),
      duration_(trace.strings().find("duration_ps")) {}

Picos PicoLengths::of(SliceId slice) const {
  const Picos own = to_picos(trace_.slices().duration(slice), kMostPicos);
  for (const StringId key : {device_duration_, duration_}) {
    if (const ArgumentValue value = find_argument(trace_, slice, key))
      return std::clamp<Picos>(value.integer(trace_, own), 0, kMostPicos);
  }
  return own;
}

FrameworkOps framework_ops(const Trace& trace) {
  const Keys keys(trace);
  const SliceColumns& slices = trace.slices();
  std::vector<SliceId> list;
  SelfTimes selves(trace.slice_count());
  for (const SliceId slice : all_slices(trace)) {
    const SliceKind kind = slices.kind(slice);
    const bool control_flow = kind == SliceKind::DeviceRange && is_on_device(trace, slice) &&
                              find_argument(trace, slice, keys.hlo_category);
    if (!is_device_work(kind) && !control_flow && !is_framework_op(trace, keys, slice)) continue;
    list.push_back(slice);
    selves.choose(slice);
  }
  selves.sum(trace, keys, list);

  FrameworkOps out;
  std::map<std::tuple<bool, std::string_view, std::string_view>, FrameworkOp> groups;
  std::map<std::pair<const FrameworkOp*, StringId>, std::uint64_t> parts;
  std::vector<Span> spans(trace.tracks().size());
  std::map<std::int32_t, Span> devices;
  for (const SliceId slice : list) {
    const bool on_device = is_device_work(slices.kind(slice)) || is_on_device(trace, slice);
    const FrameworkOpName name = framework_op_name(listed_name(trace, keys, slice, on_device));
    FrameworkOp& op = groups[{on_device, name.type, name.name}];
    op.on_device = on_device;
    op.type = name.type;
    op.name = name.name;
    // What XLA made of one operator counts as often as its most frequent part.
    const bool compiled = on_device && find_argument(trace, slice, keys.hlo_category);
    const StringId part = compiled ? slices.name(slice) : StringId();
    op.occurrences = std::max(op.occurrences, ++parts[{&op, part}]);
    const Picos total = picos(trace, keys, slice);
    const Picos self = std::max<Picos>(0, total - selves.inner(slice));
    op.total += total;
    op.self += self;
    op.flops += number_of(trace, slice, keys.flops);
    op.bytes += number_of(trace, slice, keys.bytes);
    (on_device ? out.device_self : out.host_self) += self;
    const TrackId track = slices.track(slice);
    if (on_device)
      devices[trace.track(track).device].add(pico_interval(trace, keys, slice));
    else
      spans[track.index()].add(pico_interval(trace, keys, slice));
  }
  Picos device_span = 0;
  Picos host_span = 0;
  for (const auto& [device, span] : devices) device_span += span.length();
  for (const Span& span : spans) host_span += span.length();
  out.device_idle = std::max<Picos>(0, device_span - out.device_self);
  out.host_idle = std::max<Picos>(0, host_span - out.host_self);
  for (auto& [key, op] : groups) out.ops.push_back(op);
  std::stable_sort(out.ops.begin(), out.ops.end(),
                   [](const FrameworkOp& a, const FrameworkOp& b) { return a.self > b.self; });
  return out;
}

std::vector<SliceId> host_framework_ops(const Trace& trace) {
  const Keys keys(trace);
  std::vector<SliceId> out;
  for (const SliceId slice : all_slices(trace)) {
    if (is_framework_op(trace, keys, slice) && !is_on_device(trace, slice)) out.push_back(slice);
  }
  return out;
}

std::string_view host_framework_op_name(const Trace& trace, SliceId op) {
  for (const std::string_view key : {"tf_op", "long_name"}) {
    const std::string_view full = text_of(trace, op, trace.strings().find(key));
    if (!full.empty()) return full;
  }
  return trace.name(op);
}

HloOps hlo_ops(const Trace& trace) {
  const Keys keys(trace);
  const SliceColumns& slices = trace.slices();
  std::vector<SliceId> list;
  SelfTimes selves(trace.slice_count());
  for (const SliceId slice : all_slices(trace)) {
    const bool on_stream = is_on_device(trace, slice);
    const bool device_op =
        on_stream &&
        (find_argument(trace, slice, keys.hlo_category) ||
         (is_device_work(slices.kind(slice)) && find_argument(trace, slice, keys.hlo_op)));
    const bool host_op = !on_stream && slices.kind(slice) == SliceKind::Operator &&
                         find_argument(trace, slice, keys.hlo_op);
    if (!device_op && !host_op) continue;
    list.push_back(slice);
    selves.choose(slice);
  }
  selves.sum(trace, keys, list);

  HloOps out;
  std::map<std::tuple<std::string, std::string_view>, HloOp> groups;
  std::map<std::int32_t, Span> devices;
  for (const SliceId slice : list) {
    std::string program(text_of(trace, slice, keys.program));
    if (const ArgumentValue id = find_argument(trace, slice, keys.program); id && program.empty())
      program = std::to_string(id.integer(trace, 0));
    std::string_view name = text_of(trace, slice, keys.hlo_op);
    if (name.empty() || find_argument(trace, slice, keys.hlo_category)) name = trace.name(slice);
    const auto [found, fresh] = groups.try_emplace({program, name});
    if (fresh) {
      found->second.program = program;
      found->second.name = name;
      found->second.category = text_of(trace, slice, keys.hlo_category);
      found->second.text = text_of(trace, slice, keys.long_name);
      found->second.framework_op = text_of(trace, slice, keys.tf_op);
      found->second.source = text_of(trace, slice, keys.source);
    }
    HloOp& op = found->second;
    ++op.occurrences;
    const Picos total = picos(trace, keys, slice);
    const Picos self = std::max<Picos>(0, total - selves.inner(slice));
    op.total += total;
    op.self += self;
    op.flops += number_of(trace, slice, keys.flops);
    op.model_flops += number_of(trace, slice, keys.model_flops);
    op.bytes += number_of(trace, slice, keys.bytes);
    out.self += self;
    const Track& track = trace.track(slices.track(slice));
    if (track.type == TrackType::Stream)
      devices[track.device].add(pico_interval(trace, keys, slice));
  }
  Picos span = 0;
  for (const auto& [device, busy] : devices) span += busy.length();
  out.idle = std::max<Picos>(0, span - out.self);
  for (auto& [key, op] : groups) out.ops.push_back(op);
  std::stable_sort(out.ops.begin(), out.ops.end(),
                   [](const HloOp& a, const HloOp& b) { return a.self > b.self; });
  out.peak_flops = property(trace, " peak_teraflops_per_second") * 1e12;
  out.peak_bytes = property(trace, " peak_hbm_bw_gigabytes_per_second") * 1e9;
  return out;
}

std::string_view bound_by(double flops, double bytes, double peak_flops, double peak_bytes) {
  if (!(peak_flops > 0) || !(peak_bytes > 0) || (!(flops > 0) && !(bytes > 0))) return kUnknown;
  return flops / peak_flops > bytes / peak_bytes ? "Compute" : "HBM";
}

}  // namespace sonde
