#include "capture/recorder.hpp"

// Here, so that whoever records pulls the library's start-up code out of the static library, too.
int sonde_recording_ = 0;
std::uint32_t (*sonde_place_)() = nullptr;
__thread sonde_cursor sonde_cursor_ = {nullptr, &sonde::capture::no_end, 0};

namespace sonde::capture {
namespace {

// Before the constructors of C++ programs, which may record.
__attribute__((constructor(101))) void at_load() {
  register_handlers();
  start_from_environment();
}

void put(std::uint64_t* at, const file::Record& record) {
  __atomic_store_n(at, record.a, __ATOMIC_RELAXED);
  __atomic_store_n(at + 1, record.b, __ATOMIC_RELAXED);
  __atomic_store_n(at + 2, record.c, __ATOMIC_RELAXED);
  __atomic_store_n(at + 3, record.word, __ATOMIC_RELEASE);
}

}  // namespace

void write_group(const file::Record* records, std::size_t count) {
  const Guard guard;
  if (!guard) return count_drop(true);
  sonde_cursor& cursor = sonde_cursor_;
  const std::uint64_t* const end = __atomic_load_n(cursor.end, __ATOMIC_RELAXED);
  if (!end || cursor.next + 4 * count > end) {
    if (!make_room(count)) return count_drop(false);
  }
  for (std::size_t i = 0; i < count; ++i) {
    put(cursor.next, records[i]);
    cursor.next += 4;
  }
}

void write_kept(Session& session, const file::Record& record) {
  char* const place = append(session, session.kept, file::ChunkType::Kept, sizeof record);
  if (place) {
    put(reinterpret_cast<std::uint64_t*>(place), record);
  } else {
    __atomic_fetch_add(&session.header->dropped_records, std::uint64_t{1}, __ATOMIC_RELAXED);
  }
}

}  // namespace sonde::capture

void sonde_record_slow_(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t word) {
  const sonde::file::Record record{a, b, c, word};
  sonde::capture::write_group(&record, 1);
}
