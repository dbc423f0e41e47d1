/* Sonde's recorder for C (C11) and C++. Link with -lsonde, or find_package(Sonde).
 *
 * A program that runs under `sonde run`, or with SONDE_RUN_DIR in its environment, records from its
 * start; any other records between sonde_start() and sonde_stop(). While nothing records, a scope
 * costs one relaxed load. With SONDE_DISABLE defined, every call here compiles to nothing.
 *
 * No call fails loudly, prints, throws or changes what the program does. Recording calls may come
 * from any thread and take no lock; names are interned under one, once for each name.
 */
#ifndef SONDE_SONDE_H
#define SONDE_SONDE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a slice is; the same list as in reports. */
typedef enum sonde_kind {
  SONDE_KIND_STEP = 1,
  SONDE_KIND_OPERATOR = 2,
  SONDE_KIND_OPERATOR_INNER = 3,
  SONDE_KIND_RANGE = 4, /* a user's own range */
  SONDE_KIND_MODULE = 5,
  SONDE_KIND_PYTHON_FUNCTION = 6,
  SONDE_KIND_RUNTIME = 7,
  SONDE_KIND_API = 9, /* a framework's own API */
  SONDE_KIND_KERNEL = 10,
  SONDE_KIND_MEMCPY = 11,
  SONDE_KIND_MEMSET = 12,
  SONDE_KIND_COMMUNICATION = 13,
  SONDE_KIND_DATA_LOADER = 14,
  SONDE_KIND_FORWARD = 15,
  SONDE_KIND_BACKWARD = 16,
  SONDE_KIND_OPTIMIZER = 17
} sonde_kind;

/* A name, interned at its first use. Static: one for each call site. */
typedef struct sonde_name {
  const char* text;
  uint32_t id; /* 0: not interned yet */
} sonde_name;
#define SONDE_NAME_INIT(text) \
  { (text), 0 }

/* A category. At most 65,535 different ones. NULL stands for none. */
typedef struct sonde_domain {
  const char* text;
  uint32_t id;
} sonde_domain;
#define SONDE_DOMAIN_INIT(text) \
  { (text), 0 }

typedef enum sonde_device_type {
  SONDE_DEVICE_CPU = 0,
  SONDE_DEVICE_GPU = 1,
  SONDE_DEVICE_CPU_PINNED = 2,
  SONDE_DEVICE_CPU_SHARED = 3
} sonde_device_type;

typedef enum sonde_limit { SONDE_LIMIT_STOP = 0, SONDE_LIMIT_KEEP_LAST = 1 } sonde_limit;

/* A running slice. Lives where the caller likes, the stack above all. */
typedef struct sonde_scope {
  uint64_t start; /* 0: nothing records; the rest is unset then */
  uint64_t id;
  uint64_t word;
} sonde_scope;

/* A task, a frame or an event: may be started and stopped on different threads. */
typedef sonde_scope sonde_task;

/* Key/value pairs for the end of a scope. sonde_no_arguments() leaves the items unset: an empty
 * list costs nothing. */
enum { SONDE_MAX_ARGUMENTS = 8 };
typedef struct sonde_argument {
  uint64_t value;
  uint32_t key;
  uint32_t type;
} sonde_argument;
typedef struct sonde_arguments {
  uint32_t count;
  sonde_argument item[SONDE_MAX_ARGUMENTS];
} sonde_arguments;

/* A counter keeps its value, also while nothing records, so that it can be added to from any
 * thread. */
typedef struct sonde_counter {
  sonde_name name;
  sonde_domain* domain;
  int64_t value;
} sonde_counter;
#define SONDE_COUNTER_INIT(text, domain) \
  { SONDE_NAME_INIT(text), (domain), 0 }

#ifdef SONDE_DISABLE
#define SONDE_CALL_(declaration) \
  static inline void declaration {}
#define SONDE_VALUE_(type, declaration, value) \
  static inline type declaration { return value; }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#else
#define SONDE_API __attribute__((visibility("default")))
#define SONDE_CALL_(declaration) SONDE_API void declaration;
#define SONDE_VALUE_(type, declaration, value) SONDE_API type declaration;
#endif

/* ---- State ------------------------------------------------------------------------------------
 */

/* Records into a file of its own in `folder` (made where it is missing). 0, or an errno. A second
 * start while recording is 0 and does nothing. */
SONDE_VALUE_(int, sonde_start(const char* folder), 0)
/* Ends the recording in order. Records of other threads that are on their way are still taken. */
SONDE_CALL_(sonde_stop(void))
SONDE_CALL_(sonde_pause(void))
SONDE_CALL_(sonde_resume(void))
/* Sees to it that everything so far survives a crash of the machine, not only of the program. */
SONDE_CALL_(sonde_flush(void))
/* Before sonde_start(): how large the file may become (0: no limit), and what happens then. */
SONDE_CALL_(sonde_set_limit(uint64_t bytes, sonde_limit limit))
/* Copies the recording so far into `path` (NULL: a file beside the recording). 0, or an errno. Safe
 * in a signal handler. */
SONDE_VALUE_(int, sonde_dump(const char* path), 0)
/* Dumps on that signal (0: none), and on SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT where the
 * program has no handler of its own. For flight recorders. */
SONDE_CALL_(sonde_dump_on_signal(int signal))
/* Where the recording goes: the path of the file. False (and an empty text) while there is none. */
SONDE_VALUE_(int, sonde_path(char* path, size_t size), (size ? (void)(path[0] = 0) : (void)0, 0))

/* Leaves out `skip` steps, then `repeat` times (0: for ever) waits, warms up and records that many
 * steps. sonde_step() counts. */
SONDE_CALL_(sonde_schedule(uint32_t skip, uint32_t wait, uint32_t warm_up, uint32_t active,
                           uint32_t repeat))
/* Ends the running step and begins the next one: for the top of the loop. */
SONDE_CALL_(sonde_step(void))
/* Ends the running step and begins none: for behind the loop. */
SONDE_CALL_(sonde_last_step(void))

/* ---- Inside: used by the inline functions ------------------------------------------------------
 */

#ifndef SONDE_DISABLE

/* Where the calling thread writes next. `busy` keeps a signal handler out of a record at work.
 * `end` leads to the end of the room. Another thread may set that to 0, and in a forked child it is
 * 0: it makes the next record take the slow way. */
typedef struct sonde_cursor {
  uint64_t* next;
  uint64_t** end;
  uint32_t busy;
} sonde_cursor;

SONDE_API extern int sonde_recording_;
/* Initial-exec: one load instead of a call for every record. The few bytes fit into the room that
 * the C library keeps for libraries that are loaded late. */
SONDE_API extern __thread sonde_cursor sonde_cursor_ __attribute__((tls_model("initial-exec")));
SONDE_API void sonde_record_slow_(uint64_t a, uint64_t b, uint64_t c, uint64_t word);
SONDE_API void sonde_end_with_(const sonde_scope* scope, const sonde_arguments* arguments);
SONDE_API uint32_t sonde_intern_slow_(sonde_name* name);
SONDE_API uint32_t sonde_intern_domain_slow_(sonde_domain* domain);
/* Writes the clocks down once more: the further apart the readings, the better the times. */
SONDE_API void sonde_renew_clock_(void);
#if !defined(__x86_64__) && !defined(__aarch64__)
SONDE_API uint64_t sonde_ticks_(void);
#endif
/* Where in the program the calling thread is: the number of a frame in the tables beside the
 * recording, 0 where it has none. Set by an agent that knows; else NULL. */
SONDE_API extern uint32_t (*sonde_place_)(void);

/* name (32 bits) | domain (16) | type (8) | extra (8) */
static inline uint64_t sonde_word_(uint32_t name, uint32_t domain, uint32_t type, uint32_t extra) {
  return (uint64_t)name | (uint64_t)(domain & 0xFFFFu) << 32 | (uint64_t)type << 48 |
         (uint64_t)extra << 56;
}

static inline uint32_t sonde_name_id_(sonde_name* name) {
  const uint32_t id = __atomic_load_n(&name->id, __ATOMIC_RELAXED);
  return __builtin_expect(id != 0, 1) ? id : sonde_intern_slow_(name);
}

static inline uint32_t sonde_domain_id_(sonde_domain* domain) {
  if (!domain) return 0;
  const uint32_t id = __atomic_load_n(&domain->id, __ATOMIC_RELAXED);
  return __builtin_expect(id != 0, 1) ? id : sonde_intern_domain_slow_(domain);
}

/* One record of 32 bytes. Its last word makes it whole: it is stored last. A handler that comes
 * before `busy` is set leaves everything as it was; one that comes later stays out. */
static inline void sonde_record_(uint64_t a, uint64_t b, uint64_t c, uint64_t word) {
  sonde_cursor* const cursor = &sonde_cursor_;
  if (__builtin_expect(cursor->busy == 0, 1)) {
    cursor->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t* const at = cursor->next;
    if (__builtin_expect(at < __atomic_load_n(cursor->end, __ATOMIC_RELAXED), 1)) {
      __atomic_store_n(at, a, __ATOMIC_RELAXED);
      __atomic_store_n(at + 1, b, __ATOMIC_RELAXED);
      __atomic_store_n(at + 2, c, __ATOMIC_RELAXED);
      __atomic_store_n(at + 3, word, __ATOMIC_RELEASE);
      cursor->next = at + 4;
      __atomic_signal_fence(__ATOMIC_SEQ_CST);
      cursor->busy = 0;
      return;
    }
    cursor->busy = 0;
  }
  sonde_record_slow_(a, b, c, word);
}

#endif /* SONDE_DISABLE */

/* Whether a call now would be recorded. */
static inline int sonde_enabled(void) {
#ifdef SONDE_DISABLE
  return 0;
#else
  return __atomic_load_n(&sonde_recording_, __ATOMIC_RELAXED);
#endif
}

/* The raw counter: the clock of all records. */
static inline uint64_t sonde_ticks(void) {
#ifdef SONDE_DISABLE
  return 0;
#elif defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return sonde_ticks_();
#endif
}

/* ---- Names -------------------------------------------------------------------------------------
 */

/* The id of a text that is made at run time; 0 while nothing records. The text is copied. */
SONDE_VALUE_(uint32_t, sonde_intern(const char* text), 0)
/* An id by which links speak of a scope or of device work; unique in the process. */
SONDE_VALUE_(uint64_t, sonde_new_id(void), 0)

/* ---- Scopes ------------------------------------------------------------------------------------
 */

/* As sonde_begin(), for a name from sonde_intern(). */
static inline void sonde_begin_id(sonde_scope* scope, uint32_t name, sonde_domain* domain,
                                  sonde_kind kind) {
  scope->start = 0;
#ifndef SONDE_DISABLE
  if (sonde_enabled() && name != 0) {
    scope->id = 0;
    scope->word = sonde_word_(name, sonde_domain_id_(domain), 1, (uint32_t)kind);
    scope->start = sonde_ticks();
  }
#endif
}

static inline void sonde_begin(sonde_scope* scope, sonde_name* name, sonde_domain* domain,
                               sonde_kind kind) {
  scope->start = 0;
#ifndef SONDE_DISABLE
  if (sonde_enabled()) {
    const uint32_t id = sonde_name_id_(name);
    if (id == 0) return;
    scope->id = 0;
    scope->word = sonde_word_(id, sonde_domain_id_(domain), 1, (uint32_t)kind);
    scope->start = sonde_ticks();
  }
#endif
}

static inline void sonde_end(sonde_scope* scope) {
#ifndef SONDE_DISABLE
  if (scope->start != 0) sonde_record_(scope->start, sonde_ticks(), scope->id, scope->word);
#endif
}

/* Links speak of the scope by this id. After sonde_begin(). */
static inline void sonde_set_id(sonde_scope* scope, uint64_t id) { scope->id = id; }

#ifndef __cplusplus
#define SONDE_JOIN2_(a, b) a##b
#define SONDE_JOIN_(a, b) SONDE_JOIN2_(a, b)
#ifdef SONDE_DISABLE
#define SONDE_SCOPE_OF(text, domain, kind) (void)0
#else
#define SONDE_SCOPE_AT_(site, text, domain, kind)                                  \
  static sonde_name SONDE_JOIN_(sonde_name_, site) = SONDE_NAME_INIT(text);        \
  sonde_scope SONDE_JOIN_(sonde_scope_, site) __attribute__((cleanup(sonde_end))); \
  sonde_begin(&SONDE_JOIN_(sonde_scope_, site), &SONDE_JOIN_(sonde_name_, site), domain, kind)
/* The rest of the block as a slice; in C++ see sonde.hpp. */
#define SONDE_SCOPE_OF(text, domain, kind) SONDE_SCOPE_AT_(__COUNTER__, text, domain, kind)
#endif
#define SONDE_SCOPE(text) SONDE_SCOPE_OF(text, NULL, SONDE_KIND_RANGE)
#endif

/* ---- Arguments ---------------------------------------------------------------------------------
 */

static inline void sonde_no_arguments(sonde_arguments* arguments) { arguments->count = 0; }
/* More than SONDE_MAX_ARGUMENTS are counted as dropped. */
SONDE_CALL_(sonde_add_i64(sonde_arguments* arguments, const char* key, int64_t value))
SONDE_CALL_(sonde_add_f64(sonde_arguments* arguments, const char* key, double value))
SONDE_CALL_(sonde_add_text(sonde_arguments* arguments, const char* key, const char* value))

static inline void sonde_end_with(sonde_scope* scope, const sonde_arguments* arguments) {
#ifndef SONDE_DISABLE
  if (scope->start != 0) sonde_end_with_(scope, arguments);
#endif
}

/* ---- Tasks, frames, events: start here, stop there, on any thread ------------------------------
 */

SONDE_CALL_(sonde_task_start(sonde_task* task, sonde_name* name, sonde_domain* domain))
SONDE_CALL_(sonde_task_stop(sonde_task* task))
SONDE_CALL_(sonde_task_stop_with(sonde_task* task, const sonde_arguments* arguments))
/* Stopped as a task is. */
SONDE_CALL_(sonde_frame_start(sonde_task* frame, sonde_name* name, sonde_domain* domain))
SONDE_CALL_(sonde_event_start(sonde_task* event, sonde_name* name))

/* Asynchronous ranges that nobody holds an object for: paired by domain, name and id. */
SONDE_CALL_(sonde_async_begin(sonde_name* name, sonde_domain* domain, uint64_t id))
SONDE_CALL_(sonde_async_end(sonde_name* name, sonde_domain* domain, uint64_t id))

/* ---- Counters and markers ----------------------------------------------------------------------
 */

SONDE_CALL_(sonde_counter_set(sonde_counter* counter, int64_t value))
SONDE_CALL_(sonde_counter_add(sonde_counter* counter, int64_t delta))
/* Leaves the value that sonde_counter_add() goes on from as it is. */
SONDE_CALL_(sonde_counter_set_f64(sonde_counter* counter, double value))
/* scope: 't' thread, 'p' process, 'g' global. `arguments` may be NULL. */
SONDE_CALL_(sonde_marker(sonde_name* name, sonde_domain* domain, char scope))
SONDE_CALL_(sonde_marker_with(sonde_name* name, sonde_domain* domain, char scope,
                              const sonde_arguments* arguments))

/* ---- Memory ------------------------------------------------------------------------------------
 */

/* Devices are numbered from 0 to 15 here. */
SONDE_CALL_(sonde_allocated(sonde_device_type type, uint32_t device, sonde_domain* pool,
                            const void* address, uint64_t bytes, sonde_name* tag))
SONDE_CALL_(sonde_freed(sonde_device_type type, uint32_t device, sonde_domain* pool,
                        const void* address, uint64_t bytes, sonde_name* tag))

/* ---- Device work and links ---------------------------------------------------------------------
 */

/* Work of a device with times of its own, in ticks of sonde_ticks(). */
SONDE_CALL_(sonde_device_work(sonde_name* name, sonde_domain* domain, sonde_kind kind,
                              uint32_t device, uint64_t stream, uint64_t start_ticks,
                              uint64_t end_ticks, uint64_t id))
/* CLOCK_MONOTONIC nanoseconds as ticks; 0 while there is no recording. */
SONDE_VALUE_(uint64_t, sonde_ticks_from_ns(int64_t monotonic_ns), 0)
/* This launch caused that work. */
SONDE_CALL_(sonde_link(uint64_t cause_id, uint64_t effect_id))

/* ---- Names of threads and processes ------------------------------------------------------------
 */

/* Threads without a name from here go by the one that the system knows. */
SONDE_CALL_(sonde_name_thread(const char* name))
SONDE_CALL_(sonde_name_process(const char* name))

#ifdef SONDE_DISABLE
#pragma GCC diagnostic pop
#endif
#undef SONDE_CALL_
#undef SONDE_VALUE_

#ifdef __cplusplus
}
#endif
#endif /* SONDE_SONDE_H */
