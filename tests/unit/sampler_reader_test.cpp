#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "sampler/code_cache.hpp"
#include "sampler/elf_image.hpp"
#include "sampler/memory_map.hpp"
#include "sampler/native_frames.hpp"
#include "sampler/process_memory.hpp"
#include "sampler/stack_reader.hpp"
#include "sampler/task_clock.hpp"
#include "tests/support/fake_python.hpp"

namespace sonde::test {
namespace {

using namespace std::string_literals;

// A table with one line, `first_line`, for everything, in each version's own format.
std::string one_line(LineFormat format) {
  switch (format) {
    case LineFormat::AddressPairs:
      return "";
    case LineFormat::Ranges:
      return "\xFE\0"s;
    case LineFormat::Locations:
      return "\x87\x11\x87\x11\x87\x11"s;
  }
  return "";
}

PythonLayout layout_of(int minor) {
  if (minor <= 12) return *known_layout(minor);
  FakeMemory memory;
  const Address runtime = memory.make(1024);
  const auto words = debug_offsets(minor == 13 ? 0x030D00F0 : 0x030E00F0, 96);
  memory.put_bytes(runtime, {reinterpret_cast<const char*>(words.data()), words.size() * 8});
  return *read_debug_offsets(memory, runtime);
}

class SamplerVersions : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, SamplerVersions, ::testing::Values(8, 9, 10, 11, 12, 13, 14));

TEST_P(SamplerVersions, ReadsThreadsStacksAndTheLock) {
  FakePython python(layout_of(GetParam()));
  const PythonLayout& layout = python.layout();
  const std::string lines = one_line(layout.lines);
  const Address main_code = python.code("main", "/a.py", 30, lines);
  const Address work_code = python.code("work", "/a.py", 20, lines);
  const Address leaf_code = python.code("leaf", "/b.py", 10, lines);
  // Between main and work lies a call through C.
  Address at = python.frame(main_code, 0, 4, GetParam() == 11 ? 1 : 0);
  if (layout.c_owner != 255) at = python.frame(main_code, at, 0, layout.c_owner);
  const Address through_c = at;
  at = python.frame(work_code, at, 6, GetParam() == 11 ? 1 : 0);
  at = python.frame(leaf_code, at, 2);
  const Address first = python.thread(at, 101);
  const Address second = python.thread(0, 102);
  python.hold_lock(first);

  const PythonRuntime runtime = python.runtime();
  EXPECT_TRUE(looks_right(python.memory, runtime));
  StackReader reader(python.memory, runtime);
  std::vector<PythonThread> threads;
  ASSERT_TRUE(reader.read_threads(threads));
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].state, second);
  EXPECT_EQ(threads[1].state, first);
  EXPECT_EQ(threads[1].native_id, GetParam() >= 11 ? 101u : 0u);
  EXPECT_EQ(reader.lock_holder(python.interpreter()), first);
  python.hold_lock(0);
  EXPECT_EQ(reader.lock_holder(python.interpreter()), 0u);

  std::vector<RawFrame> raw;
  ASSERT_EQ(reader.read_stack(first, raw), StackReader::Outcome::Whole);
  const PythonObjects objects(python.memory, layout);
  CodeCache codes(objects);
  std::vector<SampledFrame> frames;
  std::vector<FrameEntry> entries;
  ASSERT_TRUE(codes.resolve(raw, frames, entries));
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].function->name, "leaf");
  EXPECT_EQ(frames[0].function->file, "/b.py");
  EXPECT_EQ(frames[0].line, 10);
  EXPECT_EQ(frames[1].function->name, "work");
  EXPECT_EQ(frames[1].line, 20);
  EXPECT_EQ(frames[2].function->name, "main");
  EXPECT_EQ(frames[2].function->qualified_name, GetParam() >= 11 ? "C.main" : "");
  const std::vector<bool> expected =
      GetParam() <= 10 ? std::vector<bool>{true, true, true} : std::vector<bool>{false, true, true};
  std::vector<bool> is_entry;
  for (const FrameEntry& entry : entries) is_entry.push_back(entry.is_entry);
  EXPECT_EQ(is_entry, expected);
  // The frame of C between main and work tells where work's activation lies.
  EXPECT_EQ(entries[1].activation, layout.c_owner != 255 ? through_c : 0u);

  // Another function at the same place: seen, although the address is known.
  python.memory.put<Address>(leaf_code + layout.code.name, python.text("other"));
  ASSERT_TRUE(codes.resolve(raw, frames));
  EXPECT_EQ(frames[0].function->name, "other");
  ASSERT_EQ(reader.read_stack(second, raw), StackReader::Outcome::Whole);
  EXPECT_TRUE(raw.empty());
}

TEST_P(SamplerVersions, EndsOnRingsGarbageAndHoles) {
  FakePython python(layout_of(GetParam()));
  const PythonLayout& layout = python.layout();
  const Address code = python.code("f", "/a.py", 1, one_line(layout.lines));
  const Address inner = python.frame(code, 0, 2);
  const Address outer = python.frame(code, inner, 2);
  python.memory.put<Address>(inner + layout.frame.caller, outer);  // a ring
  const Address thread = python.thread(inner, 7);
  const PythonRuntime runtime = python.runtime();
  StackReader reader(python.memory, runtime);
  std::vector<RawFrame> raw;
  EXPECT_EQ(reader.read_stack(thread, raw), StackReader::Outcome::Cut);
  EXPECT_EQ(raw.size(), kMaxFrames);
  python.memory.put<Address>(inner + layout.frame.caller, 0xDEAD'BEEF'0000);
  EXPECT_EQ(reader.read_stack(thread, raw), StackReader::Outcome::Broken);
  python.set_frame(thread, UINT64_MAX - 4);
  EXPECT_EQ(reader.read_stack(thread, raw), StackReader::Outcome::Broken);
  // A ring of threads, and one that belongs to no interpreter.
  python.memory.put<Address>(thread + layout.thread.next, thread);
  std::vector<PythonThread> threads;
  EXPECT_TRUE(reader.read_threads(threads));
  EXPECT_EQ(threads.size(), kMaxThreads);
  python.memory.put<Address>(thread + layout.thread.interpreter, 1);
  EXPECT_TRUE(reader.read_threads(threads));
  EXPECT_TRUE(threads.empty());
  EXPECT_FALSE(looks_right(python.memory, runtime));
  // Code that is none.
  const PythonObjects objects(python.memory, layout);
  CodeCache codes(objects);
  std::vector<SampledFrame> frames;
  EXPECT_FALSE(codes.resolve({{1, python.text("no code"), 0, true}}, frames));
  EXPECT_FALSE(codes.resolve({{1, 0xDEAD'0000, 0, true}}, frames));
}

// Bytes change at random: nothing may crash, hang or read without end.
TEST_P(SamplerVersions, SurvivesMemoryThatChanges) {
  std::mt19937_64 random(static_cast<unsigned>(GetParam()));
  for (int round = 0; round < 200; ++round) {
    FakePython python(layout_of(GetParam()));
    const PythonLayout& layout = python.layout();
    const Address code = python.code("f", "/a.py", 1, one_line(layout.lines));
    Address frame = 0;
    for (int i = 0; i < 5; ++i) frame = python.frame(code, frame, 2);
    const Address thread = python.thread(frame, 7);
    for (int i = 0; i < 4; ++i) {
      const std::array<Address, 4> places = {code, frame, thread, python.interpreter()};
      const Address value = random() % 3 == 0 ? random() : places[random() % 4];
      python.memory.put<std::uint64_t>(places[random() % 4] + random() % 50 * 8, value);
    }
    const PythonRuntime runtime = python.runtime();
    StackReader reader(python.memory, runtime);
    const PythonObjects objects(python.memory, layout);
    CodeCache codes(objects);
    std::vector<PythonThread> threads;
    std::vector<RawFrame> raw;
    std::vector<SampledFrame> frames;
    python.memory.reads = 0;
    reader.read_threads(threads);
    reader.read_stack(thread, raw);
    raw.resize(std::min<std::size_t>(raw.size(), 10));
    codes.resolve(raw, frames);
    EXPECT_LT(python.memory.reads, 20'000u);
  }
}

TEST(SamplerLayout, TakesEachWordFromItsPlace) {
  FakeMemory memory;
  const Address runtime = memory.make(1024);
  const auto load = [&](std::uint64_t version) {
    const auto words = debug_offsets(version, 96);
    memory.put_bytes(runtime, {reinterpret_cast<const char*>(words.data()), words.size() * 8});
    return read_debug_offsets(memory, runtime);
  };
  const Result<PythonLayout> old = load(0x030D02F0);
  ASSERT_TRUE(old);
  EXPECT_EQ(old->version.text(), "3.13.2");
  EXPECT_EQ(old->runtime.interpreters, 5 * 8u);
  EXPECT_EQ(old->interpreter.modules, 11 * 8u);
  EXPECT_EQ(old->lock.locked, 2 * 8u);
  EXPECT_EQ(old->thread.native_id, 25 * 8u);
  EXPECT_EQ(old->frame.code, 30 * 8u);
  EXPECT_EQ(old->frame.tags, 0u);
  EXPECT_EQ(old->code.bytecode, 43 * 8u);
  EXPECT_EQ(old->object.ascii_size, 70 * 8u);
  const Result<PythonLayout> fresh = load(0x030E00F0);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->interpreter.modules, 12 * 8u);
  EXPECT_EQ(fresh->thread.frame, 26 * 8u);
  EXPECT_EQ(fresh->frame.code, 33 * 8u);
  EXPECT_EQ(fresh->frame.tags, 3u);
  EXPECT_EQ(fresh->code.bytecode, 48 * 8u);
  EXPECT_EQ(fresh->object.ascii_size, 80 * 8u);
  EXPECT_FALSE(load(0x030F00F0));  // not known yet
  EXPECT_FALSE(load(0x030E00A1));  // an alpha
  memory.put<std::uint64_t>(runtime + 8, 0x030D02F0);
  memory.put<std::uint64_t>(runtime + 16, 1);
  const Result<PythonLayout> free_threaded = read_debug_offsets(memory, runtime);
  ASSERT_FALSE(free_threaded);
  EXPECT_NE(free_threaded.error().reason.find("free-threaded"), std::string::npos);
  memory.put<std::uint64_t>(runtime + 16, 0);
  memory.put<std::uint64_t>(runtime + 30 * 8, UINT64_MAX);
  EXPECT_FALSE(read_debug_offsets(memory, runtime));
  EXPECT_FALSE(known_layout(7));
  EXPECT_FALSE(known_layout(13));
}

TEST(SamplerObjects, ReadsTextsOfAllWidths) {
  FakePython python(*known_layout(12));
  const PythonObjects objects(python.memory, python.layout());
  EXPECT_EQ(objects.text(python.text("plain")), "plain");
  EXPECT_EQ(objects.text(python.wide_text({'Z', 'o', 0xEB}, 1)), "Zoë");
  EXPECT_EQ(objects.text(python.wide_text({0x4F60, 0xD800}, 2)), "你\xEF\xBF\xBD");
  EXPECT_EQ(objects.text(python.wide_text({0x1F600, 0x7FFFFFFF}, 4)), "😀\xEF\xBF\xBD");
  EXPECT_EQ(objects.text(python.text("a long one"), 6), "a long…");
  const Address broken = python.text("x");
  python.memory.put<std::uint64_t>(broken + 16, UINT64_MAX);
  EXPECT_FALSE(objects.text(broken));
  python.memory.put<std::uint64_t>(broken + 16, 1 << 20);  // longer than what is there
  EXPECT_FALSE(objects.text(broken));
  EXPECT_FALSE(objects.text(0));
  EXPECT_FALSE(objects.bytes(python.bytes("12345"), 4));
}

TEST(SamplerFinder, ReadsVersionsFromNames) {
  EXPECT_EQ(version_of_name("/usr/lib/libpython3.9.so.1.0").minor, 9);
  EXPECT_EQ(version_of_name("/usr/bin/python3.10").minor, 10);
  EXPECT_EQ(version_of_name("python3").major, 0);
  EXPECT_EQ(version_of_name("/opt/app").major, 0);
  EXPECT_EQ(version_of_name("python99999999999.1").major, 0);
}

TEST(SamplerFinder, SaysWhatIsMissing) {
  EXPECT_EQ(no_access(1, ESRCH).code, ErrorCode::NotFound);
  for (const int code : {EPERM, ENOSYS}) {
    const std::string text = no_access(1, code).text();
    EXPECT_NE(text.find("SYS_PTRACE"), std::string::npos) << text;
    EXPECT_NE(text.find("seccomp"), std::string::npos) << text;
  }
  EXPECT_NE(no_access(1, EPERM).text().find("ptrace_scope"), std::string::npos);
}

TEST(SamplerFinder, KnowsWhatIsNoPython) {
  const LiveMemory memory(::getpid());
  const Result<PythonRuntime> own = find_python(::getpid(), memory);
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().code, ErrorCode::NotFound);
}

TEST(SamplerMaps, ReadsFilesOnly) {
  const std::vector<Mapping> maps = parse_maps(
      "00400000-0041f000 r--p 00000000 fe:00 1234     /usr/bin/python3.11\n"
      "0041f000-006a0000 r-xp 0001f000 fe:00 1234     /usr/bin/python3.11\n"
      "7f00-7f10 rw-p 00000000 00:00 0 [heap]\n"
      "7f20-7f30 rw-p 00000000 00:00 0 [anon:a/b]\n"
      "garbage\n"
      "7f40-7f50 r-xp 00001000 fe:00 77 /tmp/a b (deleted)\n"
      "7f60-7f50 r-xp 00001000 fe:00 77 /backwards\n");
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_EQ(maps[0].start, 0x400000u);
  EXPECT_FALSE(maps[0].executable);
  EXPECT_TRUE(maps[1].executable);
  EXPECT_EQ(maps[1].offset, 0x1F000u);
  EXPECT_EQ(maps[2].path, "/tmp/a b");
  EXPECT_TRUE(maps[2].deleted);
}

TEST(SamplerElf, FindsSymbolsOfThisProgram) {
  const FileMemory file("/proc/self/exe");
  ASSERT_TRUE(file.ok());
  const std::optional<ElfImage> image = ElfImage::read(file);
  ASSERT_TRUE(image);
  std::vector<ElfImage::Symbol> symbols = {{"main", {}}, {"no_such_symbol_here", {}}};
  image->find(symbols);
  EXPECT_TRUE(symbols[0].value);
  EXPECT_FALSE(symbols[1].value);
  EXPECT_TRUE(image->section(".text"));
  EXPECT_FALSE(image->section(".PyRuntime"));
  FakeMemory text;
  text.put_bytes(text.make(100), "no ELF");
  EXPECT_FALSE(ElfImage::read(text));
}

TEST(SamplerTasks, ReadsTimesAndStates) {
  TaskTimes times;
  EXPECT_TRUE(parse_task_times("123 456 7\n", times));
  EXPECT_EQ(times, (TaskTimes{123, 456, 7}));
  EXPECT_FALSE(parse_task_times("123 x", times));
  char state = 0;
  std::uint64_t ticks = 0;
  EXPECT_TRUE(parse_task_stat("5 (a) S (b) R 1 2 3 4 5 6 7 8 9 10 40 2 99 98 20", state, ticks));
  EXPECT_EQ(state, 'R');
  EXPECT_EQ(ticks, 42u);
  EXPECT_FALSE(parse_task_stat("5 (a) R 1 2", state, ticks));
  EXPECT_FALSE(parse_task_stat("", state, ticks));
}

class Merging : public ::testing::Test {
 protected:
  Merging() : objects_(memory_, layout_), codes_(objects_) {}
  SampledFrame python(const char* name) {
    FunctionInfo info;
    info.name = name;
    return {codes_.intern(info), 1};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const SampledFrame& frame : out_) {
      out.push_back((frame.function->native ? "*" : "") + frame.function->name);
    }
    return out;
  }
  static NativeFrame in_python(const char* name) {
    return {name, "/usr/lib/libpython3.11.so.1.0", 0};
  }

  inline static const std::vector<FrameEntry> kTwo = {{true, 0}, {true, 0}};

  FakeMemory memory_;
  PythonLayout layout_ = *known_layout(11);
  PythonObjects objects_;
  CodeCache codes_;
  std::vector<SampledFrame> out_;
};

TEST_F(Merging, PutsPythonIntoItsActivations) {
  const std::vector<NativeFrame> native = {{"matmul", "/lib/libblas.so", 0},
                                           in_python("cfunction_call"),
                                           in_python("_PyEval_EvalFrameDefault"),
                                           in_python("_PyEval_Vector"),
                                           {"callback(int)", "/lib/ext.so", 0},
                                           in_python("_PyEval_EvalFrameDefault.cold"),
                                           in_python("Py_RunMain"),
                                           {"_start", "/usr/bin/python3.11", 0}};
  EXPECT_TRUE(merge_stacks(native, {python("leaf"), python("mid"), python("main")},
                           {{}, {true, 0}, {true, 0}}, codes_, out_));
  EXPECT_EQ(names(), (std::vector<std::string>{"*matmul", "leaf", "mid", "*callback(int)", "main",
                                               "*_start"}));
}

TEST_F(Merging, AllowsOneMoreOrLess) {
  const std::vector<NativeFrame> two = {in_python("_PyEval_EvalFrameDefault"),
                                        in_python("_PyEval_EvalFrameDefault")};
  EXPECT_TRUE(merge_stacks(two, {python("main")}, {{true, 0}}, codes_, out_));
  EXPECT_EQ(names(), (std::vector<std::string>{"main"}));
  const std::vector<NativeFrame> one = {in_python("_PyEval_EvalFrameDefault"), {"_start", "/x", 0}};
  EXPECT_TRUE(merge_stacks(one, {python("f"), python("main")}, kTwo, codes_, out_));
  EXPECT_EQ(names(), (std::vector<std::string>{"f", "*_start", "main"}));
}

// A compiler may move the loop into a part of its own, which a stripped program has no name for.
TEST_F(Merging, KnowsActivationsByTheirPlaceOnTheStack) {
  const std::vector<NativeFrame> native = {
      {"deflate", "/lib/libz.so", 0, 100}, {"", "/usr/bin/python3.14", 0, 200},
      {"", "/usr/bin/python3.14", 0, 300}, {"callback(int)", "/lib/ext.so", 0, 400},
      {"", "/usr/bin/python3.14", 0, 500}, {"_start", "/usr/bin/python3.14", 0, 600}};
  const std::vector<SampledFrame> frames = {python("leaf"), python("mid"), python("main")};
  EXPECT_TRUE(merge_stacks(native, frames, {{}, {true, 310}, {true, 599}}, codes_, out_));
  EXPECT_EQ(names(), (std::vector<std::string>{"*deflate", "leaf", "mid", "*callback(int)", "main",
                                               "*_start"}));
  // Places that lie nowhere, or in the wrong order: then by name, and there is none.
  EXPECT_FALSE(merge_stacks(native, frames, {{}, {true, 510}, {true, 310}}, codes_, out_));
  EXPECT_FALSE(merge_stacks(native, frames, {{}, {true, 310}, {true, 5000}}, codes_, out_));
  EXPECT_FALSE(merge_stacks({}, frames, {{}, {true, 310}, {true, 5000}}, codes_, out_));
  EXPECT_EQ(names(), (std::vector<std::string>{"leaf", "mid", "main"}));
}

TEST_F(Merging, SaysWhereNothingFits) {
  const std::vector<NativeFrame> none = {{"read", "/lib/libc.so.6", 0}};
  EXPECT_FALSE(merge_stacks(none, {python("f"), python("main")}, kTwo, codes_, out_));
  EXPECT_EQ(names(), (std::vector<std::string>{"*read", "f", "main"}));
}

}  // namespace
}  // namespace sonde::test
