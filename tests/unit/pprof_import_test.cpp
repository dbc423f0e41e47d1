#include "import/pprof/pprof.hpp"

#include <protozero/pbf_writer.hpp>

#include "tests/support/profile_rows.hpp"

namespace sonde {
namespace {

using test::format_of;
using test::import_or_fail;
using test::losses;
using test::sample_lines;
using Lines = std::vector<std::string>;

// A profile with two types of values; functions 1 to 3 are called f1 to f3.
class PprofFile {
 public:
  PprofFile() {
    type(1, 2);
    type(3, 4);
    for (const char* text : {"", "samples", "count", "cpu", "milliseconds", "f1", "f2", "f3",
                             "a.py", "thread id", "thread name", "worker", "request", "libx.so"}) {
      strings_.emplace_back(text);
    }
    for (std::uint64_t id = 1; id <= 3; ++id) {
      std::string function;
      protozero::pbf_writer writer(function);
      writer.add_uint64(1, id);
      writer.add_int64(2, static_cast<std::int64_t>(id) + 4);
      writer.add_int64(4, 8);
      message(5, function);
    }
  }

  void type(std::int64_t name, std::int64_t unit) {
    std::string value;
    protozero::pbf_writer writer(value);
    writer.add_int64(1, name);
    writer.add_int64(2, unit);
    message(1, value);
  }

  // Lines: the innermost inlined function first.
  void location(std::uint64_t id, const std::vector<std::uint64_t>& functions,
                std::uint64_t mapping = 0, std::uint64_t address = 0) {
    std::string out;
    protozero::pbf_writer writer(out);
    writer.add_uint64(1, id);
    if (mapping) writer.add_uint64(2, mapping);
    if (address) writer.add_uint64(3, address);
    for (const std::uint64_t function : functions) {
      protozero::pbf_writer line(writer, 4);
      line.add_uint64(1, function);
      line.add_int64(2, static_cast<std::int64_t>(10 * function));
    }
    message(4, out);
  }

  void sample(const std::vector<std::uint64_t>& locations, const std::vector<std::int64_t>& values,
              bool packed = true, const std::string& label = {}) {
    std::string out;
    protozero::pbf_writer writer(out);
    if (packed) {
      writer.add_packed_uint64(1, locations.begin(), locations.end());
      writer.add_packed_int64(2, values.begin(), values.end());
    } else {
      for (const std::uint64_t location : locations) writer.add_uint64(1, location);
      for (const std::int64_t value : values) writer.add_int64(2, value);
    }
    if (!label.empty()) writer.add_message(3, label);
    message(2, out);
  }

  static std::string label(std::int64_t key, std::int64_t text, std::int64_t number) {
    std::string out;
    protozero::pbf_writer writer(out);
    writer.add_int64(1, key);
    if (text) writer.add_int64(2, text);
    if (number) writer.add_int64(3, number);
    return out;
  }

  void message(std::uint32_t tag, const std::string& value) {
    protozero::pbf_writer(bytes_).add_message(tag, value);
  }

  std::string bytes() const {
    std::string out = bytes_;
    protozero::pbf_writer writer(out);
    for (const std::string& text : strings_) writer.add_string(6, text);
    return out;
  }

 private:
  std::string bytes_;
  std::vector<std::string> strings_;
};

TEST(Pprof, ReadsStacksFromTheLeafWithInlinedFunctions) {
  PprofFile file;
  file.location(1, {1});
  file.location(2, {3, 2});  // f3 was inlined into f2
  file.sample({2, 1}, {5, 70});
  file.sample({1}, {1, 0}, false);
  const Trace trace = import_or_fail(file.bytes(), import_pprof);
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_EQ(sample_lines(trace, 0), (Lines{"f1;f2;f3 5", "f1 1"}));
  EXPECT_EQ(sample_lines(trace, 1), (Lines{"f1;f2;f3 70000000"}));
  EXPECT_EQ(trace.text(trace.sample_types()[1].name), "cpu");
  EXPECT_EQ(trace.text(trace.sample_types()[1].unit), "ns");
  EXPECT_EQ(trace.stacks()[2].line, 30);
  EXPECT_EQ(trace.text(trace.stacks()[2].file), "a.py");
  EXPECT_EQ(format_of(file.bytes()), "pprof");
}

TEST(Pprof, ReadsThreadsAndCountsOtherLabels) {
  PprofFile file;
  file.location(1, {1});
  file.sample({1}, {1, 1}, true, PprofFile::label(9, 0, 77));
  file.sample({1}, {1, 1}, true, PprofFile::label(10, 11, 0));
  file.sample({1}, {1, 1}, true, PprofFile::label(12, 0, 5));
  const Trace trace = import_or_fail(file.bytes(), import_pprof);
  ASSERT_EQ(trace.tracks().size(), 3u);
  EXPECT_EQ(trace.tracks()[0].tid, 77);
  EXPECT_EQ(trace.text(trace.tracks()[1].name), "worker");
  EXPECT_EQ(losses(trace, "labels_left_out"), 1u);
}

TEST(Pprof, NamesWhatHasNoFunction) {
  PprofFile file;
  std::string mapping;
  protozero::pbf_writer writer(mapping);
  writer.add_uint64(1, 4);
  writer.add_int64(5, 13);
  file.message(3, mapping);
  file.location(1, {}, 4, 0x1234);
  file.location(2, {99});
  file.sample({1, 2, 55}, {1, 1});
  file.sample({1}, {1});
  const Trace trace = import_or_fail(file.bytes(), import_pprof);
  EXPECT_EQ(sample_lines(trace, 0), (Lines{"[unknown];[unknown];0x1234 1", "0x1234 1"}));
  EXPECT_EQ(losses(trace, "location_missing"), 1u);
  EXPECT_EQ(losses(trace, "function_missing"), 1u);
  EXPECT_EQ(losses(trace, "values_unequal"), 1u);
  EXPECT_EQ(trace.text(trace.stacks()[2].file), "libx.so");
}

TEST(Pprof, ACutFileIsReadOrRefused) {
  PprofFile file;
  file.location(1, {1});
  file.sample({1}, {1, 1});
  const std::string whole = file.bytes();
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    const Result<Trace> trace = test::try_import(whole.substr(0, cut), import_pprof);
    if (trace) continue;
    EXPECT_NE(trace.error().text().find("breaks off"), std::string::npos);
  }
  EXPECT_FALSE(test::try_import("\x0A\x04\x08\x01\x10\x02\x12\xFF", import_pprof).ok());
}

TEST(Pprof, OtherBinaryFilesAreNotTaken) {
  EXPECT_EQ(format_of(std::string(1000, '\0')), "");
  EXPECT_EQ(format_of(std::string("\n\n\n words\n")), "");
  EXPECT_EQ(format_of(std::string("\x0A\x05hello\x12\x02xx", 11)), "");
  EXPECT_EQ(format_of(std::string("\x7F"
                                  "ELF\x02\x01\x01\0\0\0",
                                  10)),
            "");
}

TEST(Pprof, TheSharedFileIsRead) {
  const std::string packed =
      test::read_bytes(std::string(SONDE_SHARED_DATA) + "/pprof/simple.prof");
  if (packed.empty()) GTEST_SKIP() << "the shared data is not on this machine";
  const Trace trace = import_or_fail(packed, import_pprof);
  EXPECT_TRUE(trace.losses().empty());
  const FunctionProfile profile = function_profile(trace);
  const std::size_t delta = test::function_named(profile, "main.delta");
  // As `protoc --decode_raw` has it, summed by hand: 22 samples of its own, 58 in all.
  EXPECT_EQ(profile.self_of(delta, 0), 22);
  EXPECT_EQ(profile.total_of(delta, 0), 58);
  EXPECT_EQ(profile.total_of(delta, 1), 580e6);
  EXPECT_EQ(profile.whole[0], 150);
}

}  // namespace
}  // namespace sonde
