#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::tables {

// The .tables file: what an agent keeps as sums, samples and lists of a process, beside the .sonde
// file of the same name, on whose clock its times are (raw ticks).
//
//   block 0          FileHeader; the rest of the block is empty
//   blocks 1, 2 ...  rows of one table each, in the order of their making
//
// It is mapped into the process that writes it, so that everything survives that process. A row is
// there once its block counts it (BlockHeader::rows, stored last); sums in it may change until the
// process ends. Every number is little-endian. Numbers of texts, codes and frames begin at 1; 0 is
// none. The same code, call, line or site may have several rows (threads keep rows of their own):
// a reader adds them up.
//
// This header is shared with agents: it may include nothing but the C library.

inline constexpr char kMagic[8] = {'S', 'O', 'N', 'D', 'E', 'T', 'A', 'B'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kBlockBytes = 64 * 1024;
inline constexpr std::uint32_t kBlockMagic = 0x4B434C42;  // "BLCK"

// What times count: the recorder's ticks, or nanoseconds of the monotonic clock (from outside of
// the process).
enum class Clock : std::uint32_t { Ticks = 0, Nanoseconds = 1 };

struct FileHeader {
  char magic[8];  // stored last: a file without it was never begun
  std::uint32_t version;
  std::uint32_t block_bytes;
  std::uint32_t pid;
  std::uint32_t clean_end;     // 1 after an orderly end
  std::uint64_t blocks;        // made so far; the file may be longer
  std::uint64_t max_bytes;     // 0: no limit
  std::uint64_t dropped_rows;  // not written: no space, limit reached
  std::uint32_t drop_reason;   // errno of the first loss; 0 where the limit was reached
  Clock clock;
};

enum class Table : std::uint32_t {
  Text = 1,         // TextEntry, one after the other
  Property = 2,     // PropertyRow
  Thread = 3,       // ThreadRow
  Code = 4,         // CodeRow
  Function = 5,     // FunctionRow
  Call = 6,         // CallRow
  Line = 7,         // LineRow
  Frame = 8,        // FrameRow
  Sample = 9,       // SampleRow
  Site = 10,        // SiteRow
  MemoryLine = 11,  // MemoryLineRow
  Snapshot = 12,    // SnapshotRow
  ObjectType = 13,  // ObjectTypeRow
  OpenCall = 14,    // OpenCallRow
};

struct BlockHeader {
  std::uint32_t magic;  // kBlockMagic, stored last; 0 while the block is being made: skip it
  Table table;
  std::uint32_t row_bytes;  // 0 for texts. A reader takes what it knows of a longer row
  std::uint32_t rows;       // finished ones; for texts the bytes used behind this header
};
static_assert(sizeof(BlockHeader) == 16);

// A text longer than a block holds is cut. Padded to 8 bytes.
struct TextEntry {
  std::uint32_t id;
  std::uint32_t size;  // bytes behind this entry
};
inline constexpr std::size_t kMaxText = 32 * 1024;

// What is to be said of the recording as a whole: method, asked and actual rate, lost and torn
// samples, the interpreter. Later ones of the same key replace earlier ones.
struct PropertyRow {
  std::uint32_t key;
  std::uint32_t value;  // text
};

struct ThreadRow {
  std::uint32_t thread;  // the system's thread id
  std::uint32_t name;    // text; the latest one counts
};

enum CodeFlags : std::uint32_t {
  kNativeFunction = 1,  // a builtin, named as cProfile does: "<built-in method builtins.len>"
  kGenerator = 2,
  kCoroutine = 4,
  kAsyncGenerator = 8,
  kNativeFrame = 16,  // a C or C++ function of a stack; `file` is the shared object or source
};

struct CodeRow {
  std::uint32_t id;
  std::uint32_t name;            // co_name
  std::uint32_t qualified_name;  // co_qualname where the interpreter has it, else 0
  std::uint32_t file;            // as the interpreter has it; "~" for builtins
  std::int32_t first_line;
  std::uint32_t flags;
};

// As cProfile counts: recursive calls are those of a function that is at work already.
struct FunctionRow {
  std::uint32_t code;
  std::uint32_t thread;
  std::uint64_t calls;  // all
  std::uint64_t recursive_calls;
  std::uint64_t self_ticks;
  std::uint64_t total_ticks;  // of outermost activations
};

// One function called by another (caller 0: by code that is not recorded).
struct CallRow {
  std::uint32_t caller;
  std::uint32_t callee;
  std::uint32_t thread;
  std::uint32_t reserved;
  std::uint64_t calls;
  std::uint64_t recursive_calls;
  std::uint64_t self_ticks;
  std::uint64_t total_ticks;
};

// A call that has not returned. An orderly end leaves none; of a process that was killed they tell
// what it was doing: the call is not in FunctionRow and CallRow yet. Rows of one thread follow each
// other, outermost first. What is known of the time: it went from start_ticks to the end of the
// process, with inner_ticks of it in calls that have returned and the rest of the next row's.
struct OpenCallRow {
  std::uint32_t caller;
  std::uint32_t callee;
  std::uint64_t start_ticks;  // 0: the row is not in use
  std::uint64_t inner_ticks;
  std::uint32_t thread;
  std::uint32_t reserved;
  std::uint64_t writer;  // the writer's own; means nothing to a reader
};

struct LineRow {
  std::uint32_t code;
  std::int32_t line;
  std::uint32_t thread;
  std::uint32_t reserved;
  std::uint64_t hits;
  std::uint64_t ticks;  // until the next line of the same call, with what it called
};

// A place in a tree of stacks.
struct FrameRow {
  std::uint32_t id;
  std::uint32_t caller;  // frame; 0 for an outermost one
  std::uint32_t code;
  std::int32_t line;
};

enum SampleFlags : std::uint32_t {
  kHoldsLock = 1,  // the thread held the interpreter's lock
  kWaiting = 2,    // it was not running
  kUncertain = 4,  // read while it ran: callers may be one line off
};

struct SampleRow {
  std::uint64_t time;
  std::uint32_t thread;
  std::uint32_t frame;    // innermost; 0: no Python frame
  std::uint64_t wall_ns;  // what the sample stands for
  std::uint64_t cpu_ns;
  std::uint32_t flags;
  std::uint32_t reserved;
};

enum class Memory : std::uint32_t { Python = 0, Native = 1 };

// What was allocated at one stack. Sampled numbers are scaled up to all bytes.
struct SiteRow {
  std::uint32_t frame;
  Memory memory;
  std::uint64_t allocations;
  std::uint64_t allocated_bytes;
  std::uint64_t frees;
  std::uint64_t freed_bytes;
  std::uint64_t peak_bytes;  // live when the process's total was highest
};

// The process's memory around the execution of a line, as memory_profiler tells it.
struct MemoryLineRow {
  std::uint32_t code;
  std::int32_t line;
  std::uint64_t hits;
  std::int64_t bytes;      // in use after it was executed last
  std::int64_t increment;  // sum of the changes that it made
  std::int64_t peak;       // the most that was in use after it
};

// The objects of a moment.
struct SnapshotRow {
  std::uint32_t id;
  std::uint32_t label;  // text: "start", "peak", what the program called it
  std::uint64_t time;
};

struct ObjectTypeRow {
  std::uint32_t snapshot;
  std::uint32_t type;  // text: "builtins.dict", "torch.Tensor"
  std::uint64_t count;
  std::uint64_t bytes;  // shallow
};

}  // namespace sonde::tables
