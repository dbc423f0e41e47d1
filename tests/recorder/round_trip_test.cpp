// What the API records is what the file holds: random programs print what they did. What the trace
// holds is looked at in tests/integration/recorded_trace_test.cpp.

#include "tests/recorder/recorded_run.hpp"
#include "tests/recorder/statements.hpp"

namespace sonde::testing {
namespace {

std::string arguments_of(const ReadRecord& record) {
  std::string text;
  for (const ReadArgument& argument : record.arguments) {
    text += (text.empty() ? "" : ";") + argument.key;
    switch (argument.type) {
      case file::ArgumentType::Int64:
        text += ":i" + std::to_string(static_cast<std::int64_t>(argument.value));
        break;
      case file::ArgumentType::Double:
        text += ":f" + hex(std::bit_cast<double>(argument.value));
        break;
      case file::ArgumentType::Name:
        text += ":t" + argument.text;
    }
  }
  return text;
}

double counter_value(const ReadRecord& record) {
  return record.extra == 1 ? std::bit_cast<double>(record.b)
                           : static_cast<double>(static_cast<std::int64_t>(record.b));
}

// As random_program.cpp says it; "" for what no thread of it says.
std::string said(const ReadRecord& record) {
  const auto number = [](auto value) { return std::to_string(value); };
  const std::string extra = number(record.extra);
  switch (record.type) {
    case file::RecordType::Slice:
      return join(
          {"slice", record.name, record.domain, extra, number(record.c), arguments_of(record)});
    case file::RecordType::AsyncSlice:
      return join({"async", record.name, record.domain, extra, arguments_of(record)});
    case file::RecordType::AsyncBegin:
      return join({"begin", record.name, record.domain, number(record.b)});
    case file::RecordType::AsyncEnd:
      return join({"end", record.name, record.domain, number(record.b)});
    case file::RecordType::Counter:
      return join({"counter", record.name, record.domain, hex(counter_value(record))});
    case file::RecordType::Marker:
      return join({"marker", record.name, record.domain,
                   std::string(1, static_cast<char>(record.extra)), arguments_of(record)});
    case file::RecordType::Allocation:
      return join({"memory", record.name, record.domain, number(record.extra >> 4),
                   number(record.extra & 15), number(record.b),
                   number(static_cast<std::int64_t>(record.c))});
    case file::RecordType::DeviceSlice:
      EXPECT_EQ(record.place.c, 1u);  // a GPU
      return join({"device", record.name, record.domain, extra, number(record.place.b),
                   number(record.place.a), number(record.b - record.a), number(record.c)});
    case file::RecordType::Link:
      return join({"link", number(record.b), number(record.c)});
    default:
      return "";
  }
}

// Every record lies in the time between the scopes around it, or around the scopes in it.
void expect_order_of_times(const std::vector<ReadRecord>& records) {
  std::uint64_t last = 0;
  for (const ReadRecord& record : records) {
    const std::uint64_t finished = record.finished();
    if (finished == 0) continue;
    // The counter of arm64 ticks but 24 to 100 million times a second: two looks may see the same.
    ASSERT_GE(finished, last);
    last = finished;
    if (record.type == file::RecordType::Slice) {
      ASSERT_LE(record.a, record.b);
    }
  }
}

TEST(RoundTrip, RandomPrograms) {
  for (int seed = 1; seed <= (sanitized() ? 5 : 25); ++seed) {
    const Folder folder;
    const ProcessResult result =
        record(folder.path(), {"random", std::to_string(seed), seed % 5 == 0 ? "20000" : "300"});
    ASSERT_EQ(result.status, 0);
    const Recording file = read_only_file(folder.path());
    EXPECT_EQ(file.header.dropped_records, 0u);
    std::map<std::uint32_t, std::string> names;
    for (const ReadRecord& name : file.of(file::RecordType::ThreadName)) {
      names[static_cast<std::uint32_t>(name.b)] = name.name;
    }
    const auto processes = file.of(file::RecordType::ProcessName);
    ASSERT_EQ(processes.size(), 1u);
    EXPECT_EQ(processes[0].name, "random program");
    Statements found;
    for (const auto& [thread, records] : file.by_thread()) {
      if (!names.contains(thread)) continue;
      expect_order_of_times(records);
      for (const ReadRecord& record : records) found[names[thread]].push_back(said(record));
    }
    const Statements expected = statements(result.out, 'F');
    ASSERT_EQ(found.size(), expected.size()) << "seed " << seed;
    for (const auto& [thread, lines] : expected) {
      const std::vector<std::string>& got = found[thread];
      for (std::size_t i = 0; i < std::min(lines.size(), got.size()); ++i) {
        ASSERT_EQ(got[i], lines[i]) << "seed " << seed << ", " << thread << ", record " << i;
      }
      ASSERT_EQ(got.size(), lines.size()) << "seed " << seed << ", " << thread;
    }
  }
}

}  // namespace
}  // namespace sonde::testing
