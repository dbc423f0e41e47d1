#include "import/xplane/event_writer.hpp"

#include <algorithm>
#include <string>

#include "import/text/utf8.hpp"
#include "import/trace_event/correlation.hpp"
#include "trace/selection.hpp"

namespace sonde {
namespace {

constexpr std::size_t kMaxBinaryShown = 256;

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "0x";
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

}  // namespace

StringId EventWriter::text(std::string_view raw) {
  if (is_utf8(raw)) return builder_.intern(raw);
  const std::size_t before = invalid_texts_.size();
  invalid_texts_.intern(raw);
  builder_.losses().add("invalid_utf8", Severity::Warning,
                        "Texts with bytes that are no UTF-8; those bytes are shown as U+FFFD.",
                        invalid_texts_.size() - before, LossLedger::kNoOffset, raw);
  return builder_.intern(mend_utf8(raw));
}

void EventWriter::begin_plane(std::string_view name, std::int64_t process, bool has_step_numbers) {
  const StringId id = text(name);
  process_ = process;
  kinds_.begin_plane(has_step_numbers);
  for (plane_ = 0; plane_ < planes_.size(); ++plane_) {
    if (planes_[plane_].first == id) return;
  }
  planes_.emplace_back(id, plane_kind(name));
}

void EventWriter::begin_line(std::int64_t id, std::string_view name) {
  std::uint64_t key = mix_bits(static_cast<std::uint64_t>(id) + (std::uint64_t{plane_} << 48));
  for (;; key = mix_bits(key + 1)) {
    const auto next = static_cast<std::uint32_t>(lines_.size());
    line_ = lines_by_key_.get_or_insert(key, next);
    if (line_ == next) break;
    if (lines_[line_].plane == plane_ && lines_[line_].id == id) return;
  }
  const PlaneKind plane = planes_[plane_].second;
  const LineType type = line_type(plane.type, id, name);
  Track track;
  track.pid = plane.device >= 0 ? plane.device : process_;
  track.tid = id;
  track.device = plane.device;
  track.process = planes_[plane_].first;
  track.name = text(name);
  switch (type) {
    case LineType::Thread:
    case LineType::Overhead:
      break;
    case LineType::Stream:
    case LineType::Ops:
      track.type = TrackType::Stream;
      break;
    case LineType::Counters:
      track.type = TrackType::Counter;
      break;
    case LineType::AsyncOps:
    case LineType::Steps:
    case LineType::Ranges:
      track.type = TrackType::Async;
      break;
  }
  lines_.push_back({plane_, id, builder_.add_track(track), type});
}

EventType EventWriter::make_type(std::string_view name, std::string_view display_name) {
  EventType out;
  // A name may carry arguments: "name#key=value,key=value#".
  if (const std::size_t hash = name.find('#');
      name.ends_with("#") && hash > 0 && hash + 1 < name.size()) {
    std::string_view rest = name.substr(hash + 1, name.size() - hash - 2);
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view part = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos || equals == 0) continue;
      Stat stat;
      stat.key = key(part.substr(0, equals));
      stat.value.type = StatValue::Type::Text;
      stat.value.text_id = text(part.substr(equals + 1));
      stat.value.text = builder_.text(stat.value.text_id);
      out.stats.push_back(stat);
    }
    name = name.substr(0, hash);
  }
  out.name_class = name_class(name);
  if (display_name.empty() || display_name == name) {
    out.name = text(name);
  } else {
    out.name = text(display_name);
    out.long_name = text(name);
  }
  return out;
}

void EventWriter::add_counters(const EventType& type, Nanos time, std::span<const Stat> stats) {
  bool any = false;
  for (const Stat& stat : stats) {
    double value = 0;
    if (stat.value.type == StatValue::Type::Real) {
      value = stat.value.real;
    } else if (stat.value.type == StatValue::Type::Integer ||
               stat.value.type == StatValue::Type::Unsigned) {
      value = static_cast<double>(stat.value.integer);
    } else {
      continue;
    }
    if (value != value) continue;
    if (builder_.takes(Point::Counter, time))
      builder_.add_counter({time, lines_[line_].track, type.name, stat.key.key, value});
    any = true;
  }
  if (!any) {
    builder_.losses().add("counter_without_value", Severity::Info,
                          "Samples of counters that have no number; they are passed over.");
  }
}

template <class Arg, class Owner>
bool EventWriter::make_argument(Owner owner, const Stat& stat, std::vector<Arg>& out) {
  const StringId name = stat.key.key;
  const StatValue& value = stat.value;
  switch (value.type) {
    case StatValue::Type::Integer:
      out.emplace_back(owner, name, value.integer);
      return true;
    case StatValue::Type::Unsigned:
      if (value.integer < 0) {  // ids of programs use all 64 bits
        const auto number = static_cast<std::uint64_t>(value.integer);
        out.emplace_back(owner, name, builder_.intern(std::to_string(number)));
      } else {
        out.emplace_back(owner, name, value.integer);
      }
      return true;
    case StatValue::Type::Real:
      out.emplace_back(owner, name, value.real);
      return true;
    case StatValue::Type::Text:
      out.emplace_back(owner, name, value.text_id.valid() ? value.text_id : text(value.text));
      return true;
    case StatValue::Type::Bytes:
      if (value.text.size() > kMaxBinaryShown) return false;
      out.emplace_back(owner, name, builder_.intern(hex(value.text)));
      return true;
    case StatValue::Type::None:
      break;
  }
  out.emplace_back(owner, name, std::int64_t{0});  // the default of a value is not written
  return true;
}

void EventWriter::add_marker(const EventType& type, Nanos time, std::span<const Stat> stats) {
  if (!builder_.takes(Point::Marker, time)) return;
  const MarkerId marker = builder_.add_marker({time, lines_[line_].track, type.name});
  marker_args_.clear();
  std::uint64_t binary = 0;
  for (const Stat& stat : type.stats) binary += !make_argument(marker, stat, marker_args_);
  for (const Stat& stat : stats) binary += !make_argument(marker, stat, marker_args_);
  for (const MarkerArg& arg : marker_args_) builder_.add_argument(arg);
  builder_.losses().add("binary_argument", Severity::Info,
                        "Binary arguments of more than 256 bytes; they are passed over.", binary);
}

// A thread of a pool marks begin and end of the work that it was handed; the work lies between.
void EventWriter::follow_region(const EventType& type, const EventFacts& facts, Nanos time) {
  const std::string_view name = builder_.text(type.name);
  LineKey& line = lines_[line_];
  if (name == "ThreadpoolListener::StartRegion") {
    line.region_start = time;
    line.region_work = facts.consumes;
  } else if (name == "ThreadpoolListener::StopRegion" && line.region_work.valid()) {
    const Nanos duration = std::max<Nanos>(0, time - line.region_start);
    constexpr std::string_view kRegion = "ThreadpoolListener::Region";
    EventFacts region;
    region.consumes = line.region_work;
    if (takes(line.region_start, duration, SliceKind::Api, region, kRegion)) {
      const SliceId slice = builder_.add_slice(line.region_start, duration, line.track,
                                               builder_.intern(kRegion), SliceKind::Api);
      arrows_.consumed_by(line.region_work, slice);
    }
    line.region_work = {};
  }
}

void EventWriter::add_rows(SliceId slice, SliceKind kind, const EventFacts& facts, Nanos duration) {
  const LineKey& line = lines_[line_];
  if (is_launch_call(kind)) {
    LaunchRow row;
    row.correlation = facts.correlation;
    builder_.add_launch(slice, row);
  } else if (is_device_work(kind)) {
    DeviceRow row;
    row.correlation = facts.correlation;
    row.stream = line.id;
    row.bytes = facts.bytes;
    row.context = facts.context;
    row.device = planes_[line.plane].second.device;
    row.registers = facts.kernel.registers;
    row.shared_memory = static_cast<std::int32_t>(facts.kernel.shared_memory);
    std::copy_n(facts.kernel.grid, 3, row.grid.begin());
    std::copy_n(facts.kernel.block, 3, row.block.begin());
    row.occupancy = facts.kernel.occupancy;
    if (facts.bytes > 0 && duration > 0)
      row.bandwidth = static_cast<float>(static_cast<double>(facts.bytes) / double(duration));
    builder_.add_device_work(slice, row);
    if (facts.category.valid() && is_collective(builder_.text(facts.category))) {
      CollectiveRow collective;
      collective.collective = facts.category;
      builder_.add_collective(slice, collective);
    }
  }
  if (facts.produces.valid()) arrows_.produced_by(facts.produces, slice);
  if (facts.consumes.valid()) arrows_.consumed_by(facts.consumes, slice);
}

void EventWriter::add_arguments(SliceId slice, const EventType& type, std::span<const Stat> stats,
                                const EventFacts& facts, std::int64_t duration_ps) {
  const bool device_row = facts.correlation != kNoNumber || facts.has_kernel_details;
  shared_.clear();
  own_.clear();
  std::uint64_t binary = 0;
  if (type.long_name.valid())
    shared_.emplace_back(ArgumentSetId(), builder_.intern("long_name"), type.long_name);
  const auto place = [&](const Stat& stat) {
    // What has a field of its own in the rows is not said twice.
    const KnownStat known = stat.key.name.known;
    if (known == KnownStat::CorrelationId || (device_row && known == KnownStat::KernelDetails))
      return;
    if (stat.key.name.varies)
      binary += !make_argument(slice, stat, own_);
    else
      binary += !make_argument(ArgumentSetId(), stat, shared_);
  };
  for (const Stat& stat : type.stats) place(stat);
  for (const Stat& stat : stats) place(stat);
  // Slices have whole nanoseconds.
  if (duration_ps % 1000 != 0)
    own_.emplace_back(slice, builder_.intern("duration_ps"), duration_ps);
  for (const SliceArg& arg : own_) builder_.add_argument(arg);
  if (!shared_.empty()) builder_.share_arguments(slice, builder_.intern_arguments(shared_));
  builder_.losses().add("binary_argument", Severity::Info,
                        "Binary arguments of more than 256 bytes; they are passed over.", binary);
}

bool EventWriter::takes(Nanos start, Nanos duration, SliceKind kind, const EventFacts& facts,
                        std::string_view name) {
  Selection* selection = builder_.selection();
  if (selection == nullptr) return true;
  SliceIds ids;
  ids.is_call = is_launch_call(kind);
  if (ids.is_call || is_device_work(kind)) ids.correlation = facts.correlation;
  if (selection->phase() == Selection::Phase::Neighbours && facts.consumes.valid() &&
      selection->may_hold(start, start + duration, kind))
    selection->need_arrow(Arrows::key(facts.consumes));
  if (selection->takes(start, duration, lines_[line_].track, kind, ids, name) != Taken::No)
    return true;
  // Of several that hand the same work on, the first is the one.
  if (selection->phase() == Selection::Phase::Build && facts.produces.valid() &&
      selection->needs_arrow(Arrows::key(facts.produces)))
    arrows_.produced_by(facts.produces, SliceId());
  return false;
}

bool EventWriter::takes_instant(Arrows::Work work, Nanos time) {
  Selection* selection = builder_.selection();
  return selection == nullptr || selection->takes_arrow_end(Arrows::key(work), lines_[line_].track,
                                                            time, Selection::Binding::Unknown);
}

void EventWriter::add(const EventType& type, Nanos start, Nanos duration, std::int64_t duration_ps,
                      std::span<const Stat> stats) {
  ++events_;
  if (start < -kMaxTime || start > kMaxTime || duration < 0 || duration > kMaxDuration) {
    builder_.losses().add("bad_time", Severity::Warning,
                          "Events at a time that no clock shows; they are passed over.");
    return;
  }
  const LineKey& line = lines_[line_];
  if (line.type == LineType::Counters) {
    add_counters(type, start, stats);
    return;
  }
  const EventFacts facts = gather_facts(type, stats, builder_, *this);
  if (line.type == LineType::Thread) {
    if (type.name_class == NameClass::Allocation || type.name_class == NameClass::Deallocation) {
      allocations_.add(type, facts, start, line.track);
      add_marker(type, start, stats);
      return;
    }
    if (duration_ps == 0 && facts.correlation == kNoNumber && type.name_class == NameClass::Plain &&
        facts.hlo_op != type.name) {
      add_marker(type, start, stats);
      if (facts.produces.valid() && takes_instant(facts.produces, start))
        arrows_.produced_at(facts.produces, line.track, start);
      follow_region(type, facts, start);
      return;
    }
  }
  const SliceKind kind = kinds_.of(type, facts, line.type, line.track, start, start + duration);
  StringId name = type.name;
  if (kind == SliceKind::Step && facts.step_number != kNoNumber && line.type == LineType::Thread) {
    name = builder_.intern(std::string(builder_.text(type.name)) + "#" +
                           std::to_string(facts.step_number));
  }
  if (!takes(start, duration, kind, facts, builder_.text(name))) return;
  const SliceId slice = builder_.add_slice(start, duration, line.track, name, kind);
  add_rows(slice, kind, facts, duration);
  add_arguments(slice, type, stats, facts, duration_ps);
}

void EventWriter::finish(unsigned threads) {
  builder_.nest(threads);
  arrows_.draw(builder_);
  link_by_correlation(builder_);
}

}  // namespace sonde
