#include "capture/nvtx/schemas.hpp"

#include <pthread.h>
#include <string.h>

namespace sonde::capture::nvtx {
namespace {

constexpr std::size_t kBuckets = 1024;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Schema* buckets[kBuckets];
std::uint64_t dynamic_ids;
std::size_t schema_count;

std::size_t bucket_of(std::uint64_t id) { return (id ^ id >> 20) % kBuckets; }

const char* copy(const char* text) {
  if (!text) return nullptr;
  const std::size_t size = strnlen(text, kLongestText);
  char* const out = static_cast<char*>(keep(size + 1));
  if (!out) return nullptr;
  memcpy(out, text, size);
  out[size] = 0;
  return out;
}

// Numbers below are the program's own and belong to its domain, the others are given here.
bool is_static(std::uint64_t id) {
  return id >= entry_type::kFirstStatic && id < entry_type::kFirstDynamic;
}

std::uint64_t add(Schema* schema, bool has_id, std::uint64_t id) {
  if (has_id && !is_static(id)) return 0;
  pthread_mutex_lock(&mutex);
  const bool room = schema_count < kMostSchemas;
  if (room) {
    ++schema_count;
    schema->id = has_id ? id : entry_type::kFirstDynamic + dynamic_ids++;
    Schema*& first = buckets[bucket_of(schema->id)];
    schema->next = first;
    // Readers take no lock: of a number that is registered anew, the newest is found first.
    __atomic_store_n(&first, schema, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&mutex);
  return room ? schema->id : 0;
}

}  // namespace

std::uint64_t register_schema(const Domain& domain, const SchemaAttributes* given) {
  using namespace schema_field;
  constexpr std::uint64_t kNeeded = kType | kEntries | kCount;
  if (!given || (given->fields & kNeeded) != kNeeded || !given->entries || given->count == 0 ||
      given->count > kMostEntries || given->type < static_cast<std::uint64_t>(SchemaType::Static) ||
      given->type > static_cast<std::uint64_t>(SchemaType::SelectingUnion)) {
    return 0;
  }
  auto* const schema = static_cast<Schema*>(keep(sizeof(Schema)));
  auto* const entries = static_cast<SchemaEntry*>(keep(given->count * sizeof(SchemaEntry)));
  if (!schema || !entries) return 0;
  memcpy(entries, given->entries, given->count * sizeof(SchemaEntry));
  for (std::size_t i = 0; i < given->count; ++i) entries[i].name = copy(entries[i].name);
  *schema = {};
  schema->domain = &domain;
  schema->name = given->fields & kName ? copy(given->name) : nullptr;
  schema->type = static_cast<SchemaType>(given->type);
  schema->count = given->count;
  schema->size = given->fields & kStaticSize ? given->static_size : 0;
  schema->pack = given->fields & kPack ? given->pack : 0;
  schema->entries = entries;
  return add(schema, (given->fields & kId) != 0 && given->id != 0, given->id);
}

std::uint64_t register_enum(const Domain& domain, const EnumAttributes* given) {
  using namespace enum_field;
  constexpr std::uint64_t kNeeded = kEntries | kCount;
  if (!given || (given->fields & kNeeded) != kNeeded || (!given->entries && given->count != 0) ||
      given->count > kMostEnumerators) {
    return 0;
  }
  const std::size_t size = given->fields & kSize ? given->size : sizeof(int);
  if (size != 1 && size != 2 && size != 4 && size != 8) return 0;
  auto* const schema = static_cast<Schema*>(keep(sizeof(Schema)));
  auto* const values = static_cast<Enumerator*>(keep((given->count + 1) * sizeof(Enumerator)));
  if (!schema || !values) return 0;
  for (std::size_t i = 0; i < given->count; ++i) {
    const EnumEntry& entry = given->entries[i];
    values[i] = {copy(entry.name), entry.value, entry.is_flag != 0};
  }
  *schema = {};
  schema->domain = &domain;
  schema->name = given->fields & kName ? copy(given->name) : nullptr;
  schema->is_enum = true;
  schema->count = given->count;
  schema->size = size;
  schema->enumerators = values;
  return add(schema, (given->fields & kId) != 0 && given->id != 0, given->id);
}

const Schema* find_schema(const Domain& domain, std::uint64_t id) {
  const Schema* at = __atomic_load_n(&buckets[bucket_of(id)], __ATOMIC_ACQUIRE);
  for (; at; at = at->next) {
    if (at->id == id && (!is_static(id) || at->domain == &domain)) return at;
  }
  return nullptr;
}

}  // namespace sonde::capture::nvtx
