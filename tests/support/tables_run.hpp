#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "import/loader.hpp"
#include "tests/support/files.hpp"
#include "tests/support/sonde_file.hpp"
#include "trace/builder.hpp"
#include "trace/tables/writer.hpp"

namespace sonde::test {

// A .tables file written by the agents' own writer, with texts and codes by their content. A tick
// is 10 ns, as in SondeFile.
class TablesRun {
 public:
  explicit TablesRun(const std::filesystem::path& folder, const std::string& stem = "demo",
                     std::uint64_t max_bytes = 0)
      : recording_((folder / (stem + ".sonde")).string()),
        tables_((folder / (stem + ".tables")).string()) {
    EXPECT_EQ(writer.open(tables_.c_str(), max_bytes), 0);
  }

  tables::Writer writer;
  SondeFile recording;

  std::uint32_t text(std::string_view text) {
    const auto [at, added] = texts_.try_emplace(std::string(text), 0);
    if (added) at->second = writer.add_text(text.data(), text.size());
    return at->second;
  }

  std::uint32_t code(std::string_view name, std::string_view file, std::int32_t line,
                     std::string_view qualified = {}, std::uint32_t flags = 0) {
    const tables::CodeRow row{++codes_,
                              text(name),
                              qualified.empty() ? 0 : text(qualified),
                              file.empty() ? 0 : text(file),
                              line,
                              flags};
    writer.add(tables::Table::Code, row);
    return row.id;
  }

  void function(std::uint32_t code, std::uint64_t calls, std::uint64_t recursive,
                std::uint64_t self, std::uint64_t total, std::uint32_t thread = 7) {
    writer.add(tables::Table::Function,
               tables::FunctionRow{code, thread, calls, recursive, self, total});
  }
  void call(std::uint32_t caller, std::uint32_t callee, std::uint64_t calls,
            std::uint64_t recursive, std::uint64_t self, std::uint64_t total,
            std::uint32_t thread = 7) {
    writer.add(tables::Table::Call,
               tables::CallRow{caller, callee, thread, 0, calls, recursive, self, total});
  }
  void line(std::uint32_t code, std::int32_t line, std::uint64_t hits, std::uint64_t ticks,
            std::uint32_t thread = 7) {
    writer.add(tables::Table::Line, tables::LineRow{code, line, thread, 0, hits, ticks});
  }
  std::uint32_t frame(std::uint32_t caller, std::uint32_t code, std::int32_t line) {
    writer.add(tables::Table::Frame, tables::FrameRow{++frames_, caller, code, line});
    return frames_;
  }
  // `time` in ticks since the begin of the recording.
  void sample(std::uint64_t time, std::uint32_t frame, std::uint64_t wall, std::uint64_t cpu,
              std::uint32_t flags = 0, std::uint32_t thread = 7) {
    writer.add(tables::Table::Sample,
               tables::SampleRow{SondeFile::kFirstTick + time, thread, frame, wall, cpu, flags, 0});
  }
  void site(std::uint32_t frame, std::uint64_t allocations, std::uint64_t bytes,
            std::uint64_t frees, std::uint64_t freed, std::uint64_t peak,
            tables::Memory memory = tables::Memory::Python) {
    writer.add(tables::Table::Site,
               tables::SiteRow{frame, memory, allocations, bytes, frees, freed, peak});
  }
  void memory_line(std::uint32_t code, std::int32_t line, std::uint64_t hits, std::int64_t bytes,
                   std::int64_t increment, std::int64_t peak) {
    writer.add(tables::Table::MemoryLine,
               tables::MemoryLineRow{code, line, hits, bytes, increment, peak});
  }
  std::uint32_t snapshot(std::string_view label, std::uint64_t time) {
    writer.add(tables::Table::Snapshot,
               tables::SnapshotRow{++snapshots_, text(label), SondeFile::kFirstTick + time});
    return snapshots_;
  }
  void objects(std::uint32_t snapshot, std::string_view type, std::uint64_t count,
               std::uint64_t bytes) {
    writer.add(tables::Table::ObjectType,
               tables::ObjectTypeRow{snapshot, text(type), count, bytes});
  }

  const std::string& recording_path() const { return recording_; }
  const std::string& tables_path() const { return tables_; }

  // Closes the tables and writes the recording beside them.
  void finish() {
    writer.close();
    std::ofstream(recording_, std::ios::binary) << recording.bytes();
  }

  Trace load() {
    finish();
    Result<Trace> trace = load_trace(recording_);
    if (!trace) {
      ADD_FAILURE() << trace.error().text();
      return TraceBuilder().finish();
    }
    return std::move(*trace);
  }

 private:
  std::string recording_;
  std::string tables_;
  std::map<std::string, std::uint32_t> texts_;
  std::uint32_t codes_ = 0;
  std::uint32_t frames_ = 0;
  std::uint32_t snapshots_ = 0;
};

// One of everything: main() calls train() three times, which calls itself once and len().
inline void fill_rich_tables(TablesRun& run) {
  const std::uint32_t main = run.code("<module>", "train.py", 1);
  const std::uint32_t train = run.code("train", "train.py", 10, "Trainer.train");
  const std::uint32_t len =
      run.code("<built-in method builtins.len>", "~", 0, {}, tables::kNativeFunction);
  run.function(main, 1, 0, 100'000, 1'000'000);
  run.function(train, 3, 1, 600'000, 900'000);
  run.function(train, 1, 0, 100'000, 100'000, 8);
  run.function(len, 40, 0, 200'000, 200'000);
  run.call(0, main, 1, 0, 100'000, 1'000'000);
  run.call(main, train, 2, 0, 500'000, 900'000);
  run.call(train, train, 1, 1, 100'000, 100'000);
  run.call(train, len, 40, 0, 200'000, 200'000);
  run.line(main, 1, 1, 900'000);
  run.line(train, 11, 3, 100'000);
  run.line(train, 12, 30, 800'000);
  run.line(train, 12, 10, 50'000, 8);
  const std::uint32_t outer = run.frame(0, main, 1);
  const std::uint32_t inner = run.frame(outer, train, 12);
  const std::uint32_t other = run.frame(outer, train, 11);
  run.sample(1000, inner, 10'000'000, 9'000'000, tables::kHoldsLock);
  run.sample(2000, inner, 10'000'000, 8'000'000, tables::kHoldsLock | tables::kUncertain);
  run.sample(3000, other, 10'000'000, 0, tables::kWaiting);
  run.sample(1500, 0, 10'000'000, 0, tables::kWaiting, 8);
  run.site(inner, 100, 8'000'000, 60, 5'000'000, 4'000'000);
  run.site(inner, 10, 2'000'000, 10, 2'000'000, 0, tables::Memory::Native);
  run.site(other, 5, 1'000'000, 0, 0, 1'000'000);
  run.memory_line(train, 11, 3, 52'428'800, 1'048'576, 53'477'376);
  run.memory_line(train, 12, 40, 54'525'952, -524'288, 55'574'528);
  const std::uint32_t start = run.snapshot("start", 500);
  const std::uint32_t end = run.snapshot("end", 90'000);
  run.objects(start, "builtins.dict", 100, 23'200);
  run.objects(start, "builtins.list", 50, 4'000);
  run.objects(end, "builtins.dict", 160, 37'120);
  run.objects(end, "numpy.ndarray", 4, 4'000'000);
  run.writer.add_property("python.method", "sample");
  run.writer.add_property("python.version", "3.11.2 (main) [GCC 12.2.0]");
  run.writer.add_property("python.rate", "100");
  run.writer.add_property("python.rate", "99.5");
  run.writer.add(tables::Table::Thread, tables::ThreadRow{7, run.text("MainThread")});
}

}  // namespace sonde::test
