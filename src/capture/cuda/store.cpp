#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/cuda/collector.hpp"
#include "capture/file_space.hpp"

// The .cupti file as memory. It grows by regions; blocks are cut from regions. A block that CUPTI
// returns half empty is cut behind its records, and the rest is lent again.

namespace sonde::capture::cuda {

using cupti::BlockHeader;
using cupti::BlockState;
using cupti::BlockType;
using cupti::FileHeader;

namespace {

constexpr std::size_t kRegionBytes = 4 << 20;
constexpr std::size_t kUsualBlock = 1 << 20;
constexpr std::size_t kSmallestBlock = 256 << 10;
constexpr std::size_t kNamesBlock = 256 << 10;
constexpr std::size_t kAhead = 8 << 20;  // room that waits for its use, all its pages present
constexpr std::size_t kMaxRegions = 1 << 16;
constexpr std::size_t kMaxFree = 4096;
constexpr std::size_t kNone = ~std::size_t{0};
constexpr int kLowestDescriptor = 400;

struct Region {
  char* address;
  std::uint64_t last_sequence;
  std::uint32_t lent;
  bool has_names;
};

class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  static inline pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};

// What is said before there is a file.
FileHeader draft;
FileHeader* file = &draft;
int descriptor = -1;
std::uint64_t limit;
bool keeps_last;
Region regions[kMaxRegions];
std::size_t region_count;
BlockHeader* free_blocks[kMaxFree];
std::size_t free_count;
std::size_t free_bytes;
std::uint64_t sequence;
char* names_next;
std::uint64_t returned;
char* names_end;

std::uint64_t region_offset(std::size_t region) {
  return cupti::kHeaderBytes + region * kRegionBytes;
}

std::size_t region_of(const void* address) {
  const char* const at = static_cast<const char*>(address);
  for (std::size_t i = region_count; i-- > 0;) {
    if (at >= regions[i].address && at < regions[i].address + kRegionBytes) return i;
  }
  return kNone;
}

BlockHeader* make_block(char* at, std::size_t bytes) {
  auto* const block = reinterpret_cast<BlockHeader*>(at);
  block->type = BlockType::Records;
  block->state = BlockState::Free;
  block->bytes = bytes;
  __atomic_store_n(&block->magic, cupti::kBlockMagic, __ATOMIC_RELEASE);
  return block;
}

void add_free(BlockHeader* block) {
  if (free_count == kMaxFree) return;  // it stays unused
  free_blocks[free_count++] = block;
  free_bytes += block->bytes;
}

BlockHeader* remove_free(std::size_t index) {
  BlockHeader* const block = free_blocks[index];
  free_blocks[index] = free_blocks[--free_count];
  free_bytes -= block->bytes;
  return block;
}

// Cuts the block behind `bytes`; the rest becomes a free block.
void cut_block(BlockHeader* block, std::size_t bytes) {
  bytes = (bytes + cupti::kBlockUnit - 1) / cupti::kBlockUnit * cupti::kBlockUnit;
  if (block->bytes < bytes + kSmallestBlock) return;
  // The rest first: a reader finds its way at every moment.
  BlockHeader* const rest =
      make_block(reinterpret_cast<char*>(block) + bytes, block->bytes - bytes);
  __atomic_store_n(&block->bytes, bytes, __ATOMIC_RELEASE);
  add_free(rest);
}

// The smallest that is large enough; else the largest that is not too small.
std::size_t best_free(std::size_t wanted, std::size_t least) {
  std::size_t best = kNone;
  for (std::size_t i = 0; i < free_count; ++i) {
    const std::uint64_t bytes = free_blocks[i]->bytes;
    if (bytes < least) continue;
    if (best == kNone) {
      best = i;
      continue;
    }
    const std::uint64_t known = free_blocks[best]->bytes;
    const bool better = known >= wanted ? bytes >= wanted && bytes < known : bytes > known;
    if (better) best = i;
  }
  return best;
}

// The region that is longest out of use, empty again; kNone where all are in use.
std::size_t oldest_region() {
  std::size_t oldest = kNone;
  for (std::size_t i = 0; i < region_count; ++i) {
    if (regions[i].lent > 0 || regions[i].has_names) continue;
    if (oldest == kNone || regions[i].last_sequence < regions[oldest].last_sequence) oldest = i;
  }
  if (oldest == kNone) return kNone;
  char* const begin = regions[oldest].address;
  for (std::size_t i = free_count; i-- > 0;) {
    char* const at = reinterpret_cast<char*>(free_blocks[i]);
    if (at >= begin && at < begin + kRegionBytes) remove_free(i);
  }
  memset(begin, 0, kRegionBytes);
  return oldest;
}

void fill(int error) {
  if (file->state == cupti::State::Full) return;
  file->full_reason = static_cast<std::uint32_t>(error);
  __atomic_store_n(&file->state, cupti::State::Full, __ATOMIC_RELEASE);
}

// A new region that is not in use yet; kNone where there is no room.
std::size_t add_region() {
  const std::uint64_t offset = region_offset(region_count);
  if (region_count == kMaxRegions || (limit && region_count > 0 && offset + kRegionBytes > limit)) {
    if (keeps_last) return oldest_region();
    fill(0);
    return kNone;
  }
  const int error = reserve_space(descriptor, static_cast<off_t>(offset), kRegionBytes);
  char* const address =
      error ? nullptr : map_space(descriptor, static_cast<off_t>(offset), kRegionBytes);
  if (!address) {
    fill(error ? error : errno);
    return kNone;
  }
  regions[region_count] = {address, sequence, 0, false};
  file->file_bytes = offset + kRegionBytes;
  return region_count++;
}

BlockHeader* take(std::size_t wanted, std::size_t least) {
  std::size_t index = best_free(wanted, least);
  if (index == kNone) {
    const std::size_t region = add_region();
    if (region == kNone) return nullptr;
    add_free(make_block(regions[region].address, kRegionBytes));
    index = best_free(wanted, least);
    if (index == kNone) return nullptr;
  }
  BlockHeader* const block = remove_free(index);
  cut_block(block, wanted);
  return block;
}

}  // namespace

FileHeader& header() { return *file; }
bool store_is_open() { return file != &draft; }

int open_store(const char* path, std::uint64_t max_bytes, bool keep_last) {
  const Lock lock;
  if (file != &draft) return EEXIST;
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return errno;
  // Programs count on small descriptor numbers, and some close all of them.
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high >= 0) {
    close(fd);
    fd = high;
  }
  int error = reserve_space(fd, 0, cupti::kHeaderBytes);
  char* const page = error ? nullptr : map_space(fd, 0, cupti::kHeaderBytes);
  if (!page) {
    if (!error) error = errno;
    close(fd);
    unlink(path);
    return error;
  }
  descriptor = fd;
  limit = max_bytes;
  keeps_last = keep_last;
  auto* const mapped = reinterpret_cast<FileHeader*>(page);
  memcpy(reinterpret_cast<char*>(mapped) + sizeof mapped->magic,
         reinterpret_cast<const char*>(file) + sizeof mapped->magic,
         sizeof *mapped - sizeof mapped->magic);
  mapped->version = cupti::kVersion;
  mapped->pid = static_cast<std::uint32_t>(getpid());
  mapped->max_bytes = max_bytes;
  mapped->file_bytes = cupti::kHeaderBytes;
  std::uint64_t magic;
  memcpy(&magic, cupti::kMagic, sizeof magic);
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(mapped->magic), magic, __ATOMIC_RELEASE);
  file = mapped;
  return 0;
}

std::uint8_t* lend(std::size_t* bytes) {
  const Lock lock;
  if (descriptor < 0 || file->state == cupti::State::Full) return nullptr;
  BlockHeader* const block = take(kUsualBlock, kSmallestBlock);
  if (!block) return nullptr;
  const std::size_t region = region_of(block);
  ++regions[region].lent;
  block->state = BlockState::Lent;
  *bytes = block->bytes - sizeof *block;
  return reinterpret_cast<std::uint8_t*>(block + 1);
}

bool belongs_to_store(const std::uint8_t* piece) {
  const Lock lock;
  const std::size_t region = region_of(piece);
  return region != kNone && regions[region].lent > 0;
}

void take_back(std::uint8_t* piece, std::size_t used, std::uint64_t records) {
  auto* const block = reinterpret_cast<BlockHeader*>(piece) - 1;
  const Lock lock;
  const std::size_t region = region_of(block);
  if (region == kNone) return;
  if (regions[region].lent > 0) --regions[region].lent;
  if (used == 0) {
    block->state = BlockState::Free;
    return add_free(block);
  }
  regions[region].last_sequence = block->sequence = ++sequence;
  block->used = used;
  __atomic_fetch_add(&returned, std::uint64_t{used}, __ATOMIC_RELAXED);
  block->records = records;
  __atomic_store_n(&block->state, BlockState::Returned, __ATOMIC_RELEASE);
  cut_block(block, sizeof *block + used);
  // The pages are the file's now, and need not count as the program's memory.
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(block) + page;
  const auto first = begin / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(block) + block->bytes) / page * page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

char* append_name(std::size_t bytes) {
  const Lock lock;
  if (descriptor < 0) return nullptr;
  if (static_cast<std::size_t>(names_end - names_next) < bytes) {
    if (bytes > kNamesBlock - sizeof(BlockHeader)) return nullptr;
    BlockHeader* const block = take(kNamesBlock, kNamesBlock);
    if (!block) return nullptr;
    regions[region_of(block)].has_names = true;
    block->type = BlockType::Names;
    __atomic_store_n(&block->state, BlockState::Returned, __ATOMIC_RELEASE);
    names_next = reinterpret_cast<char*>(block + 1);
    names_end = reinterpret_cast<char*>(block) + block->bytes;
  }
  char* const at = names_next;
  names_next += bytes;
  return at;
}

std::uint64_t returned_bytes() { return __atomic_load_n(&returned, __ATOMIC_RELAXED); }

bool room_is_short() { return __atomic_load_n(&free_bytes, __ATOMIC_RELAXED) < kAhead / 2; }

void prepare_room() {
  for (;;) {
    char* address = nullptr;
    {
      const Lock lock;
      if (descriptor < 0 || file->state == cupti::State::Full || free_bytes >= kAhead) return;
      // The last of the room is made when it is needed: until then nothing is lost.
      if (limit && region_offset(region_count) + kRegionBytes > limit) return;
      const std::size_t region = add_region();
      if (region == kNone) return;
      address = regions[region].address;
      regions[region].lent = 1;  // nobody else may have it yet
    }
    make_present(address, kRegionBytes);
    const Lock lock;
    regions[region_of(address)].lent = 0;
    add_free(make_block(address, kRegionBytes));
  }
}

void close_store() {
  const Lock lock;
  if (descriptor < 0) return;
  std::uint64_t end = cupti::kHeaderBytes;
  bool lent = false;
  for (std::size_t i = 0; i < region_count; ++i) {
    lent = lent || regions[i].lent > 0;
    char* const begin = regions[i].address;
    for (std::size_t at = 0; at + sizeof(BlockHeader) <= kRegionBytes;) {
      const auto& block = *reinterpret_cast<const BlockHeader*>(begin + at);
      if (block.magic != cupti::kBlockMagic || block.bytes < cupti::kBlockUnit) break;
      const bool empty = block.state == BlockState::Free;
      if (!empty) end = region_offset(i) + at + block.bytes;
      if (empty && block.bytes > cupti::kBlockUnit) {
        fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(region_offset(i) + at + cupti::kBlockUnit),
                  static_cast<off_t>(block.bytes - cupti::kBlockUnit));
      }
      at += block.bytes;
    }
  }
  // A call behind this one goes into memory that is nobody's; what CUPTI still has stays.
  if (!lent && region_count > 0) {
    free_count = 0;
    free_bytes = 0;
    file->file_bytes = end;
    (void)!ftruncate(descriptor, static_cast<off_t>(end));
  }
  __atomic_store_n(&file->clean_end, 1u, __ATOMIC_RELEASE);
  descriptor = -1;
}

void separate_store() {
  if (descriptor < 0) return;
  for (std::size_t i = 0; i < region_count; ++i) {
    mmap(regions[i].address, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
         descriptor, static_cast<off_t>(region_offset(i)));
  }
  mmap(file, cupti::kHeaderBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, descriptor, 0);
  constexpr pthread_mutex_t kFree = PTHREAD_MUTEX_INITIALIZER;
  Lock::mutex = kFree;
  descriptor = -1;
}

}  // namespace sonde::capture::cuda
