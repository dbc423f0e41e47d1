#include <string.h>

#include "capture/recorder.hpp"

using namespace sonde::capture;
using sonde::file::ArgumentType;
using sonde::file::AsyncKind;
using sonde::file::make_word;
using sonde::file::Record;
using sonde::file::RecordType;

namespace {

std::uint64_t word_of(sonde_name* name, sonde_domain* domain, RecordType type,
                      std::uint32_t extra) {
  const std::uint32_t id = sonde_name_id_(name);
  // The loss is counted where the name could not be kept.
  if (id == 0) return 0;
  return make_word(id, static_cast<std::uint16_t>(sonde_domain_id_(domain)), type,
                   static_cast<std::uint8_t>(extra));
}

void write(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t word) {
  if (word != 0) sonde_record_(a, b, c, word);
}

void write_with(const Record& record, const sonde_arguments* arguments) {
  Record group[SONDE_MAX_ARGUMENTS + 1];
  std::uint32_t count = 0;
  if (arguments) {
    for (; count < arguments->count && count < SONDE_MAX_ARGUMENTS; ++count) {
      const sonde_argument& item = arguments->item[count];
      group[count] = {
          0, item.value, 0,
          make_word(item.key, 0, RecordType::Argument, static_cast<std::uint8_t>(item.type))};
    }
  }
  group[count] = record;
  write_group(group, count + 1);
}

void add_argument(sonde_arguments* arguments, const char* key, std::uint64_t value,
                  ArgumentType type) {
  if (arguments->count >= SONDE_MAX_ARGUMENTS) return count_drop(false);
  const std::uint32_t id = intern(NameKind::Name, key);
  if (id == 0) return;
  arguments->item[arguments->count++] = {value, id, static_cast<std::uint32_t>(type)};
}

void start_async(sonde_task* task, sonde_name* name, sonde_domain* domain, AsyncKind kind) {
  task->start = 0;
  if (!sonde_enabled()) return;
  task->word = word_of(name, domain, RecordType::AsyncSlice, static_cast<std::uint32_t>(kind));
  if (task->word == 0) return;
  task->id = sonde_new_id();
  task->start = sonde_ticks();
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

void write_memory(sonde_device_type type, std::uint32_t device, sonde_domain* pool,
                  const void* address, std::int64_t bytes, sonde_name* tag) {
  const std::uint64_t now = sonde_ticks();
  const std::uint32_t name = tag ? sonde_name_id_(tag) : 0;
  const auto domain = static_cast<std::uint16_t>(sonde_domain_id_(pool));
  const auto place =
      static_cast<std::uint8_t>((static_cast<std::uint32_t>(type) & 15) << 4 | (device & 15));
  sonde_record_(now, reinterpret_cast<std::uintptr_t>(address), static_cast<std::uint64_t>(bytes),
                make_word(name, domain, RecordType::Allocation, place));
}

}  // namespace

std::uint32_t sonde_intern_slow_(sonde_name* name) {
  const std::uint32_t id = intern(NameKind::Name, name->text);
  __atomic_store_n(&name->id, id, __ATOMIC_RELAXED);
  return id;
}

std::uint32_t sonde_intern_domain_slow_(sonde_domain* domain) {
  const std::uint32_t id = intern(NameKind::Domain, domain->text);
  __atomic_store_n(&domain->id, id, __ATOMIC_RELAXED);
  return id;
}

std::uint32_t sonde_intern(const char* text) {
  return sonde_enabled() ? intern(NameKind::Name, text) : 0;
}

std::uint64_t sonde_new_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void sonde_end_with_(const sonde_scope* scope, const sonde_arguments* arguments) {
  write_with({scope->start, sonde_ticks(), scope->id, scope->word}, arguments);
}

void sonde_add_i64(sonde_arguments* arguments, const char* key, std::int64_t value) {
  if (!sonde_enabled()) return;
  add_argument(arguments, key, static_cast<std::uint64_t>(value), ArgumentType::Int64);
}

void sonde_add_f64(sonde_arguments* arguments, const char* key, double value) {
  if (!sonde_enabled()) return;
  add_argument(arguments, key, bits_of(value), ArgumentType::Double);
}

void sonde_add_text(sonde_arguments* arguments, const char* key, const char* value) {
  if (!sonde_enabled()) return;
  const std::uint32_t id = intern(NameKind::Name, value);
  if (id != 0) add_argument(arguments, key, id, ArgumentType::Name);
}

void sonde_task_start(sonde_task* task, sonde_name* name, sonde_domain* domain) {
  start_async(task, name, domain, AsyncKind::Task);
}

void sonde_frame_start(sonde_task* frame, sonde_name* name, sonde_domain* domain) {
  start_async(frame, name, domain, AsyncKind::Frame);
}

void sonde_event_start(sonde_task* event, sonde_name* name) {
  start_async(event, name, nullptr, AsyncKind::Event);
}

void sonde_task_stop(sonde_task* task) {
  if (task->start == 0) return;
  sonde_record_(task->start, sonde_ticks(), task->id, task->word);
  task->start = 0;
}

void sonde_task_stop_with(sonde_task* task, const sonde_arguments* arguments) {
  if (task->start == 0) return;
  write_with({task->start, sonde_ticks(), task->id, task->word}, arguments);
  task->start = 0;
}

void sonde_async_begin(sonde_name* name, sonde_domain* domain, std::uint64_t id) {
  if (!sonde_enabled()) return;
  write(sonde_ticks(), id, 0, word_of(name, domain, RecordType::AsyncBegin, 0));
}

void sonde_async_end(sonde_name* name, sonde_domain* domain, std::uint64_t id) {
  if (!sonde_enabled()) return;
  write(sonde_ticks(), id, 0, word_of(name, domain, RecordType::AsyncEnd, 0));
}

void sonde_counter_set(sonde_counter* counter, std::int64_t value) {
  __atomic_store_n(&counter->value, value, __ATOMIC_RELAXED);
  if (!sonde_enabled()) return;
  write(sonde_ticks(), static_cast<std::uint64_t>(value), 0,
        word_of(&counter->name, counter->domain, RecordType::Counter, 0));
}

void sonde_counter_add(sonde_counter* counter, std::int64_t delta) {
  const std::int64_t value = __atomic_add_fetch(&counter->value, delta, __ATOMIC_RELAXED);
  if (!sonde_enabled()) return;
  write(sonde_ticks(), static_cast<std::uint64_t>(value), 0,
        word_of(&counter->name, counter->domain, RecordType::Counter, 0));
}

void sonde_counter_set_f64(sonde_counter* counter, double value) {
  if (!sonde_enabled()) return;
  write(sonde_ticks(), bits_of(value), 0,
        word_of(&counter->name, counter->domain, RecordType::Counter, 1));
}

void sonde_marker(sonde_name* name, sonde_domain* domain, char scope) {
  if (!sonde_enabled()) return;
  write(sonde_ticks(), 0, 0,
        word_of(name, domain, RecordType::Marker, static_cast<unsigned char>(scope)));
}

void sonde_marker_with(sonde_name* name, sonde_domain* domain, char scope,
                       const sonde_arguments* arguments) {
  if (!sonde_enabled()) return;
  const std::uint64_t now = sonde_ticks();
  const std::uint64_t word =
      word_of(name, domain, RecordType::Marker, static_cast<unsigned char>(scope));
  if (word != 0) write_with({now, 0, 0, word}, arguments);
}

void sonde_allocated(sonde_device_type type, std::uint32_t device, sonde_domain* pool,
                     const void* address, std::uint64_t bytes, sonde_name* tag) {
  if (!sonde_enabled()) return;
  write_memory(type, device, pool, address, static_cast<std::int64_t>(bytes), tag);
}

void sonde_freed(sonde_device_type type, std::uint32_t device, sonde_domain* pool,
                 const void* address, std::uint64_t bytes, sonde_name* tag) {
  if (!sonde_enabled()) return;
  write_memory(type, device, pool, address, -static_cast<std::int64_t>(bytes), tag);
}

void sonde_device_work(sonde_name* name, sonde_domain* domain, sonde_kind kind,
                       std::uint32_t device, std::uint64_t stream, std::uint64_t start_ticks,
                       std::uint64_t end_ticks, std::uint64_t id) {
  if (!sonde_enabled()) return;
  const std::uint64_t word = word_of(name, domain, RecordType::DeviceSlice, kind);
  if (word == 0) return;
  const Record group[] = {
      {stream, device, SONDE_DEVICE_GPU, make_word(0, 0, RecordType::Place, 0)},
      {start_ticks, end_ticks, id, word},
  };
  write_group(group, 2);
}

void sonde_link(std::uint64_t cause_id, std::uint64_t effect_id) {
  if (!sonde_enabled()) return;
  sonde_record_(sonde_ticks(), cause_id, effect_id, make_word(0, 0, RecordType::Link, 0));
}
