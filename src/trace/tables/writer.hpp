#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "trace/tables/format.hpp"

namespace sonde::tables {

// Writes a .tables file in place. For agents: needs the C library only, allocates nothing but
// mappings, takes one lock for a new row, throws and prints nothing. Rows stay where they are: the
// caller may go on counting in one, without a lock where it is the only one that does.
class Writer {
 public:
  Writer() = default;
  ~Writer() { close(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // 0, or an errno. `max_bytes` 0: no limit. `pid` is the process that the file is about, 0: this
  // one.
  int open(const char* path, std::uint64_t max_bytes, std::uint32_t pid = 0);
  bool is_open() const { return header_ != nullptr; }
  // Ticks without a word.
  void set_clock(Clock clock) {
    if (header_) header_->clock = clock;
  }
  // The orderly end: cuts the file to what is used. Rows must not be touched afterwards.
  void close();
  // In a forked child: forgets the file, which is the parent's.
  void abandon();

  // A copy of `row` in the file; nullptr (and one loss counted) where there is no room.
  template <class Row>
  Row* add(Table table, const Row& row) {
    static_assert(alignof(Row) <= 8);
    return static_cast<Row*>(add_row(table, &row, sizeof(Row)));
  }
  // That many empty rows in one piece, as far as a block holds them; nullptr as above.
  template <class Row>
  Row* add_empty(Table table, std::size_t count) {
    static_assert(alignof(Row) <= 8);
    return static_cast<Row*>(add_empty_rows(table, sizeof(Row), count));
  }
  template <class Row>
  static constexpr std::size_t most_at_once() {
    return (kBlockBytes - sizeof(BlockHeader)) / sizeof(Row);
  }
  // The number of a new text, 0 where there is no room. The caller keeps texts apart.
  std::uint32_t add_text(const char* text, std::size_t size);
  void add_property(const char* key, const char* value);

 private:
  struct Open {
    char* block = nullptr;
    std::size_t used = 0;  // bytes, with the header
  };
  static constexpr std::size_t kTables = 16;
  static constexpr std::size_t kRegionBlocks = 16;

  void* add_row(Table table, const void* row, std::size_t bytes);
  void* add_empty_rows(Table table, std::size_t row_bytes, std::size_t count);
  // Room in the table's block at work, in one piece.
  char* make_room(Table table, std::size_t bytes, std::size_t row_bytes);
  char* new_block();
  void count_drop(int reason);
  // Programs that close every descriptor exist: never touch a file that took over the number.
  bool owns_file() const;

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  FileHeader* header_ = nullptr;
  int file_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  char* region_ = nullptr;  // newest
  std::size_t region_used_ = kRegionBlocks;
  std::uint64_t reserved_ = 0;  // bytes of the file that have their space
  std::uint32_t texts_ = 0;
  Open open_[kTables];
};

// The file of that ending beside a recording: "x.sonde" -> "x.tables". False where the path is too
// long or is none of a recording.
bool companion_path(const char* recording, const char* ending, char* out, std::size_t size);

}  // namespace sonde::tables
