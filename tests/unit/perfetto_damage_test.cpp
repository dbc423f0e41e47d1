// Perfetto's traces that are packed, cut, damaged, or none at all.

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "import/perfetto/perfetto.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/perfetto_file.hpp"
#include "tests/support/perfetto_traces.hpp"

namespace sonde {
namespace {

using protozero::pbf_writer;
using test::losses;
using test::PerfettoFile;
using test::read_perfetto;
using test::with_threads;

TEST(PerfettoDamage, ReadsCompressedPacketsOneLevelDeep) {
  PerfettoFile inner;
  inner.thread(11, 0, 1, 2, "t").slice(5, 8, 11, "packed");
  const auto pack = [](const std::string& bytes) {
    std::string out(compressBound(bytes.size()), '\0');
    uLongf size = out.size();
    compress(reinterpret_cast<Bytef*>(out.data()), &size,
             reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    out.resize(size);
    return out;
  };
  PerfettoFile twice;
  twice.packet([&](pbf_writer& p) { p.add_bytes(50, pack(inner.bytes())); });
  PerfettoFile file;
  file.packet([&](pbf_writer& p) { p.add_bytes(50, pack(inner.bytes())); });
  file.packet([&](pbf_writer& p) { p.add_bytes(50, pack(twice.bytes())); });
  file.packet([&](pbf_writer& p) { p.add_bytes(50, "nonsense"); });
  const Trace trace = read_perfetto(file);
  EXPECT_EQ(trace.slice_count(), 1u);
  EXPECT_EQ(losses(trace, "broken_compression"), 2u);
}

TEST(PerfettoDamage, CountsWhatItDoesNotRead) {
  PerfettoFile file = with_threads();
  file.slice(1, 2, 11, "a");
  for (const int field : {1, 66, 54, 33, 36, 200}) {
    file.packet([&](pbf_writer& p) {
      p.add_uint64(8, 5);
      p.add_bytes(static_cast<protozero::pbf_tag_type>(field), "xy");
    });
  }
  file.event(3, 11, 1, "old", [](pbf_writer& e) { e.add_int64(1, 5); });
  file.event(4, 11, 0, "legacy", [](pbf_writer& e) { e.add_bytes(6, ""); });
  file.event(UINT64_MAX, 11, 1, "far");
  const Trace trace = read_perfetto(file);
  EXPECT_EQ(trace.slice_count(), 1u);
  EXPECT_EQ(losses(trace, "ftrace_packets"), 1u);
  EXPECT_EQ(losses(trace, "stack_sample_packets"), 2u);
  EXPECT_EQ(losses(trace, "unknown_packets"), 1u);
  EXPECT_EQ(losses(trace, "old_times"), 1u);
  EXPECT_EQ(losses(trace, "old_events"), 1u);
  EXPECT_EQ(losses(trace, "bad_time"), 1u);
}

TEST(PerfettoDamage, EveryPrefixIsReadAsFarAsItGoes) {
  PerfettoFile file = with_threads();
  file.slice(1, 5, 11, "a").slice(6, 9, 11, "b");
  const std::string& bytes = file.bytes();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const Result<Trace> trace = test::try_import(bytes.substr(0, size), import_perfetto);
    if (trace) {
      EXPECT_LE(trace->slice_count(), 2u);
    } else {
      EXPECT_FALSE(trace.error().text().empty());
    }
  }
  const Trace cut = test::import_or_fail(bytes.substr(0, bytes.size() - 3), import_perfetto);
  EXPECT_EQ(cut.slice_count(), 2u);
  EXPECT_EQ(losses(cut, "file_cut"), 1u);
}

TEST(PerfettoDamage, NamesAreMendedToUtf8) {
  PerfettoFile file = with_threads();
  file.slice(1, 5, 11, "a\xff");
  const Trace trace = read_perfetto(file);
  EXPECT_EQ(trace.name(SliceId(std::uint32_t{0})), "a\xEF\xBF\xBD");
  EXPECT_EQ(losses(trace, "invalid_utf8"), 1u);
}

TEST(PerfettoDamage, OtherProtobufFilesAreNotMistaken) {
  using namespace std::string_literals;
  EXPECT_FALSE(looks_like_perfetto("\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"s));  // pprof
  EXPECT_FALSE(looks_like_perfetto("\x0a\x08\x08\x01\x12\x04/dev\x1a\x02\x08\x01"s));      // XPlane
  EXPECT_FALSE(looks_like_perfetto("\x0a\x06\x12\x04/dev"s));
  EXPECT_FALSE(looks_like_perfetto("\n\n{\"traceEvents\": []}"s));
  EXPECT_FALSE(looks_like_perfetto(""));
}

}  // namespace
}  // namespace sonde
