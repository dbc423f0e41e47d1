#include "capture/python/session.hpp"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "capture/python/hash_table.hpp"
#include "sonde/sonde.h"

namespace sonde::python {

std::uint32_t generation = 1;

namespace {

struct Text {
  std::uint64_t hash;
  char* text;
  std::uint32_t size;
  std::uint32_t id;
};

struct Property {
  const char* key;
  const char* value;
};

constexpr std::size_t kMaxForkHandlers = 8;
constexpr std::size_t kMaxProperties = 32;

tables::Writer tables_file;
bool runs = false;
bool tables_only = false;  // beside a recording that somebody else began
bool reopen = false;       // in a forked child: at the first row
pthread_mutex_t text_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
HashTable<Text> texts;
ForkHandler fork_handlers[kMaxForkHandlers];
std::size_t fork_handler_count = 0;
Property inherited[kMaxProperties];
std::size_t inherited_count = 0;
char failure[PATH_MAX + 200];

std::uint64_t hash_of(const char* text, std::size_t size) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325u;
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100'0000'01B3u;
  }
  return mix(hash);
}

void forget_texts() {
  texts.for_each([](const Text& text) { free(text.text); });
  texts.clear();
}

const char* explain(const char* what, int error) {
  strcpy(failure, what);
  strcat(failure, ": ");
  strncat(failure, strerror(error), 100);
  return failure;
}

// As the recorder reads it: bytes, or with K, M, G or T behind them. 0: no limit.
std::uint64_t size_limit() {
  const char* const text = getenv("SONDE_MAX_SIZE");
  if (!text) return 0;
  char* end = nullptr;
  const std::uint64_t number = strtoull(text, &end, 10);
  int shift = 0;
  for (const char* unit = "kmgt"; *unit; ++unit) {
    shift += 10;
    if ((*end | 0x20) == *unit) return number > ~std::uint64_t{0} >> shift ? 0 : number << shift;
  }
  return number;
}

// The tables beside the recorder's file. 0, or an errno.
int open_tables() {
  char recording[PATH_MAX];
  char path[PATH_MAX];
  if (!sonde_path(recording, sizeof recording)) return ENOENT;
  if (!tables::companion_path(recording, ".tables", path, sizeof path)) return ENAMETOOLONG;
  return tables_file.open(path, size_limit());
}

// Nothing here may count on another thread, and nothing that is written belongs to this process.
void begin_anew_in_child() {
  text_lock = PTHREAD_MUTEX_INITIALIZER;
  open_lock = PTHREAD_MUTEX_INITIALIZER;
  if (!runs && !tables_only) return;
  tables_file.abandon();
  ++generation;
  reopen = true;
  forget_texts();
  for (std::size_t i = 0; i < fork_handler_count; ++i) fork_handlers[i]();
}

// Other threads are kept out while the process is copied: the child finds all tables whole.
void before_fork() {
  pthread_mutex_lock(&open_lock);
  pthread_mutex_lock(&text_lock);
}

void after_fork_in_parent() {
  pthread_mutex_unlock(&text_lock);
  pthread_mutex_unlock(&open_lock);
}

// nullptr, or what went wrong, for the user.
const char* begin_tables() {
  if (const int error = open_tables()) return explain("cannot make the .tables file", error);
  static bool registered = false;
  if (!registered) {
    pthread_atfork(before_fork, after_fork_in_parent, begin_anew_in_child);
    registered = true;
  }
  ++generation;
  return nullptr;
}

void end_tables() {
  reopen = false;
  inherited_count = 0;
  tables_file.close();
  forget_texts();
  ++generation;
}

}  // namespace

const char* start_session(const char* folder) {
  if (runs) return nullptr;
  if (tables_only) {
    tables_only = false;
    runs = true;
    return nullptr;
  }
  char path[PATH_MAX];
  if (!sonde_path(path, sizeof path)) {
    if (!folder) folder = getenv("SONDE_RUN_DIR");
    if (!folder || !*folder) return "no folder was given and SONDE_RUN_DIR is not set";
    if (const int error = sonde_start(folder)) return explain("cannot record", error);
  }
  if (const char* const wrong = begin_tables()) return wrong;
  runs = true;
  return nullptr;
}

void stop_session() {
  if (!runs) return;
  runs = false;
  end_tables();
  sonde_stop();
}

const char* start_tables() {
  if (runs || tables_only) return nullptr;
  char path[PATH_MAX];
  if (!sonde_path(path, sizeof path)) return "nothing is recorded";
  if (const char* const wrong = begin_tables()) return wrong;
  tables_only = true;
  return nullptr;
}

void stop_tables() {
  if (!tables_only) return;
  tables_only = false;
  end_tables();
}

bool session_runs() { return runs; }

tables::Writer& writer() {
  if (__builtin_expect(__atomic_load_n(&reopen, __ATOMIC_ACQUIRE), 0)) {
    pthread_mutex_lock(&open_lock);
    // Where it fails, rows are nullptr, as in a program that does not record.
    if (reopen && open_tables() == 0) {
      for (std::size_t i = 0; i < inherited_count; ++i) {
        tables_file.add_property(inherited[i].key, inherited[i].value);
      }
    }
    __atomic_store_n(&reopen, false, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&open_lock);
  }
  return tables_file;
}

void add_property(const char* key, const char* value) { writer().add_property(key, value); }

void add_inherited_property(const char* key, const char* value) {
  add_property(key, value);
  std::size_t at = 0;
  while (at < inherited_count && strcmp(inherited[at].key, key) != 0) ++at;
  if (at == kMaxProperties) return;
  inherited[at] = {key, value};
  if (at == inherited_count) ++inherited_count;
}

std::uint32_t text_id(const char* text, std::size_t size) {
  tables::Writer& file = writer();
  const std::uint64_t hash = hash_of(text, size);
  pthread_mutex_lock(&text_lock);
  const Text* const known = texts.find(hash, [&](const Text& other) {
    return other.size == size && memcmp(other.text, text, size) == 0;
  });
  std::uint32_t id = known ? known->id : 0;
  if (!known) {
    auto* const copy = static_cast<char*>(malloc(size + 1));
    if (copy) {
      memcpy(copy, text, size);
      id = file.add_text(text, size);
      if (id == 0 || !texts.add(hash, {0, copy, static_cast<std::uint32_t>(size), id})) free(copy);
    }
  }
  pthread_mutex_unlock(&text_lock);
  return id;
}

void at_fork_in_child(ForkHandler handler) {
  for (std::size_t i = 0; i < fork_handler_count; ++i) {
    if (fork_handlers[i] == handler) return;
  }
  if (fork_handler_count < kMaxForkHandlers) fork_handlers[fork_handler_count++] = handler;
}

}  // namespace sonde::python
