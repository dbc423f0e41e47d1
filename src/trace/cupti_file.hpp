#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::cupti {

// The .cupti file: what happened on the GPUs of one process. It lies beside the process's .sonde
// file, and bears its name. The buffers that NVIDIA's CUPTI fills are mapped pieces of this file,
// so that nothing is copied, and what CUPTI wrote survives the process.
//
//   0               FileHeader; kHeaderBytes are kept for it
//   kHeaderBytes    blocks, one behind the other
//
// A block begins with a BlockHeader where a multiple of kBlockUnit lies. Where there is none, no
// block begins before the next multiple that has one. All numbers are little-endian.
//
// This header is shared with the recorder: it may include nothing but the C library.

inline constexpr char kMagic[8] = {'S', 'O', 'N', 'D', 'E', 'C', 'U', 'P'};
inline constexpr char kFileEnding[] = ".cupti";
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 64 * 1024;
inline constexpr std::size_t kBlockUnit = 4096;
inline constexpr std::uint32_t kBlockMagic = 0x4B434C42;  // "BLCK"
inline constexpr std::size_t kMaxKinds = 128;
inline constexpr std::size_t kMaxDevices = 64;
inline constexpr std::size_t kReasonBytes = 256;
inline constexpr std::size_t kToolBytes = 64;

// The clock of all times in CUPTI's records.
enum class Clock : std::uint32_t {
  Ticks = 0,     // the recorder's counter, as in the .sonde file
  Realtime = 1,  // nanoseconds of CLOCK_REALTIME: a CUPTI that cannot be given a clock
};

// What became of the collection.
enum class State : std::uint32_t {
  Starting = 0,
  Collecting = 1,
  Failed = 2,   // `reason` says why; there are no records
  Yielded = 3,  // another tool took CUPTI over, see `other_tool`
  Full = 4,     // the size limit was reached, or the disk was full
};

// Whether the .sonde file tells where in the program calls were made.
enum class CallPlaces : std::uint32_t {
  None = 0,
  Recorded = 1,
  Refused = 2,  // another tool was subscribed to CUPTI
};

// What the driver tells of a device; 0 where it does not tell.
struct DeviceFacts {
  char name[96];
  std::uint8_t uuid[16];
  std::uint64_t memory_bytes;
  std::int32_t compute_major;
  std::int32_t compute_minor;
  std::int32_t multiprocessors;
  std::int32_t warp_size;
  std::int32_t max_threads_per_block;
  std::int32_t max_threads_per_multiprocessor;
  std::int32_t registers_per_block;
  std::int32_t registers_per_multiprocessor;
  std::int32_t shared_per_block;
  std::int32_t shared_per_block_optin;
  std::int32_t shared_per_multiprocessor;
  std::int32_t reserved_shared_per_block;
  std::int32_t max_blocks_per_multiprocessor;
  std::int32_t core_clock_khz;
  std::int32_t memory_clock_khz;
  std::int32_t memory_bus_bits;
  std::int32_t l2_bytes;
  std::int32_t pci_domain;
  std::int32_t pci_bus;
  std::int32_t pci_device;
  std::int32_t reserved[14];
};
static_assert(sizeof(DeviceFacts) == 256);

struct FileHeader {
  char magic[8];  // stored last: a file without it was never begun
  std::uint32_t version;
  std::uint32_t pid;
  std::uint32_t cupti_version;
  std::uint32_t driver_version;
  Clock clock;
  State state;
  char reason[kReasonBytes];       // one sentence, where there is something to say
  char library[256];               // the CUPTI that was used
  char other_tool[kToolBytes];     // who else used CUPTI; empty: nobody, or it gave no name
  std::uint32_t other_tool_seen;   // how often another tool took over
  std::uint32_t helper_thread;     // the system's id of the recorder's own thread
  std::uint64_t other_tool_from;   // in the clock of the records; the newest takeover
  std::uint64_t other_tool_until;  // 0: until the end
  std::uint64_t started;           // when collecting began, in the clock of the records
  std::uint64_t dropped_records;   // CUPTI had no room for them
  std::uint64_t refused_records;   // arrived after the size limit was reached
  std::uint64_t lost_names;        // kernels whose name could not be kept
  std::uint64_t file_bytes;        // reserved so far
  std::uint64_t max_bytes;         // 0: no limit
  std::uint32_t full_reason;       // errno, where the disk was full; 0: the limit
  std::uint32_t clean_end;         // 1 after the last flush
  std::uint32_t whole_graphs;      // 1: one record for a launch of a CUDA graph, not for each node
  std::uint32_t left_out_calls;    // API functions that are not recorded: frequent, and idle
  std::uint32_t device_count;
  CallPlaces call_places;
  std::uint32_t record_bytes[kMaxKinds];  // by kind, as this CUPTI wrote them; 0: none was seen
  DeviceFacts devices[kMaxDevices];
};
static_assert(sizeof(FileHeader) <= kHeaderBytes);

enum class BlockType : std::uint32_t { Records = 1, Names = 2 };

enum class BlockState : std::uint32_t {
  Free = 0,
  Lent = 1,      // CUPTI has it: whole records stand from its start on, names are addresses
  Returned = 2,  // `used` bytes of records; names are ids of name entries
};

struct BlockHeader {
  std::uint32_t magic;
  BlockType type;
  BlockState state;
  std::uint32_t reserved;
  std::uint64_t bytes;     // of the block, with this header
  std::uint64_t used;      // bytes behind this header; Names: unused, see NameEntry
  std::uint64_t sequence;  // in the order of returning
  std::uint64_t records;
  std::uint64_t reserved2[2];
};
static_assert(sizeof(BlockHeader) == 64);

enum class NameType : std::uint32_t {
  Text = 1,         // `key`: the address at which CUPTI showed the text
  RuntimeCall = 2,  // `key`: the number of the function
  DriverCall = 3,
};

// In blocks of type Names, one behind the other, each padded to 8 bytes. `id` is stored last; the
// first entry with 0 there ends the block.
struct NameEntry {
  std::uint64_t key;
  NameType type;
  std::uint32_t size;  // of the text behind this entry
  std::uint32_t id;    // counts from 1, over all types
  std::uint32_t reserved;
};
static_assert(sizeof(NameEntry) == 24);

// Set in the kind of a record of which CUPTI does not know the end yet.
inline constexpr std::uint32_t kUnfinished = 0x8000'0000u;

// CUPTI's kinds of records.
enum class Kind : std::uint32_t {
  Memcpy = 1,
  Memset = 2,
  Kernel = 3,
  Driver = 4,
  Runtime = 5,
  Device = 8,
  Context = 9,
  ConcurrentKernel = 10,
  Overhead = 17,
  MemcpyPeer = 22,
  Stream = 37,
  Synchronization = 38,
  ExternalCorrelation = 39,
  InternalLaunch = 48,
  Memory = 49,
  MemoryPool = 50,
  GraphTrace = 51,
};

// Where fields stand in CUPTI's records, the same from CUDA 11.8 to 13.4: the structs only grow at
// their ends. tests/gpu/abi/cupti_abi_check.cpp compares with NVIDIA's headers where they
// are.
namespace kernel {
inline constexpr std::size_t kRegisters = 6, kStart = 16, kEnd = 24, kDevice = 40, kContext = 44,
                             kStream = 48, kGrid = 52, kBlock = 64, kStaticShared = 76,
                             kDynamicShared = 80, kLocalPerThread = 84, kCorrelation = 92,
                             kName = 104, kQueued = 120, kSubmitted = 128, kLaunchType = 136,
                             kSharedExecuted = 140, kGraphNode = 144, kGraph = 156, kLeast = 160;
}
namespace copy {
inline constexpr std::size_t kCopyKind = 4, kSourceKind = 5, kTargetKind = 6, kFlags = 7,
                             kBytes = 8, kStart = 16, kEnd = 24, kDevice = 32, kContext = 36,
                             kStream = 40, kCorrelation = 44, kGraphNode = 64, kGraph = 72,
                             kLeast = 80;
}
namespace peer_copy {
inline constexpr std::size_t kSourceDevice = 44, kTargetDevice = 52, kCorrelation = 60,
                             kGraphNode = 72, kGraph = 80, kLeast = 88;
}
namespace fill {
inline constexpr std::size_t kValue = 4, kBytes = 8, kStart = 16, kEnd = 24, kDevice = 32,
                             kContext = 36, kStream = 40, kCorrelation = 44, kFlags = 48,
                             kMemoryKind = 50, kGraphNode = 64, kGraph = 72, kLeast = 80;
}
namespace call {
inline constexpr std::size_t kFunction = 4, kStart = 8, kEnd = 16, kProcess = 24, kThread = 28,
                             kCorrelation = 32, kReturned = 36, kLeast = 40;
}
namespace sync {
inline constexpr std::size_t kType = 4, kStart = 8, kEnd = 16, kCorrelation = 24, kContext = 28,
                             kStream = 32, kEvent = 36, kLeast = 40;
}
namespace overhead {
inline constexpr std::size_t kOverheadKind = 4, kObjectKind = 8, kObject = 12, kStart = 24,
                             kEnd = 32, kLeast = 40;
}
namespace memory {
inline constexpr std::size_t kOperation = 4, kMemoryKind = 8, kCorrelation = 12, kAddress = 16,
                             kBytes = 24, kTime = 32, kProcess = 48, kDevice = 52, kContext = 56,
                             kStream = 60, kName = 64, kAsync = 72, kPoolType = 80,
                             kPoolAddress = 88, kLeast = 120;
}
namespace pool {
inline constexpr std::size_t kOperation = 4, kPoolType = 8, kCorrelation = 12, kDevice = 20,
                             kAddress = 32, kSize = 40, kThreshold = 48, kTime = 56, kLeast = 64;
}
namespace graph {
inline constexpr std::size_t kCorrelation = 4, kStart = 8, kEnd = 16, kDevice = 24, kGraph = 28,
                             kContext = 32, kStream = 36, kLeast = 48;
}
namespace context {
inline constexpr std::size_t kContext = 4, kDevice = 8, kNullStream = 14, kLeast = 16;
}
namespace stream {
inline constexpr std::size_t kContext = 4, kStream = 8, kPriority = 12, kFlag = 16, kLeast = 24;
}

}  // namespace sonde::cupti
