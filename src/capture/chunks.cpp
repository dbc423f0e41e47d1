#include <string.h>

#include "capture/recorder.hpp"

namespace sonde::capture {
namespace {

constexpr std::size_t kRecordWords = sizeof(file::Record) / sizeof(std::uint64_t);
// A rest smaller than this is not worth another thread's Thread record.
constexpr std::size_t kWorthwhileRecords = 16;
// A thread that has filled this many chunks gets several at once: that costs the kernel less, and
// threads stand less in each other's way.
constexpr std::uint32_t kBusyThread = 2;

std::uint64_t pack(std::uint32_t next, std::size_t used) {
  return std::uint64_t{next} << 32 | used;
}

file::ChunkHeader& header_of(char* chunk) { return *reinterpret_cast<file::ChunkHeader*>(chunk); }

struct Picked {
  std::uint32_t chunk = kNone;
  std::uint32_t count = 1;  // with those behind it, which nobody has begun either
  std::uint64_t sequence = 0;
  std::size_t used = 0;  // bytes: goes on in a chunk that another thread left
  bool recycled = false;
  bool prepared = false;
};

void lose(Session& session, int error) {
  if (session.full.load(std::memory_order_relaxed)) return;
  store(session.header->drop_reason, static_cast<std::uint32_t>(error));
  session.full.store(true, std::memory_order_relaxed);
}

std::uint32_t pop_retired(Session& session) {
  const std::uint32_t chunk = session.retired_first;
  if (chunk == kNone) return kNone;
  session.retired_first =
      static_cast<std::uint32_t>(header_of(chunk_address(session, chunk)).link >> 32);
  if (session.retired_first == kNone) session.retired_last = kNone;
  return chunk;
}

Picked pop_partial(Session& session) {
  Picked picked;
  picked.chunk = session.partial;
  if (picked.chunk == kNone) return picked;
  const std::uint64_t link = header_of(chunk_address(session, picked.chunk)).link;
  session.partial = static_cast<std::uint32_t>(link >> 32);
  picked.used = static_cast<std::uint32_t>(link);
  return picked;
}

// How many of `wanted` fresh chunks can be had together, up to a border at which the kernel can
// hold them as one large page. Near a limit one by one: others may need the rest.
std::uint32_t fresh_count(const Session& session, std::uint32_t wanted) {
  const std::uint32_t to_border = kMostAtOnce - (session.chunks + 1) % kMostAtOnce;
  std::uint32_t count = wanted < to_border ? wanted : to_border;
  const std::uint32_t left = session.reserved - session.chunks;
  if (count > left) count = left;
  return session.max_chunks && session.max_chunks - session.chunks < 64 ? 1 : count;
}

// A chunk that nobody writes into, its place decided and its pages not yet touched.
Picked pick_chunk(Session& session, bool permanent, std::uint32_t wanted = 1) {
  Picked picked;
  if (!permanent) {
    picked = pop_partial(session);
    if (picked.chunk != kNone) return picked;
  }
  if (session.max_chunks && session.chunks >= session.max_chunks) {
    if (!session.keep_last) {
      lose(session, 0);
      return picked;
    }
    if (permanent && session.permanent >= session.max_chunks / 2) return picked;
    picked.chunk = pop_retired(session);
    if (picked.chunk == kNone) picked.chunk = pop_partial(session).chunk;
    picked.recycled = true;
  } else {
    if (session.full.load(std::memory_order_relaxed)) return picked;
    if (session.chunks == session.reserved) {
      if (const int error = grow_storage(session)) {
        lose(session, error);
        return picked;
      }
    }
    picked.count = fresh_count(session, wanted);
    picked.chunk = session.chunks;
    session.chunks += picked.count;
    store(session.header->chunks, std::uint64_t{session.chunks});
  }
  if (picked.chunk != kNone) {
    picked.sequence = session.sequence++;
    if (permanent) ++session.permanent;
  }
  return picked;
}

// Word by word: a dump may read at the same time, and sees the magic gone first.
void erase(char* chunk) {
  __atomic_store_n(&header_of(chunk).magic, 0u, __ATOMIC_RELAXED);
  auto* const words = reinterpret_cast<std::uint64_t*>(chunk);
  for (std::size_t i = 1; i < file::kChunkBytes / sizeof *words; ++i) {
    __atomic_store_n(words + i, std::uint64_t{0}, __ATOMIC_RELEASE);
  }
}

void write_header(char* chunk, file::ChunkType type, std::uint64_t sequence, std::uint32_t thread) {
  file::ChunkHeader& header = header_of(chunk);
  store(header.type, type);
  store(header.sequence, sequence);
  store(header.thread, thread);
  store(header.link, pack(kNone, 0));
  __atomic_store_n(&header.magic, file::kChunkMagic, __ATOMIC_RELEASE);
}

// 0, or an errno. Needs no lock: the chunks are the caller's alone.
int begin_chunk(const Session& session, const Picked& picked, file::ChunkType type,
                std::uint32_t thread) {
  if (!picked.prepared) {
    const int error = prepare_chunks(session, picked.chunk, picked.count, !picked.recycled);
    if (error) return error;
  }
  char* const chunk = chunk_address(session, picked.chunk);
  if (picked.recycled) erase(chunk);
  write_header(chunk, type, picked.sequence, thread);
  return 0;
}

Picked take_spare(Session& session, ThreadState& thread) {
  Picked picked;
  if (thread.spare == thread.spare_end) return picked;
  picked.chunk = thread.spare++;
  picked.sequence = session.sequence++;
  picked.prepared = true;
  return picked;
}

// For any thread to go on in.
void leave_rest(Session& session, std::uint32_t chunk, std::size_t used) {
  store(header_of(chunk_address(session, chunk)).link, pack(session.partial, used));
  session.partial = chunk;
}

void retire(Session& session, std::uint32_t chunk) {
  if (!session.keep_last) return;
  store(header_of(chunk_address(session, chunk)).link, pack(kNone, 0));
  if (session.retired_last != kNone) {
    store(header_of(chunk_address(session, session.retired_last)).link, pack(chunk, 0));
  } else {
    session.retired_first = chunk;
  }
  session.retired_last = chunk;
}

// The first chunk is handed out in pieces, so that the clock is read again soon after the start.
std::uint64_t* next_stop(Session& session, std::uint64_t* next, std::uint64_t* end) {
  constexpr std::size_t kPieces[] = {64 * kRecordWords, 512 * kRecordWords};
  if (session.renewals >= sizeof kPieces / sizeof *kPieces) return end;
  std::uint64_t* const stop = next + kPieces[session.renewals++];
  return stop < end ? stop : end;
}

bool fits(const sonde_cursor& cursor, const std::uint64_t* end, std::size_t count) {
  return cursor.next && static_cast<std::size_t>(end - cursor.next) >= count * kRecordWords;
}

}  // namespace

bool make_room(std::size_t count) {
  ThreadState& thread = thread_state;
  sonde_cursor& cursor = sonde_cursor_;
  Session* session = thread.session;
  // The way of every record after a loss of space: no lock.
  if (session && thread.chunk == kNone && session->full.load(std::memory_order_relaxed) &&
      session == current_session.load(std::memory_order_relaxed)) {
    return false;
  }
  Picked picked;
  {
    const Lock lock;
    session = attach_thread(thread);
    if (!session) {
      // Stopped: what is on its way still goes into the chunk that the thread holds.
      return thread.session && thread.chunk != kNone && fits(cursor, thread.chunk_end, count);
    }
    note_drops(*session);
    if (thread.chunk != kNone) {
      if (fits(cursor, thread.chunk_end, count)) {
        renew_clock(*session->header);
        std::uint64_t* stop = next_stop(*session, cursor.next, thread.chunk_end);
        if (static_cast<std::size_t>(stop - cursor.next) < count * kRecordWords) {
          stop = thread.chunk_end;
        }
        set_end(cursor, stop);
        return true;
      }
      retire(*session, thread.chunk);
      ++thread.filled;
      thread.chunk = kNone;
      cursor.next = nullptr;
      set_end(cursor, nullptr);
    }
    picked = take_spare(*session, thread);
    if (picked.chunk == kNone) {
      picked = pick_chunk(*session, false, thread.filled < kBusyThread ? 1 : kMostAtOnce);
    }
    if (picked.chunk != kNone) ++session->preparing;
  }
  if (picked.chunk == kNone) return false;
  char* const chunk = chunk_address(*session, picked.chunk);
  std::size_t used = picked.used;
  int error = 0;
  if (used == 0) {
    error = begin_chunk(*session, picked, file::ChunkType::Records, thread.id);
    used = sizeof(file::ChunkHeader);
  } else {
    auto* const at = reinterpret_cast<std::uint64_t*>(chunk + used);
    __atomic_store_n(at + 1, std::uint64_t{thread.id}, __ATOMIC_RELAXED);
    __atomic_store_n(at + 3, file::make_word(0, 0, file::RecordType::Thread, 0), __ATOMIC_RELEASE);
    used += sizeof(file::Record);
  }
  const Lock lock;
  --session->preparing;
  if (session->ended) close_file(*session);
  if (error) {
    lose(*session, error);
    return false;
  }
  thread.chunk = picked.chunk;
  if (!picked.prepared) {
    thread.spare = picked.chunk + 1;
    thread.spare_end = picked.chunk + picked.count;
  }
  thread.chunk_end = reinterpret_cast<std::uint64_t*>(chunk + file::kChunkBytes);
  cursor.next = reinterpret_cast<std::uint64_t*>(chunk + used);
  renew_clock(*session->header);
  // Stopped meanwhile: the next record looks again.
  set_end(cursor, session->ended ? nullptr : next_stop(*session, cursor.next, thread.chunk_end));
  return fits(cursor, thread.chunk_end, count);
}

// The thread's chunks, for the next one that needs a chunk. Under the lock.
void leave_chunk(ThreadState& thread) {
  Session& session = *thread.session;
  for (Picked spare; !session.ended;) {
    spare = take_spare(session, thread);
    if (spare.chunk == kNone) break;
    write_header(chunk_address(session, spare.chunk), file::ChunkType::Records, spare.sequence,
                 thread.id);
    leave_rest(session, spare.chunk, sizeof(file::ChunkHeader));
  }
  thread.spare = thread.spare_end = 0;
  thread.filled = 0;
  if (thread.chunk == kNone) return;
  const std::uint32_t chunk = thread.chunk;
  const std::uint64_t* const next = thread.cursor->next;
  const auto room = static_cast<std::size_t>(thread.chunk_end - next) / kRecordWords;
  thread.chunk = kNone;
  thread.cursor->next = nullptr;
  set_end(*thread.cursor, nullptr);
  if (session.ended) return;
  if (room < kWorthwhileRecords) {
    retire(session, chunk);
    return;
  }
  const char* const address = chunk_address(session, chunk);
  leave_rest(session, chunk,
             static_cast<std::size_t>(reinterpret_cast<const char*>(next) - address));
}

char* append(Session& session, Appender& appender, file::ChunkType type, std::size_t bytes) {
  if (!appender.next || static_cast<std::size_t>(appender.end - appender.next) < bytes) {
    const Picked picked = pick_chunk(session, true);
    if (picked.chunk == kNone) return nullptr;
    char* const chunk = chunk_address(session, picked.chunk);
    if (const int error = begin_chunk(session, picked, type, 0)) {
      lose(session, error);
      return nullptr;
    }
    appender = {chunk + sizeof(file::ChunkHeader), chunk + file::kChunkBytes};
  }
  char* const place = appender.next;
  appender.next += bytes;
  return place;
}

}  // namespace sonde::capture
