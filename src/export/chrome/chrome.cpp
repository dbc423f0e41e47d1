#include "export/chrome/chrome.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "export/categories.hpp"
#include "export/chrome/arrow_times.hpp"
#include "export/chrome/arrow_walk.hpp"
#include "export/chrome/event_writer.hpp"
#include "export/chrome/metadata.hpp"
#include "export/chrome/samples.hpp"
#include "export/chrome/track_metadata.hpp"
#include "export/notes.hpp"
#include "export/slice_facts.hpp"
#include "export/text_forms.hpp"

namespace sonde {
namespace {

class ChromeWriter : EventWriter {
 public:
  ChromeWriter(const Trace& trace, BufferedOutput& output)
      : EventWriter(trace, output),
        slices_(trace.slices()),
        categories_(trace),
        facts_(trace),
        is_trace_event_(trace.meta().format == "kineto" || trace.meta().format == "chrome"),
        arrow_times_(trace) {
    find_split_lanes();
  }

  ExportNotes write() {
    out_ += "{\n";
    cut_properties_ = append_chrome_metadata(out_, trace_);
    out_ += "\"traceEvents\": [";
    write_track_metadata(*this);
    write_slices();
    write_markers();
    write_allocations();
    write_counters();
    write_sample_events(*this);
    out_ += "\n]";
    write_sample_tables(*this);
    out_ += "\n}\n";
    tell_losses();
    return std::move(notes_);
  }

 private:
  void write_slices() {
    ArrowWalk backward(trace_.forward_to_backward());
    ArrowWalk launches(trace_.launch_to_device());
    ArrowWalk flows(trace_.flows());
    // A trace-event file tells launches by correlation ids; Kineto's has arrows besides, which
    // Sonde's reader knows for what they are.
    const bool launch_arrows = trace_.meta().format != "chrome";
    for (const SliceId slice : all_slices(trace_)) {
      if (output_.failed()) return;
      write_slice(slice);
      walk_arrows(backward, trace_.forward_to_backward(), slice, "fwdbwd");
      if (launch_arrows)
        walk_arrows(launches, trace_.launch_to_device(), slice, categories_.launch_flow());
      walk_arrows(flows, trace_.flows(), slice, "flow");
    }
  }

  void write_slice(SliceId slice) {
    const TrackIds& ids = ids_[slices_.track(slice).index()];
    begin(ids.lane ? 'b' : 'X', slices_.track(slice));
    const std::string_view category = ids.lane ? ids.lane_category : categories_.of(slice);
    if (!category.empty()) text("cat", category);
    text("name", trace_.name(slice));
    if (ids.lane) lane_id(slice, ids);
    time(slices_.start(slice));
    if (!ids.lane) {
      out_ += ", \"dur\": ";
      append_micros(out_, slices_.duration(slice));
    }
    arguments(slice_arguments(slice));
    end();
    if (!ids.lane) return;
    begin('e', slices_.track(slice));
    text("cat", category);
    text("name", trace_.name(slice));
    lane_id(slice, ids);
    time(slices_.end(slice));
    end();
  }

  const std::vector<Fact>& slice_arguments(SliceId slice) {
    const std::vector<Fact>& known = facts_.of(slice);
    if (is_trace_event_) return known;
    // The correlation id is how a reader finds the launch of device work: made up where the format
    // that was read has another way to say it.
    more_ = known;
    const auto has = [&](std::string_view key) {
      return std::any_of(more_.begin(), more_.end(), [&](const Fact& f) { return f.key == key; });
    };
    const Links& links = trace_.launch_to_device();
    const SliceId launch = links.source(slice).valid()     ? links.source(slice)
                           : !links.targets(slice).empty() ? slice
                                                           : SliceId();
    if (launch.valid() && !has("correlation")) {
      Fact fact;
      fact.key = "correlation";
      const LaunchRow* row = trace_.launches().find(launch);
      fact.integer = row != nullptr && row->correlation != kNoNumber
                         ? row->correlation
                         : static_cast<std::int64_t>(launch.value) + 1;
      more_.push_back(fact);
    }
    const StringId* own = trace_.categories().find(slice);
    if (own != nullptr && trace_.text(*own) != categories_.of(slice) && !has("category")) {
      Fact fact;
      fact.key = "category";
      fact.type = Fact::Type::Text;
      fact.text = trace_.text(*own);
      more_.push_back(fact);
    }
    return more_;
  }

  void lane_id(SliceId slice, const TrackIds& ids) {
    const auto split = split_lanes_.find(slice.value);
    text("id", split == split_lanes_.end() ? ids.lane_id
                                           : ids.lane_id + "#" + std::to_string(split->second));
  }

  // A reader takes begin and end for the two sides of a bracket. Slices of one name that overlap in
  // part on one lane would be taken for nested ones: the later one goes to a lane of its own.
  void find_split_lanes() {
    std::vector<std::vector<SliceId>> members(trace_.tracks().size());
    for (const SliceId slice : all_slices(trace_)) {
      const std::size_t track = slices_.track(slice).index();
      if (ids_[track].lane) members[track].push_back(slice);
    }
    for (std::vector<SliceId>& list : members) {
      std::stable_sort(list.begin(), list.end(), [&](SliceId a, SliceId b) {
        return slices_.start(a) != slices_.start(b) ? slices_.start(a) < slices_.start(b)
                                                    : slices_.duration(a) > slices_.duration(b);
      });
      std::unordered_map<std::uint64_t, std::vector<Nanos>> open;  // by name and lane: their ends
      for (const SliceId slice : list) {
        for (std::uint32_t lane = 0;; ++lane) {
          std::vector<Nanos>& ends = open[std::uint64_t{slices_.name(slice).value} << 32 | lane];
          while (!ends.empty() && ends.back() <= slices_.start(slice)) ends.pop_back();
          if (!ends.empty() && ends.back() < slices_.end(slice)) continue;
          ends.push_back(slices_.end(slice));
          if (lane > 0) split_lanes_[slice.value] = lane;
          break;
        }
      }
    }
  }

  void walk_arrows(ArrowWalk& walk, const Links& links, SliceId slice, std::string_view category) {
    walk.outgoing(slice, [&](std::size_t i) { write_arrow(links, i, category, 's'); });
    walk.incoming(slice, [&](std::size_t i) { write_arrow(links, i, category, 'f'); });
  }

  void write_arrow(const Links& links, std::size_t i, std::string_view category, char phase) {
    const SliceId from = links.from(i);
    const SliceId to = links.to(i);
    if (ids_[slices_.track(from).index()].lane || ids_[slices_.track(to).index()].lane) {
      async_arrows_ += phase == 's' ? 1 : 0;
      return;
    }
    const std::optional<Nanos> end_time = arrow_times_.end(from, to);
    if (!end_time) {
      backward_arrows_ += phase == 's' ? 1 : 0;
      return;
    }
    begin(phase, slices_.track(phase == 's' ? from : to));
    text("cat", category);
    text("name", category);
    out_ += ", \"id\": ";
    append_unsigned(out_, i + 1);
    time(phase == 's' ? slices_.start(from) : *end_time);
    if (phase == 'f') out_ += ", \"bp\": \"e\"";
    end();
  }

  void write_markers() {
    const std::vector<Marker>& markers = trace_.markers();
    for (std::size_t i = 0; i < markers.size() && !output_.failed(); ++i) {
      const Marker& marker = markers[i];
      const TrackIds& ids = ids_[marker.track.index()];
      begin(ids.lane ? 'n' : 'i', marker.track);
      if (ids.lane) {
        text("cat", ids.lane_category);
        text("id", ids.lane_id);
      } else if (marker.category.valid() && !trace_.text(marker.category).empty()) {
        text("cat", trace_.text(marker.category));
      }
      text("name", trace_.text(marker.name));
      time(marker.time);
      const char scope = marker.scope == 'g' || marker.scope == 'p' ? marker.scope : 't';
      text("s", std::string_view(&scope, 1));
      arguments(facts_.of(MarkerId(i)));
      end();
    }
  }

  void write_allocations() {
    for (const Allocation& allocation : trace_.allocations()) {
      if (output_.failed()) return;
      begin('i', allocation.track);
      text("cat", "cpu_instant_event");
      text("name", allocation.out_of_memory ? "[OutOfMemory]" : "[memory]");
      time(allocation.time);
      text("s", "t");
      arguments(facts_.of(allocation));
      end();
    }
  }

  void write_counters() {
    const std::vector<CounterValue>& counters = trace_.counters();
    for (std::size_t i = 0; i < counters.size() && !output_.failed(); ++i) {
      const CounterValue& value = counters[i];
      begin('C', value.track);
      text("name", trace_.text(value.counter));
      time(value.time);
      out_ += ", \"args\": {";
      const std::string_view series = trace_.text(value.series);
      append_json_text(out_, series.empty() ? "value" : series);
      out_ += ": ";
      append_real(out_, value.value);
      out_ += '}';
      end();
    }
  }

  void tell_losses() {
    note_left_out(notes_, "arrows to or from asynchronous slices", async_arrows_);
    if (backward_arrows_ > 0)
      notes_.push_back(std::to_string(backward_arrows_) +
                       " arrows to slices that ended before left out: an arrow needs a later end");
    if (cut_properties_ > 0)
      notes_.push_back(std::to_string(cut_properties_) +
                       " values of the file's head were too long to be kept and are shortened or "
                       "left out");
    note_left_out(notes_, "stacks of allocations",
                  static_cast<std::uint64_t>(
                      std::count_if(trace_.allocations().begin(), trace_.allocations().end(),
                                    [](const Allocation& a) { return a.stack.valid(); })));
    note_left_out(notes_, "arguments of counter values", trace_.counter_arguments().size());
    note_left_out(notes_, "arguments with the key of another", facts_.left_out());
    note_left_out(notes_, "functions of a call profile", trace_.call_profile().functions.size());
    note_left_out(notes_, "places of allocations", trace_.process_memory().sites.size());
    note_left_out(notes_, "snapshots of objects", trace_.process_memory().snapshots.size());
    if (trace_.sample_types().size() > 1)
      notes_.push_back("what the samples count is not told: the format has one kind of samples");
  }

  const SliceColumns& slices_;
  SliceCategories categories_;
  FactSource facts_;
  std::vector<Fact> more_;
  std::unordered_map<std::uint32_t, std::uint32_t> split_lanes_;
  bool is_trace_event_;
  ArrowTimes arrow_times_;
  std::size_t cut_properties_ = 0;
  std::uint64_t async_arrows_ = 0;
  std::uint64_t backward_arrows_ = 0;
  ExportNotes notes_;
};

}  // namespace

Result<ExportNotes> write_chrome(const ExportInput& input, BufferedOutput& out) {
  return ChromeWriter(input.trace, out).write();
}

}  // namespace sonde
