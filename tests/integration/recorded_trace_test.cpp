// What the API records is what the trace holds: random programs print what they did, and the trace
// that Sonde reads from their files says the same, in the same order.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "import/loader.hpp"
#include "tests/recorder/statements.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/process.hpp"

namespace sonde {
namespace {

using test::losses;
using test::ScratchFolder;
using testing::hex;
using testing::join;
using testing::Statements;

// Lines by thread and kind, each list in the order of time. Tasks and links belong to no thread:
// theirs are sorted.
using Groups = std::map<std::string, std::vector<std::string>>;

bool is_of_all_threads(const std::string& kind) {
  return kind == "async" || kind == "launched" || kind == "flow";
}

void add_line(Groups& groups, const std::string& thread, const std::string& line) {
  const std::string kind = line.substr(0, line.find('\t'));
  groups[is_of_all_threads(kind) ? kind : thread + ", " + kind].push_back(line);
}

void sort_shared(Groups& groups) {
  for (auto& [key, lines] : groups) {
    if (is_of_all_threads(key)) std::sort(lines.begin(), lines.end());
  }
}

Groups expected_groups(const std::string& output) {
  Groups groups;
  for (const auto& [thread, lines] : testing::statements(output, 'T')) {
    for (const std::string& line : lines) add_line(groups, thread, line);
  }
  sort_shared(groups);
  return groups;
}

class TraceSpeaker {
 public:
  explicit TraceSpeaker(const Trace& trace) : trace_(trace), slices_(trace.slices()) {}

  Groups groups() {
    for (const SliceId slice : slices_in_order()) add_slice(slice);
    for (const std::size_t i : in_order(trace_.markers())) add_marker(i);
    for (std::size_t i = 0; i < trace_.counters().size(); ++i) add_counter(i);
    for (const Allocation& allocation : trace_.allocations()) add_allocation(allocation);
    add_links("launched", trace_.launch_to_device());
    add_links("flow", trace_.flows());
    sort_shared(groups_);
    return std::move(groups_);
  }

 private:
  template <class Owner>
  std::string arguments(const Arguments<Owner>& table, Owner owner) const {
    std::string out;
    for (const Argument<Owner>& argument : table.of(owner)) {
      (out += out.empty() ? "" : ";") += trace_.text(argument.key());
      switch (argument.type()) {
        case ArgType::Integer:
          out += ":i" + std::to_string(argument.integer());
          break;
        case ArgType::Real:
          out += ":f" + hex(argument.real());
          break;
        case ArgType::Text:
          (out += ":t") += trace_.text(argument.text());
          break;
        case ArgType::Json:
          out += ":json";
      }
    }
    return out;
  }

  std::string text(StringId id) const { return id.valid() ? std::string(trace_.text(id)) : ""; }
  std::string thread(TrackId track) const { return text(trace_.track(track).name); }
  std::string name(SliceId slice) const { return std::string(trace_.name(slice)); }

  // By the time at which they ended: as they were recorded.
  std::vector<SliceId> slices_in_order() const {
    std::vector<SliceId> out;
    for (const SliceId slice : all_slices(trace_)) out.push_back(slice);
    std::stable_sort(out.begin(), out.end(), [&](SliceId a, SliceId b) {
      return slices_.start(a) + slices_.duration(a) < slices_.start(b) + slices_.duration(b);
    });
    return out;
  }

  static std::vector<std::size_t> in_order(const std::vector<Marker>& markers) {
    std::vector<std::size_t> out(markers.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
    std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
      return markers[a].time < markers[b].time;
    });
    return out;
  }

  void add_slice(SliceId slice) {
    const Track& track = trace_.track(slices_.track(slice));
    const StringId* const category = trace_.categories().find(slice);
    std::string domain = category ? text(*category) : "";
    const std::string kind = std::to_string(static_cast<int>(slices_.kind(slice)));
    const std::string said = arguments(trace_.arguments(), slice);
    switch (track.type) {
      case TrackType::Thread: {
        const SliceId parent = slices_.parent(slice);
        add_line(groups_, text(track.name),
                 join({"slice", name(slice), domain, kind, std::to_string(slices_.depth(slice)),
                       parent.valid() ? name(parent) : "-", said}));
        return;
      }
      case TrackType::Async: {
        constexpr std::string_view kFrame = ",frame";
        const bool frame = domain.ends_with(kFrame);
        if (frame) domain.resize(domain.size() - kFrame.size());
        add_line(groups_, "",
                 join({"async", name(slice), domain,
                       frame      ? "1"
                       : category ? "0"
                                  : "2",
                       said}));
        return;
      }
      case TrackType::Stream: {
        const DeviceRow* const row = trace_.device_work().find(slice);
        ASSERT_NE(row, nullptr);
        EXPECT_EQ(row->device, track.device);
        EXPECT_EQ(row->stream, track.tid);
        add_line(groups_, "thread " + std::to_string(track.device),
                 join({"device", name(slice), domain, kind, std::to_string(track.device),
                       std::to_string(track.tid)}));
        return;
      }
      default:
        ADD_FAILURE() << "a slice on a track of another type";
    }
  }

  void add_marker(std::size_t i) {
    const Marker& marker = trace_.markers()[i];
    add_line(groups_, thread(marker.track),
             join({"marker", text(marker.name), text(marker.category), std::string(1, marker.scope),
                   arguments(trace_.marker_arguments(), MarkerId(i))}));
  }

  // The domain says whose it is.
  void add_counter(std::size_t i) {
    const CounterValue& value = trace_.counters()[i];
    const std::string domain = thread(value.track);
    add_line(groups_, "thread " + domain.substr(domain.size() - 1),
             join({"counter", text(value.counter), domain, hex(value.value)}));
  }

  void add_allocation(const Allocation& allocation) {
    add_line(groups_, thread(allocation.track),
             join({"memory", text(allocation.tag), text(allocation.pool),
                   std::to_string(allocation.device_type), std::to_string(allocation.device),
                   std::to_string(allocation.address), std::to_string(allocation.bytes)}));
    std::int64_t& total = totals_[{allocation.device_type, allocation.device}];
    total = std::max<std::int64_t>(0, total + allocation.bytes);
    EXPECT_EQ(allocation.total_allocated, total);
  }

  void add_links(const std::string& kind, const Links& links) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      add_line(groups_, "", join({kind, name(links.from(i)), name(links.to(i))}));
    }
  }

  const Trace& trace_;
  const SliceColumns& slices_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> totals_;
  Groups groups_;
};

void expect_same(const Groups& found, const Groups& expected) {
  std::set<std::string> keys;
  for (const auto& [key, lines] : expected) keys.insert(key);
  for (const auto& [key, lines] : found) keys.insert(key);
  for (const std::string& key : keys) {
    static const std::vector<std::string> kNothing;
    const auto& said = expected.contains(key) ? expected.at(key) : kNothing;
    const auto& got = found.contains(key) ? found.at(key) : kNothing;
    EXPECT_EQ(got.size(), said.size()) << key;
    for (std::size_t i = 0; i < std::min(got.size(), said.size()); ++i) {
      ASSERT_EQ(got[i], said[i]) << key << ", number " << i;
    }
  }
}

TEST(RecordedTrace, HoldsWhatRandomProgramsRecorded) {
  std::set<std::string> kinds;
  for (int seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ScratchFolder folder;
    const testing::ProcessResult result =
        testing::run_process({SONDE_RECORDER_CHILD, "random", std::to_string(100 + seed),
                              seed % 5 == 0 ? "20000" : "300"},
                             {}, {{"SONDE_RUN_DIR", folder.path().string()}});
    ASSERT_EQ(result.status, 0);
    const Result<LoadedSet> loaded = load_traces({folder.path().string()});
    ASSERT_TRUE(loaded) << loaded.error().text();
    ASSERT_EQ(loaded->traces.size(), 1u);
    const Trace& trace = loaded->traces[0].trace;
    EXPECT_TRUE(trace.losses().empty()) << trace.losses().entries()[0].name;
    for (const Track& track : trace.tracks())
      EXPECT_EQ(trace.text(track.process), "random program");
    const Groups expected = expected_groups(result.out);
    expect_same(TraceSpeaker(trace).groups(), expected);
    for (const auto& [key, lines] : expected) kinds.insert(key);
    if (HasFatalFailure()) return;
  }
  // Each kind came up: five of each thread, and those of all.
  EXPECT_EQ(kinds.size(), 3u * 5 + 3) << "something was never recorded";
}

}  // namespace
}  // namespace sonde
