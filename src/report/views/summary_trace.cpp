// What the traces of a summary are: their makers, machines and sizes.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/advice_wording.hpp"
#include "report/views/rows.hpp"
#include "report/views/summary_parts.hpp"

namespace sonde {
namespace {

// The different values of `get`, joined by ", ".
template <class Get>
std::string join_different(const std::vector<TraceSummary>& all, Get get) {
  std::vector<std::string> seen;
  for (const TraceSummary& one : all) {
    std::string text = get(one);
    if (!text.empty() && std::find(seen.begin(), seen.end(), text) == seen.end()) {
      seen.push_back(std::move(text));
    }
  }
  std::string out;
  for (const std::string& text : seen) out += (out.empty() ? "" : ", ") + text;
  return out;
}

std::string device_text(const Device& device) {
  std::string out = device.name.empty() ? "unnamed device" : device.name;
  std::string details;
  if (device.memory_bytes > 0) details = format_bytes(static_cast<double>(device.memory_bytes));
  if (device.multiprocessors > 0) {
    details += fmt::format("{}{} SMs", details.empty() ? "" : ", ", device.multiprocessors);
  }
  if (device.compute_major > 0) {
    details += fmt::format("{}compute {}.{}", details.empty() ? "" : ", ", device.compute_major,
                           device.compute_minor);
  }
  return details.empty() ? out : out + " (" + details + ")";
}

// "2 x Tesla V100 (…)": a machine's devices are often alike. Every rank describes all of them.
std::string devices_text(const TraceSummary& one) {
  std::vector<std::pair<std::string, int>> alike;
  for (const Device& device : one.trace().meta().devices) {
    const std::string text = device_text(device);
    const auto at = std::find_if(alike.begin(), alike.end(),
                                 [&](const auto& entry) { return entry.first == text; });
    if (at == alike.end()) {
      alike.emplace_back(text, 1);
    } else {
      ++at->second;
    }
  }
  std::string out;
  for (const auto& [text, count] : alike) {
    out += out.empty() ? "" : ", ";
    if (count > 1) out += fmt::format("{} x ", count);
    out += text;
  }
  if (!out.empty()) return out;
  // Old files do not describe the devices whose work they hold.
  std::set<std::int32_t> numbers;
  for (const GpuUtilization& gpu : one.gpus) numbers.insert(gpu.device);
  for (const Allocation& allocation : one.trace().allocations()) {
    if (allocation.device_type != 0 && allocation.device >= 0) numbers.insert(allocation.device);
  }
  if (numbers.empty()) return {};
  return format_plural(static_cast<std::int64_t>(numbers.size()), "GPU", "GPUs") +
         ", not described in the file";
}

std::string rank_text(const std::vector<TraceSummary>& all) {
  std::set<std::int64_t> ranks;
  std::int64_t world = -1;
  for (const TraceSummary& one : all) {
    if (one.trace().meta().rank >= 0) ranks.insert(one.trace().meta().rank);
    world = std::max(world, one.trace().meta().world_size);
  }
  if (ranks.empty()) return {};
  std::string out = ranks.size() == 1 ? fmt::format("rank {}", *ranks.begin())
                                      : fmt::format("{} ranks", ranks.size());
  if (world > 0) out += fmt::format(" of {}", world);
  const std::string backend =
      join_different(all, [](const TraceSummary& one) { return one.trace().meta().backend; });
  return backend.empty() ? out : out + " (" + backend + ")";
}

std::string step_text(const TraceSummary& one) {
  if (!one.steps.has_steps || one.steps.steps.empty()) return "none marked";
  const auto& steps = one.steps.steps;
  const auto count = static_cast<std::int64_t>(steps.size());
  std::string out = format_count(count);
  out += steps.size() == 1 ? fmt::format(" (step {})", steps.front().name)
                           : fmt::format(" ({} to {})", steps.front().name, steps.back().name);
  if (one.steps.dropped) {
    out += fmt::format(", and {} cut off by the end of the recording", one.steps.dropped);
  }
  return out;
}

std::string events_text(std::uint64_t slices, std::uint64_t threads, std::uint64_t streams,
                        std::string_view device) {
  if (slices == 0) return "none: there is nothing with a duration in this trace";
  std::string out = format_count(static_cast<std::int64_t>(slices));
  if (threads > 0) {
    out += " on " + format_plural(static_cast<std::int64_t>(threads), "thread", "threads");
  }
  if (streams == 0) return out;
  out += threads > 0 ? " and " : " on ";
  const std::string stream = fmt::format("{} stream", device);
  const std::string plural = stream + "s";
  return out + format_plural(static_cast<std::int64_t>(streams), stream.c_str(), plural.c_str());
}

}  // namespace

Block trace_block(const std::vector<TraceSummary>& all) {
  const TraceSummary& first = all.front();
  Facts facts;
  const std::string producer = join_different(all, [](const TraceSummary& one) {
    const TraceMeta& meta = one.trace().meta();
    std::string name = meta.producer.empty() ? meta.format : meta.producer;
    return meta.version.empty() ? name : name + ", " + meta.version;
  });
  facts.push_back(
      {"producer", "Producer", producer.empty() ? "unknown" : producer, CellType::Text, ""});
  std::string devices = join_different(all, devices_text);
  if (devices.empty()) devices = "no accelerator";
  facts.push_back({"devices", "Devices", devices, CellType::Text, ""});
  if (const std::string ranks = rank_text(all); !ranks.empty()) {
    facts.push_back({"ranks", "Ranks", ranks, CellType::Text, ""});
  }
  Nanos span = 0;
  std::uint64_t slices = 0;
  std::uint64_t threads = 0;
  std::uint64_t streams = 0;
  for (const TraceSummary& one : all) {
    span = std::max(span, one.trace().span_end());
    slices += one.trace().slice_count();
    threads += one.facts.threads;
    streams += one.facts.streams;
  }
  std::string shown = format_duration(static_cast<double>(span));
  const TraceMeta& meta = first.trace().meta();
  const bool timed =
      std::any_of(all.begin(), all.end(), [](const TraceSummary& one) { return one.timed; });
  if (!timed) shown = "unknown: the trace tells an order, but no times";
  if (meta.wall_clock) shown += ", from " + format_utc(meta.base_time + meta.origin);
  facts.push_back({"span_ns", "Span", span, CellType::Duration, shown});
  facts.push_back({"steps", "Steps",
                   static_cast<std::int64_t>(first.steps.has_steps ? first.steps.steps.size() : 0),
                   CellType::Integer, join_different(all, step_text)});
  facts.push_back({"slices", "Events", count_cell(slices), CellType::Integer,
                   events_text(slices, threads, streams, advice::device_word(first.trace()))});
  return {"trace", "Trace", std::move(facts), "", {}};
}

}  // namespace sonde
