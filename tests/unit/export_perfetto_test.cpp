#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "import/loader.hpp"
#include "tests/support/export_text.hpp"
#include "tests/support/files.hpp"
#include "tests/support/process.hpp"
#include "tests/support/rich_trace.hpp"

namespace sonde {
namespace {

using test::export_text;

// A reader of the wire format that knows nothing of the writer: written from the rules of protobuf.
struct Field {
  std::uint32_t number = 0;
  std::uint32_t type = 0;
  std::uint64_t value = 0;
  std::string_view bytes;
};

bool varint(std::string_view& in, std::uint64_t& out) {
  out = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in[0]);
    in.remove_prefix(1);
    out |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

std::vector<Field> fields(std::string_view in) {
  std::vector<Field> out;
  while (!in.empty()) {
    std::uint64_t key = 0;
    if (!varint(in, key)) ADD_FAILURE() << "a broken key";
    Field field;
    field.number = static_cast<std::uint32_t>(key >> 3);
    field.type = static_cast<std::uint32_t>(key & 7);
    std::uint64_t length = 0;
    if (field.type == 0) {
      EXPECT_TRUE(varint(in, field.value));
    } else if (field.type == 1 || field.type == 2) {
      if (field.type == 1)
        length = 8;
      else
        EXPECT_TRUE(varint(in, length));
      if (length > in.size()) {
        ADD_FAILURE() << "a field runs over its end";
        return out;
      }
      field.bytes = in.substr(0, length);
      if (field.type == 1) std::memcpy(&field.value, field.bytes.data(), 8);
      in.remove_prefix(length);
    } else {
      ADD_FAILURE() << "wire type " << field.type;
      return out;
    }
    out.push_back(field);
  }
  return out;
}

struct DecodedSlice {
  std::uint64_t track;
  std::uint64_t start;
  std::uint64_t end;
  std::string name;
  std::string category;
  std::map<std::string, std::string> annotations;
};

// Checks the rules of the format packet by packet, and collects what a viewer would show.
class Decoder {
 public:
  explicit Decoder(std::string_view file) {
    for (const Field& field : fields(file)) {
      EXPECT_EQ(field.number, 1u);
      EXPECT_EQ(field.type, 2u);
      packet(field.bytes);
    }
    for (const auto& [track, open] : open_) EXPECT_TRUE(open.empty()) << "a slice never ends";
    for (const auto& [flow, ends] : flows_) {
      EXPECT_EQ(ends.first, 1) << "an arrow without a begin";
      EXPECT_EQ(ends.second, 1) << "an arrow without an end";
    }
  }

  std::vector<DecodedSlice> slices;
  std::map<std::uint64_t, std::string> tracks;  // name
  std::map<std::uint64_t, std::uint64_t> parents;
  std::set<std::uint64_t> counter_tracks;
  std::vector<std::pair<std::uint64_t, double>> counters;
  std::size_t instants = 0;
  std::size_t packets = 0;
  std::size_t arrows() const { return flows_.size(); }
  bool snapshot = false;

 private:
  void packet(std::string_view bytes) {
    ++packets;
    std::uint64_t timestamp = 0, sequence = 0, flags = 0;
    bool has_time = false;
    std::string_view event, interned, descriptor, defaults, clocks;
    for (const Field& f : fields(bytes)) {
      if (f.number == 8) timestamp = f.value, has_time = true;
      if (f.number == 10) sequence = f.value;
      if (f.number == 13) flags = f.value;
      if (f.number == 11) event = f.bytes;
      if (f.number == 12) interned = f.bytes;
      if (f.number == 60) descriptor = f.bytes;
      if (f.number == 59) defaults = f.bytes;
      if (f.number == 6) clocks = f.bytes;
    }
    EXPECT_NE(sequence, 0u) << "every packet needs its sequence";
    if (packets == 1) {
      EXPECT_EQ(flags & 1, 1u) << "the first packet clears the state";
      EXPECT_FALSE(defaults.empty());
    }
    snapshot = snapshot || !clocks.empty();
    for (const Field& list : fields(interned)) {
      std::uint64_t id = 0;
      std::string text;
      for (const Field& f : fields(list.bytes)) {
        if (f.number == 1) id = f.value;
        if (f.number == 2) text = f.bytes;
      }
      EXPECT_NE(id, 0u);
      EXPECT_TRUE(names_[list.number].emplace(id, text).second) << "an id was given twice";
    }
    if (!descriptor.empty()) track(descriptor);
    if (event.empty()) return;
    EXPECT_TRUE(has_time);
    EXPECT_EQ(flags & 2, 2u) << "events use interned names";
    track_event(event, timestamp);
  }

  void track(std::string_view bytes) {
    std::uint64_t uuid = 0, parent = 0;
    std::string name;
    bool counter = false;
    for (const Field& f : fields(bytes)) {
      if (f.number == 1) uuid = f.value;
      if (f.number == 5) parent = f.value;
      if (f.number == 2) name = f.bytes;
      if (f.number == 8) counter = true;
      if (f.number == 3 || f.number == 4) {
        for (const Field& g : fields(f.bytes)) {
          if (g.number == (f.number == 3 ? 6u : 5u)) name = g.bytes;
        }
      }
    }
    EXPECT_NE(uuid, 0u);
    EXPECT_TRUE(tracks.emplace(uuid, name).second) << "a uuid was given twice";
    if (parent != 0) {
      EXPECT_TRUE(tracks.contains(parent)) << "the parent comes first";
    }
    parents[uuid] = parent;
    if (counter) counter_tracks.insert(uuid);
  }

  std::string interned(std::uint32_t list, std::uint64_t id) {
    EXPECT_TRUE(names_[list].contains(id)) << "used before it was sent";
    return names_[list][id];
  }

  void track_event(std::string_view bytes, std::uint64_t time) {
    std::uint64_t type = 0, track = 0;
    DecodedSlice slice{};
    double value = 0;
    for (const Field& f : fields(bytes)) {
      if (f.number == 9) type = f.value;
      if (f.number == 11) track = f.value;
      if (f.number == 10) slice.name = interned(2, f.value);
      if (f.number == 3) slice.category = interned(1, f.value);
      if (f.number == 44) std::memcpy(&value, &f.value, 8);
      if (f.number == 47) ++flows_[f.value].first;
      if (f.number == 48) ++flows_[f.value].second;
      if (f.number == 47 || f.number == 48) {
        EXPECT_EQ(f.type, 1u) << "flow ids are fixed64";
      }
      if (f.number == 4) annotation(f.bytes, slice.annotations);
    }
    EXPECT_TRUE(tracks.contains(track)) << "an event on an unknown track";
    std::vector<DecodedSlice>& open = open_[track];
    if (type == 1) {
      slice.track = track;
      slice.start = time;
      if (!open.empty()) {
        EXPECT_GE(time, open.back().start);
      }
      open.push_back(slice);
    } else if (type == 2) {
      ASSERT_FALSE(open.empty()) << "an end without a begin";
      open.back().end = time;
      EXPECT_GE(time, open.back().start);
      slices.push_back(open.back());
      open.pop_back();
    } else if (type == 3) {
      ++instants;
    } else {
      EXPECT_EQ(type, 4u);
      EXPECT_TRUE(counter_tracks.contains(track));
      counters.emplace_back(time, value);
    }
  }

  void annotation(std::string_view bytes, std::map<std::string, std::string>& out) {
    std::string key, value;
    for (const Field& f : fields(bytes)) {
      double real = 0;
      if (f.number == 1) key = interned(3, f.value);
      if (f.number == 4) value = std::to_string(static_cast<std::int64_t>(f.value));
      if (f.number == 5) std::memcpy(&real, &f.value, 8), value = std::to_string(real);
      if (f.number == 6 || f.number == 9) value = f.bytes;
    }
    EXPECT_TRUE(out.emplace(key, value).second) << key;
  }

  std::map<std::uint32_t, std::map<std::uint64_t, std::string>> names_;
  std::map<std::uint64_t, std::vector<DecodedSlice>> open_;
  std::map<std::uint64_t, std::pair<int, int>> flows_;
};

// The slices of the file are those of the trace: name, start, end.
void expect_same_slices(const Trace& trace, const Decoder& decoded) {
  ASSERT_EQ(decoded.slices.size(), trace.slice_count());
  using Key = std::tuple<std::int64_t, std::int64_t, std::string>;
  std::multiset<Key> expected;
  std::multiset<Key> actual;
  for (const SliceId s : all_slices(trace)) {
    const Nanos origin = trace.meta().origin;
    expected.insert({trace.slices().start(s) + origin, trace.slices().end(s) + origin,
                     std::string(trace.name(s))});
  }
  for (const DecodedSlice& s : decoded.slices) {
    actual.insert({static_cast<std::int64_t>(s.start), static_cast<std::int64_t>(s.end), s.name});
  }
  EXPECT_EQ(expected, actual);
}

TEST(ExportPerfetto, KeepsTheWireRulesWithEverythingInIt) {
  const Trace trace = test::rich_trace();
  const test::Exported file = export_text("perfetto", trace);
  ASSERT_EQ(file.error, "");
  const Decoder decoded(file.text);
  expect_same_slices(trace, decoded);
  EXPECT_EQ(decoded.arrows(), 3u);
  EXPECT_EQ(decoded.instants, trace.markers().size() + trace.allocations().size());
  EXPECT_EQ(decoded.counters.size(), trace.counters().size() + trace.allocations().size());
  EXPECT_TRUE(decoded.snapshot);
  const auto found =
      std::find_if(decoded.slices.begin(), decoded.slices.end(),
                   [](const DecodedSlice& s) { return s.name == "<script>alert(1)</script>"; });
  ASSERT_NE(found, decoded.slices.end());
  EXPECT_EQ(found->annotations.at("n<&\">"), "-7");
  EXPECT_EQ(found->annotations.at("x"), "0.500000");
  EXPECT_EQ(found->annotations.at("s"), "<script>alert(1)</script>");
  EXPECT_EQ(found->annotations.at("j"), "[1, {\"a\": null}]");
  EXPECT_EQ(found->annotations.at("Input Dims"), "[[2, 3]]");
}

TEST(ExportPerfetto, OverlapsGoToLanesOfTheirOwn) {
  const Trace trace = test::rich_trace();
  const Decoder decoded(export_text("perfetto", trace).text);
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  for (const DecodedSlice& s : decoded.slices) {
    if (s.name == "left") left = s.track;
    if (s.name == "right") right = s.track;
  }
  ASSERT_NE(left, right);
  EXPECT_EQ(decoded.tracks.at(right), "main \"&\" thread (overlap 1)");
  EXPECT_EQ(decoded.parents.at(right), left);
}

TEST(ExportPerfetto, StreamsLieBelowTheirDevice) {
  const Decoder decoded(export_text("perfetto", test::rich_trace()).text);
  for (const auto& [uuid, name] : decoded.tracks) {
    if (name != "stream 7") continue;
    EXPECT_EQ(decoded.tracks.at(decoded.parents.at(uuid)), "GPU 0 (py<thon>)");
    return;
  }
  FAIL() << "no stream";
}

TEST(ExportPerfetto, RealTracesKeepAllSlices) {
  for (const char* name : {"resnet50_stack", "ddp_rank0", "resnet50_workers0"}) {
    SCOPED_TRACE(name);
    const Result<Trace> trace =
        load_trace(std::string(SONDE_TEST_DATA) + "/" + name + ".pt.trace.json.gz");
    ASSERT_TRUE(trace.ok());
    const Decoder decoded(export_text("perfetto", *trace).text);
    expect_same_slices(*trace, decoded);
    EXPECT_EQ(decoded.arrows(), trace->launch_to_device().size() +
                                    trace->forward_to_backward().size() + trace->flows().size());
  }
}

// Every slice overlaps every other in part: lanes run out, and what does not fit is cut and told.
TEST(ExportPerfetto, TooManyOverlapsAreCutAndTold) {
  TraceBuilder builder;
  const TrackId track = builder.add_track({});
  for (int i = 0; i < 200; ++i)
    builder.add_slice(i, 1000, track, builder.intern("x"), SliceKind::Other);
  builder.nest(1);
  const Trace trace = builder.finish();
  const test::Exported file = export_text("perfetto", trace);
  const Decoder decoded(file.text);
  EXPECT_EQ(decoded.slices.size(), 200u);
  ASSERT_EQ(file.notes.size(), 1u);
  EXPECT_EQ(file.notes[0], "136 slices overlap too many others and are cut");
}

TEST(ExportPerfetto, ProtocDecodesIt) {
  if (::access("/usr/bin/protoc", X_OK) != 0) GTEST_SKIP() << "protoc is not installed";
  const std::string file = export_text("perfetto", test::rich_trace()).text;
  const testing::ProcessResult result =
      testing::run_process({"/usr/bin/protoc", "--decode_raw"}, file);
  EXPECT_EQ(result.status, 0) << result.err;
  std::size_t packets = 0;
  for (std::size_t at = 0; (at = result.out.find("\n1 {", at)) != std::string::npos; ++at)
    ++packets;
  EXPECT_EQ(packets + 1, Decoder(file).packets);
}

}  // namespace
}  // namespace sonde
