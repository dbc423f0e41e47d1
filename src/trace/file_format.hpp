#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::file {

// The .sonde file: what the recorder writes into, in place, while the program runs. The file is the
// buffer: it is mapped into the process, so that everything written survives the process.
//
//   place 0          FileHeader; the rest of the place is empty
//   places 1, 2 ...  chunks, in the order of their making
//
// A place is FileHeader::chunk_bytes long, so that a chunk begins where a page of any size begins,
// and where the kernel can hold it as one large page of its cache.
//
// A chunk begins with a ChunkHeader and holds records of 32 bytes. A record's last word is stored
// last and is never 0: the first record with a 0 there ends the chunk. So a reader sees whole
// records only, wherever the writer was stopped. All numbers are little-endian.
//
// Inside of a chunk, the records of a thread stand in the order in which they were finished.
// Between chunks only their times tell the order: a thread may go on in an older chunk that another
// thread left half empty when it ended.
//
// Arguments and places stand directly before the record that they belong to, in the same chunk. One
// without such a record (the process ended in between) means nothing.
//
// This header is shared with the recorder: it may include nothing but the C library.

inline constexpr char kMagic[8] = {'S', 'O', 'N', 'D', 'E', 'R', 'U', 'N'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::size_t kChunkBytes = 64 * 1024;
inline constexpr std::uint32_t kChunkMagic = 0x4B4E4843;  // "CHNK"

// One moment in three clocks.
struct ClockReading {
  std::uint64_t ticks = 0;     // the raw counter
  std::int64_t monotonic = 0;  // CLOCK_MONOTONIC, ns
  std::int64_t wall = 0;       // CLOCK_REALTIME, ns
};

enum class Limit : std::uint32_t { Stop = 0, KeepLast = 1 };

struct FileHeader {
  char magic[8];  // stored last: a file without it was never begun
  std::uint32_t version;
  std::uint32_t chunk_bytes;
  std::uint32_t pid;
  std::uint32_t parent_pid;
  ClockReading first;      // when recording began
  ClockReading latest[2];  // the newest one is latest[latest_slot & 1]; renewed early in the
                           // recording, with each new chunk, at flush, at stop and at exit
  std::uint32_t latest_slot;
  Limit limit;
  std::uint64_t ticks_per_second;        // exact where the machine tells (arm64), else 0
  std::uint64_t ticks_per_second_guess;  // measured at the start, good to 1 in 1000: for a file
                                         // whose first and latest reading are less than 10 ms apart
  std::uint64_t max_bytes;               // 0: no limit
  std::uint64_t chunks;                  // made so far; the file may be longer
  std::uint64_t dropped_records;     // not written: no space, no memory, limit reached, in a signal
  std::uint64_t dropped_in_signals;  // those of them from a handler that interrupted the recorder
  std::uint32_t drop_reason;         // errno of the first loss; 0 where the limit was reached
  std::uint32_t clean_end;           // 1 after an orderly stop or exit
  char program[256];                 // the program's name, cut; ends with a 0 byte
  // Which one of a group of processes this is (torchrun, mpirun), each one more than the number; 0:
  // the environment did not tell.
  std::uint32_t rank_and_1;
  std::uint32_t world_size_and_1;
  std::uint32_t local_rank_and_1;
};
static_assert(sizeof(FileHeader) <= kHeaderBytes);

// Kept: records as in Records, but of a kind that Limit::KeepLast must not lose (names of threads
// and of the process, pauses). They say themselves which thread they speak of.
enum class ChunkType : std::uint32_t { Records = 1, Names = 2, Kept = 3 };

struct ChunkHeader {
  std::uint32_t
      magic;  // kChunkMagic, stored last; 0 while the chunk is being made (again): skip it
  ChunkType type;
  std::uint64_t sequence;  // counts up over the whole file; with Limit::KeepLast a chunk is made
                           // anew in the place of the oldest one, with a new sequence
  std::uint32_t thread;    // the system's thread id of the first writer
  std::uint32_t reserved;
  std::uint64_t link;  // the recorder's own; a reader ignores it
};
static_assert(sizeof(ChunkHeader) == 32);

enum class RecordType : std::uint8_t {
  None = 0,
  Slice = 1,  // a start, b end, c id (kind Step: the number of the step); kind in `extra`
  AsyncSlice =
      2,  // a start, b end, c id: not nested with the thread's slices; AsyncKind in `extra`
  AsyncBegin = 3,       // a time, b id: paired with AsyncEnd by domain, name and id
  AsyncEnd = 4,         // a time, b id
  Counter = 5,          // a time, b value (extra 0: int64, 1: double)
  Marker = 6,           // a time; scope letter (t p g) in `extra`
  Allocation = 7,       // a time, b address, c bytes (negative: freed); name tag, domain pool,
                        // extra: device type << 4 | device ordinal
  Link = 8,             // a time, b id of the cause, c id of the effect
  Thread = 9,           // b thread id: the records that follow in this chunk are this thread's
  ThreadName = 10,      // a time, b thread id; name. The newest one counts
  ProcessName = 11,     // a time; name
  DeviceSlice = 12,     // a start, b end, c id; kind in `extra`; a Place stands before it
  Argument = 13,        // b value; name key, extra is an ArgumentType
  Schedule = 14,        // a time, b 1 recording goes on, 0 it pauses
  Place = 15,           // a stream, b device ordinal, c device type
  Operator = 16,        // a start, b end, c sequence number plus 1 (32 bits; 0: none) | name of the
                        // inputs' shapes (32 bits); OperatorScope in `extra`
  PlacedOperator = 17,  // an Operator that knows its place in the program. a start, b ticks that it
                        // took (48 bits) | low half of the frame (16 bits), c as above; the high
                        // half of the frame stands in the place of the domain. Frames are those
                        // of the .tables file beside this one
  CallPlace = 18,  // a time, b frame as above, c correlation id: where in the program a call was
                   // made that the .cupti file beside this one has a record of
};

inline constexpr std::uint64_t kMaxPlacedTicks = (std::uint64_t{1} << 48) - 1;

enum class OperatorScope : std::uint8_t { Forward = 0, Backward = 1, User = 2 };

enum class AsyncKind : std::uint8_t { Task = 0, Frame = 1, Event = 2 };

enum class ArgumentType : std::uint8_t { Int64 = 0, Double = 1, Name = 2 };  // Name: id of the text
// The argument of an event that tells how many of its NVTX payloads' parts could not be read.
inline constexpr const char* kLostPayloads = "payload lost";

// 32 bytes. `word` is stored last, in one piece.
struct Record {
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t c;
  std::uint64_t word;
};
static_assert(sizeof(Record) == 32);

// Where in the file a chunk begins, counted from 0; behind the last one, how long the file is.
constexpr std::uint64_t chunk_offset(std::uint64_t chunk, std::uint64_t chunk_bytes = kChunkBytes) {
  return (chunk + 1) * chunk_bytes;
}

inline constexpr std::size_t kRecordsPerChunk =
    (kChunkBytes - sizeof(ChunkHeader)) / sizeof(Record);

// name (32 bits) | domain (16) | type (8) | extra (8), from the low end.
constexpr std::uint64_t make_word(std::uint32_t name, std::uint16_t domain, RecordType type,
                                  std::uint8_t extra) {
  return std::uint64_t{name} | std::uint64_t{domain} << 32 |
         std::uint64_t(static_cast<std::uint8_t>(type)) << 48 | std::uint64_t{extra} << 56;
}
constexpr std::uint64_t make_placed(std::uint64_t ticks, std::uint32_t frame) {
  return (ticks & kMaxPlacedTicks) | std::uint64_t{frame} << 48;
}
constexpr std::uint32_t word_name(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
constexpr std::uint16_t word_domain(std::uint64_t word) {
  return static_cast<std::uint16_t>(word >> 32);
}
constexpr RecordType word_type(std::uint64_t word) {
  return static_cast<RecordType>(word >> 48 & 0xFF);
}
constexpr std::uint8_t word_extra(std::uint64_t word) {
  return static_cast<std::uint8_t>(word >> 56);
}

// Of a PlacedOperator.
constexpr std::uint64_t placed_ticks(const Record& record) { return record.b & kMaxPlacedTicks; }
constexpr std::uint32_t placed_frame(const Record& record) {
  return static_cast<std::uint32_t>(record.b >> 48) |
         static_cast<std::uint32_t>(word_domain(record.word)) << 16;
}

// In chunks of type Names: entries one after the other, each padded to 8 bytes. `id` is stored
// last; the first entry with 0 there ends the chunk. Names and domains are numbered apart, each
// from 1; the number of a domain is below 65536.
struct NameEntry {
  std::uint32_t size;  // bytes of text behind this entry; kDomainBit is set for a domain
  std::uint32_t id;
};
inline constexpr std::uint32_t kDomainBit = 0x8000'0000u;

}  // namespace sonde::file
