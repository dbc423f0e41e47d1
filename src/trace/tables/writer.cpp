#include "trace/tables/writer.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sonde::tables {
namespace {

// Programs count on small descriptor numbers.
constexpr int kLowestDescriptor = 400;

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

// Real space on the disk: a page that is written later cannot fail.
int reserve(int file, std::uint64_t offset, std::size_t bytes) {
  rlimit limit{};
  // A write past this limit would be a signal, not an error.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      offset + bytes > limit.rlim_cur) {
    return EFBIG;
  }
  for (int tries = 0; tries < 1000; ++tries) {
    const int error = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    if (error != EINTR) return error;
  }
  return EINTR;
}

char* map(int file, std::uint64_t offset, std::size_t bytes) {
  void* const address =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  return address == MAP_FAILED ? nullptr : static_cast<char*>(address);
}

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

}  // namespace

int Writer::open(const char* path, std::uint64_t max_bytes, std::uint32_t pid) {
  if (header_) return 0;
  int file = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) return errno;
  const int higher = fcntl(file, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (higher >= 0) {
    ::close(file);
    file = higher;
  }
  struct stat status {};
  int error = fstat(file, &status) == 0 ? reserve(file, 0, kBlockBytes) : errno;
  char* const page = error ? nullptr : map(file, 0, kBlockBytes);
  if (!error && !page) error = errno;
  if (error) {
    unlink(path);
    ::close(file);
    return error;
  }
  auto* const header = reinterpret_cast<FileHeader*>(page);
  header->version = kVersion;
  header->block_bytes = kBlockBytes;
  header->pid = pid != 0 ? pid : static_cast<std::uint32_t>(getpid());
  header->max_bytes = max_bytes;
  std::uint64_t magic;
  memcpy(&magic, kMagic, sizeof magic);
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(header->magic), magic, __ATOMIC_RELEASE);
  file_ = file;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  reserved_ = kBlockBytes;
  region_ = nullptr;
  region_used_ = kRegionBlocks;
  texts_ = 0;
  for (Open& open : open_) open = {};
  __atomic_store_n(&header_, header, __ATOMIC_RELEASE);
  return 0;
}

void Writer::close() {
  const Lock lock(lock_);
  if (!header_) return;
  header_->clean_end = 1;
  if (owns_file()) {
    (void)!ftruncate(file_, static_cast<off_t>((header_->blocks + 1) * kBlockBytes));
    ::close(file_);
  }
  munmap(header_, kBlockBytes);
  // The regions stay mapped: a thread that ends late may still count in a row.
  file_ = -1;
  header_ = nullptr;
}

void Writer::abandon() {
  lock_ = PTHREAD_MUTEX_INITIALIZER;
  if (owns_file()) ::close(file_);
  file_ = -1;
  header_ = nullptr;
}

bool Writer::owns_file() const {
  struct stat status {};
  return file_ >= 0 && fstat(file_, &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

void Writer::count_drop(int reason) {
  if (header_->dropped_rows++ == 0) header_->drop_reason = static_cast<std::uint32_t>(reason);
}

char* Writer::new_block() {
  if (region_used_ == kRegionBlocks) {
    const std::size_t bytes = kRegionBlocks * kBlockBytes;
    if (header_->max_bytes != 0 && reserved_ + bytes > header_->max_bytes + kBlockBytes) {
      count_drop(0);
      return nullptr;
    }
    int error = owns_file() ? reserve(file_, reserved_, bytes) : EBADF;
    char* const address = error ? nullptr : map(file_, reserved_, bytes);
    if (!address) {
      count_drop(error ? error : errno);
      return nullptr;
    }
    reserved_ += bytes;
    region_ = address;
    region_used_ = 0;
  }
  return region_ + region_used_++ * kBlockBytes;
}

char* Writer::make_room(Table table, std::size_t bytes, std::size_t row_bytes) {
  Open& open = open_[static_cast<std::uint32_t>(table)];
  if (!open.block || open.used + bytes > kBlockBytes) {
    char* const block = new_block();
    if (!block) return nullptr;
    auto* const header = reinterpret_cast<BlockHeader*>(block);
    header->table = table;
    header->row_bytes = static_cast<std::uint32_t>(row_bytes);
    __atomic_store_n(&header->magic, kBlockMagic, __ATOMIC_RELEASE);
    __atomic_store_n(&header_->blocks, header_->blocks + 1, __ATOMIC_RELEASE);
    open = {block, sizeof(BlockHeader)};
  }
  char* const at = open.block + open.used;
  open.used += bytes;
  return at;
}

void* Writer::add_row(Table table, const void* row, std::size_t bytes) {
  const Lock lock(lock_);
  if (!header_) return nullptr;
  char* const at = make_room(table, bytes, bytes);
  if (!at) return nullptr;
  memcpy(at, row, bytes);
  auto* const block =
      reinterpret_cast<BlockHeader*>(open_[static_cast<std::uint32_t>(table)].block);
  __atomic_store_n(&block->rows, block->rows + 1, __ATOMIC_RELEASE);
  return at;
}

void* Writer::add_empty_rows(Table table, std::size_t row_bytes, std::size_t count) {
  if (count == 0 || count > (kBlockBytes - sizeof(BlockHeader)) / row_bytes) return nullptr;
  const Lock lock(lock_);
  if (!header_) return nullptr;
  char* const at = make_room(table, row_bytes * count, row_bytes);
  if (!at) return nullptr;
  auto* const block =
      reinterpret_cast<BlockHeader*>(open_[static_cast<std::uint32_t>(table)].block);
  // Fresh pages of a file are zero.
  __atomic_store_n(&block->rows, block->rows + static_cast<std::uint32_t>(count), __ATOMIC_RELEASE);
  return at;
}

std::uint32_t Writer::add_text(const char* text, std::size_t size) {
  const Lock lock(lock_);
  if (!header_) return 0;
  if (size > kMaxText) size = kMaxText;
  const std::size_t bytes = sizeof(TextEntry) + padded(size);
  char* const at = make_room(Table::Text, bytes, 0);
  if (!at) return 0;
  const TextEntry entry{++texts_, static_cast<std::uint32_t>(size)};
  memcpy(at, &entry, sizeof entry);
  memcpy(at + sizeof entry, text, size);
  Open& open = open_[static_cast<std::uint32_t>(Table::Text)];
  auto* const block = reinterpret_cast<BlockHeader*>(open.block);
  __atomic_store_n(&block->rows, static_cast<std::uint32_t>(open.used - sizeof(BlockHeader)),
                   __ATOMIC_RELEASE);
  return entry.id;
}

void Writer::add_property(const char* key, const char* value) {
  const std::uint32_t key_text = add_text(key, strlen(key));
  const std::uint32_t value_text = add_text(value, strlen(value));
  if (key_text != 0 && value_text != 0) add(Table::Property, PropertyRow{key_text, value_text});
}

bool companion_path(const char* recording, const char* ending, char* out, std::size_t size) {
  constexpr const char* kEnding = ".sonde";
  const std::size_t length = strlen(recording);
  if (length < strlen(kEnding)) return false;
  const std::size_t stem = length - strlen(kEnding);
  if (strcmp(recording + stem, kEnding) != 0 || stem + strlen(ending) + 1 > size) return false;
  memcpy(out, recording, stem);
  strcpy(out + stem, ending);
  return true;
}

}  // namespace sonde::tables
