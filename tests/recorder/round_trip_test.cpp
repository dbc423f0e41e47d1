// What the API records is what the file holds: random programs print what they did.

#include <sstream>

#include "tests/recorder/recorded_run.hpp"

namespace sonde::testing {
namespace {

std::string arguments_of(const ReadRecord& record) {
  std::string text;
  for (const ReadArgument& argument : record.arguments) {
    text += " " + argument.key + "=";
    switch (argument.type) {
      case file::ArgumentType::Int64:
        text += std::to_string(static_cast<std::int64_t>(argument.value));
        break;
      case file::ArgumentType::Double:
        text += std::to_string(std::bit_cast<double>(argument.value));
        break;
      case file::ArgumentType::Name:
        text += argument.text;
    }
  }
  return text;
}

// As child.cpp says it.
std::string said(const ReadRecord& record) {
  const std::string both = record.name + " " + record.domain;
  switch (record.type) {
    case file::RecordType::Slice:
      return "slice " + both + " " + std::to_string(record.extra) + " " + std::to_string(record.c) +
             arguments_of(record);
    case file::RecordType::AsyncSlice:
      return "async " + both + " " + std::to_string(record.extra) + arguments_of(record);
    case file::RecordType::AsyncBegin:
      return "begin " + both + " " + std::to_string(record.b);
    case file::RecordType::AsyncEnd:
      return "end " + both + " " + std::to_string(record.b);
    case file::RecordType::Counter:
      return "counter " + both + " " + std::to_string(static_cast<std::int64_t>(record.b));
    case file::RecordType::Marker:
      return "marker " + both + " " + static_cast<char>(record.extra) + arguments_of(record);
    case file::RecordType::Allocation:
      return "memory " + both + " " + std::to_string(record.extra) + " " +
             std::to_string(record.b) + " " + std::to_string(static_cast<std::int64_t>(record.c));
    case file::RecordType::DeviceSlice:
      return "device " + both + " " + std::to_string(record.extra) + " " +
             std::to_string(record.place.b) + " " + std::to_string(record.place.a) + " " +
             std::to_string(record.b - record.a);
    case file::RecordType::Link:
      return "link " + std::to_string(record.b);
    default:
      return "";
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
    std::map<std::string, std::vector<std::string>> expected;
    std::istringstream stream(result.out);
    std::string thread;
    for (std::string line; std::getline(stream, line);) {
      if (line.rfind("thread ", 0) == 0) {
        thread = line;
      } else {
        expected[thread].push_back(line);
      }
    }
    std::map<std::uint32_t, std::string> names;
    for (const ReadRecord& name : file.of(file::RecordType::ThreadName)) {
      names[static_cast<std::uint32_t>(name.b)] = name.name;
    }
    std::map<std::string, std::vector<std::string>> found;
    for (const ReadRecord& record : file.records) {
      const std::string line = said(record);
      if (!line.empty()) found[names[record.thread]].push_back(line);
    }
    // A thread may go on in an older chunk: the order of the file is not the order of the thread.
    for (auto& [name, lines] : found) std::sort(lines.begin(), lines.end());
    for (auto& [name, lines] : expected) std::sort(lines.begin(), lines.end());
    EXPECT_EQ(found, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sonde::testing
