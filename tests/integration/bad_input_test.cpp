// What the program says and how it ends when a file is not what it should be: never a crash, a hang
// or an empty report without a reason.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/bounded_run.hpp"
#include "tests/support/files.hpp"
#include "tests/support/well_behaved.hpp"

namespace sonde {
namespace {

using test::events;
using test::expect_well_behaved;
using test::gzip;
using test::kGood;
using test::operation;
using test::Ran;
using test::run_program;
using test::ScratchFolder;
using test::unwrapped;
using test::zstd;

std::string repeat(int count, const std::function<std::string(int)>& event) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    out += event(i);
  }
  return out;
}

struct Case {
  std::string name;
  std::function<std::string()> bytes;
  int exit_code;
  std::string message;  // in what `report` and `info` say
  std::string file = "trace.json";
};

void expect_message(const Ran& ran, const Case& row) {
  EXPECT_EQ(ran.exit_code, row.exit_code) << ran.all().substr(0, 2'000);
  EXPECT_NE(unwrapped(ran.all()).find(row.message), std::string::npos)
      << "expected: " << row.message << "\ngot: " << ran.all().substr(0, 4'000);
}

class BadInput : public testing::TestWithParam<Case> {};

TEST_P(BadInput, IsExplained) {
  const Case& row = GetParam();
  const ScratchFolder folder;
  const std::string path = folder.write(row.file, row.bytes());
  for (const char* command : {"report", "info"}) {
    SCOPED_TRACE(command);
    const Ran ran = run_program({SONDE_BINARY, command, path});
    expect_well_behaved(ran, path);
    expect_message(ran, row);
  }
}

TEST_P(BadInput, IsTheSameFromStandardInput) {
  const Case& row = GetParam();
  const ScratchFolder folder;
  test::RunOptions options;
  options.input = folder.write(row.file, row.bytes());
  const Ran ran = run_program({SONDE_BINARY, "info", "-"}, options);
  expect_well_behaved(ran, "standard input");
  expect_message(ran, row);
}

const std::vector<Case>& unreadable() {
  static const std::vector<Case> rows = {
      {"empty_file", [] { return std::string(); }, 1, "the file is empty"},
      {"only_spaces", [] { return std::string(5'000, ' '); }, 1,
       "not a trace of a format that Sonde knows"},
      {"gzip_cut_in_its_header", [] { return gzip(events(kGood)).substr(0, 7); }, 1, "it was cut"},
      {"gzip_of_nothing", [] { return gzip(""); }, 1, "the file is empty"},
      {"zstd_cut_in_its_header", [] { return zstd(events(kGood)).substr(0, 6); }, 1, "it was cut"},
      {"words", [] { return std::string("This is a letter, not a trace.\n"); }, 1,
       "not a trace of a format that Sonde knows"},
      {"binary_file",
       [] {
         return std::string(
                    "\x7F"
                    "ELF\x02\x01\x01\0\0\0",
                    10) +
                std::string(10'000, '\0');
       },
       1, "a binary file of a format that Sonde does not know"},
      {"gzip_of_a_binary_file", [] { return gzip(std::string(100'000, '\0')); }, 1,
       "a binary file"},
      {"empty_object", [] { return std::string("{}"); }, 1, "no \"traceEvents\" list"},
      {"json_that_is_no_trace",
       [] { return std::string(R"({"learning_rate": 0.1, "layers": [1, 2]})"); }, 1,
       "no \"traceEvents\" list"},
      {"events_that_are_no_list", [] { return std::string(R"({"traceEvents": 5})"); }, 1,
       "no \"traceEvents\" list"},
      {"cut_before_the_events", [] { return std::string(R"({"traceEvents":)"); }, 1, "it was cut"},
      {"cut_in_the_first_key", [] { return std::string(R"({"traceEv)"); }, 1, "it was cut"},
      {"one_brace", [] { return std::string("{"); }, 1, "it was cut"},
  };
  return rows;
}

const std::vector<Case>& partly_readable() {
  static const std::vector<Case> rows = {
      {"empty_list", [] { return std::string("[]"); }, 0, "The list of events is empty"},
      {"open_list", [] { return std::string("["); }, 0, "The list of events is empty"},
      {"no_events", [] { return events(""); }, 0, "The list of events is empty"},
      {"cut_behind_the_bracket", [] { return std::string(R"({"traceEvents":[)"); }, 0,
       "it was cut"},
      {"truncated_gzip",
       [] {
         const std::string packed = gzip(events(repeat(
             20'000, [](int i) { return operation("op" + std::to_string(i * 7919 % 1000)); })));
         return packed.substr(0, packed.size() / 2);
       },
       0, "The gzip file ends before its data does: it was cut"},
      {"truncated_zstd",
       [] {
         const std::string packed = zstd(events(repeat(
             60'000, [](int i) { return operation("op" + std::to_string(i * 7919 % 10'007)); })));
         return packed.substr(0, packed.size() / 2);
       },
       0, "The zstd file ends before its data does: it was cut"},
      {"garbage_behind_gzip", [] { return gzip(events(kGood)) + "garbage"; }, 0,
       "Bytes that are no gzip data follow"},
      {"garbage_behind_zstd", [] { return zstd(events(kGood)) + "garbage"; }, 0,
       "Bytes that are no zstd data follow"},
      {"wrong_gzip_checksum",
       [] {
         std::string packed = gzip(events(kGood));
         packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
         return packed;
       },
       0, "The gzip checksum does not match"},
      {"text_behind_the_trace", [] { return events(kGood) + "and more"; }, 0,
       "Text follows behind the end of the trace"},
      {"one_raw_quote_in_a_name", [] { return events(operation("say \"hi") + "," + kGood); }, 0,
       "Events with raw quotes inside of a text"},
      {"raw_quotes_in_a_name", [] { return events(operation("say \"hi\" there") + "," + kGood); },
       0, "Events with raw quotes inside of a text"},
      {"json_in_a_name", [] { return events(operation(R"(f({"a": [1, "b"]}))") + "," + kGood); }, 0,
       "Events with raw quotes inside of a text"},
      {"control_characters_in_a_name",
       [] { return events(operation("a\n\t\x01\x02z") + "," + kGood); }, 0, "operator"},
      {"invalid_utf8", [] { return events(operation("a\xFF\xC3(z") + "," + kGood); }, 0,
       "Texts with bytes that are no UTF-8"},
      {"time_as_text", [] { return events(operation("a", R"("ts":"10","dur":"5")")); }, 0,
       "Events whose time stands in quotes"},
      {"time_is_a_word",
       [] { return events(operation("a", R"("ts":"soon","dur":5)") + "," + kGood); }, 0,
       "Events whose time is no number that a clock can show"},
      {"time_is_missing", [] { return events(operation("a", R"("dur":5)") + "," + kGood); }, 0,
       "Events without a time"},
      {"duration_is_nan", [] { return events(operation("a", R"("ts":1,"dur":NaN)")); }, 0,
       "Durations that are no number"},
      {"negative_duration", [] { return events(operation("a", R"("ts":1,"dur":-7)")); }, 0,
       "Negative durations"},
      {"enormous_duration",
       [] { return events(operation("a", R"("ts":1,"dur":3153600000000000)")); }, 0,
       "longer than ten years"},
      {"absurd_numbers",
       [] {
         return events(
             operation("a", R"("ts":1e400,"dur":1)") + "," +
             operation("b", R"("ts":99999999999999999999,"dur":1)") + "," +
             operation(
                 "c",
                 R"("ts":1,"dur":1e400,"args":{"External id":99999999999999999999,"Sequence number":1e400,"Ev Idx":-9223372036854775808})"));
       },
       0, "Events whose time is no number that a clock can show; they were passed over (2 times"},
      {"times_at_both_ends_of_the_clock",
       [] {
         return events(operation("a", R"("ts":-4000000000000000,"dur":315360000000000)") + "," +
                       operation("b", R"("ts":3999999999999999,"dur":315360000000000)"));
       },
       0, "operator"},
      {"duplicate_correlation_ids",
       [] {
         return events(repeat(3, [](int i) {
           const std::string at = std::to_string(i * 10);
           return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" +
                  at + R"(,"dur":2,"args":{"correlation":7}},)" +
                  R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + at +
                  R"(,"dur":2,"args":{"correlation":7,"device":0,"stream":7}})";
         }));
       },
       0, "Launch calls that share a correlation id with another"},
      {"kernels_without_launch",
       [] {
         return events(
             R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2,"args":{"correlation":7,"device":0,"stream":7}})");
       },
       0, "Kernels and copies whose launch call is not in the trace"},
      {"unknown_categories",
       [] {
         return events(R"({"ph":"X","cat":"quantum","name":"q","pid":0,"tid":7,"ts":1,"dur":2})");
       },
       0, "Events of a category that Sonde does not know"},
      {"unknown_phase", [] { return events(R"({"ph":"?","name":"q","pid":0,"tid":7,"ts":1})"); }, 0,
       "Events of a type (ph) that the format does not have"},
      {"pid_and_tid_as_objects",
       [] {
         return events(
             R"({"ph":"X","cat":"cpu_op","name":"q","pid":{"a":1},"tid":[1,2],"ts":1,"dur":2})");
       },
       0, "Events whose pid, tid or id is neither a number nor a text"},
      {"events_that_are_no_objects",
       [] { return events("1, \"two\", null, [3, {\"ph\":\"X\"}], true, " + kGood); }, 0,
       "Something in the list of events is no event"},
      {"events_without_anything", [] { return events("{}, {}, {}"); }, 0, "Events without a time"},
      {"unreadable_event", [] { return events(R"({"ph": "X" "name" oops},)" + kGood); }, 0,
       "Events that are not well-formed JSON"},
      {"keys_twice",
       [] {
         return events(
             R"({"ph":"X","ph":"X","cat":"cpu_op","name":"a","name":"b","pid":1,"tid":1,"ts":1,"ts":2,"dur":3,"dur":4})");
       },
       0, "operator"},
      {"metadata_with_raw_quotes",
       [] { return R"({"note": "a "raw" one", "traceEvents": [)" + kGood + "]}"; }, 0,
       "A top-level value of the file is not well-formed JSON"},
      {"a_million_open_lists_in_args",
       [] {
         return events(operation("a", R"("ts":1,"dur":2,"args":{"Input Dims":)" +
                                          std::string(1'000'000, '[') + "}") +
                       "," + kGood);
       },
       0, "Events that are not well-formed JSON"},
      {"a_million_closed_lists_in_args",
       [] {
         return events(operation("a", R"("ts":1,"dur":2,"args":{"Input Dims":)" +
                                          std::string(1'000'000, '[') +
                                          std::string(1'000'000, ']') + "}") +
                       "," + kGood);
       },
       0, "operator"},
      {"an_event_of_ten_megabytes",
       [] { return events(operation(std::string(10'000'000, 'n')) + "," + kGood); }, 0, "operator"},
      {"a_million_nested_events",
       [] {
         return events(repeat(1'000'000, [](int i) {
           return operation("n", R"("ts":)" + std::to_string(i) + R"(,"dur":)" +
                                     std::to_string(2 * (1'000'000 - i)));
         }));
       },
       0, "operator"},
      {"a_million_nested_calls_of_every_kind",
       [] {
         constexpr const char* kCategories[] = {"cpu_op", "python_function", "cuda_runtime",
                                                "user_annotation", "kernel"};
         return events(repeat(300'000, [&](int i) {
           return R"({"ph":"X","cat":")" + std::string(kCategories[i % 5]) +
                  R"(","name":"n","pid":1,"tid":1,"ts":)" + std::to_string(i) + R"(,"dur":)" +
                  std::to_string(2 * (300'000 - i)) + R"(,"args":{"correlation":)" +
                  std::to_string(i % 5 == 4 ? i - 2 : i) + R"(,"External id":)" +
                  std::to_string(i) + "}}";
         }));
       },
       0, "operator"},
      {"many_processes",
       [] {
         return events(repeat(200'000,
                              [](int i) {
                                return R"({"ph":"M","name":"process_name","pid":)" +
                                       std::to_string(i) + R"(,"args":{"name":"p"}})";
                              }) +
                       "," + kGood);
       },
       0, "operator"},
      {"names_that_speak_to_the_terminal",
       [] {
         return events(operation("\x1b[31mred\x1b]0;title\x07 \\u001b[2J \\u009b31m \\u0000 "
                                 "<script>alert(1)</script>") +
                       "," + kGood);
       },
       0, "operator"},
      {"a_trace_named_otherwise", [] { return gzip(events(kGood)); }, 0, "operator", "notes.txt"},
  };
  return rows;
}

std::string case_name(const testing::TestParamInfo<Case>& row) { return row.param.name; }

INSTANTIATE_TEST_SUITE_P(Unreadable, BadInput, testing::ValuesIn(unreadable()), case_name);
INSTANTIATE_TEST_SUITE_P(PartlyReadable, BadInput, testing::ValuesIn(partly_readable()), case_name);

}  // namespace
}  // namespace sonde
