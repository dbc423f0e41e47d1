#include <pthread.h>
#include <string.h>

#include "capture/nvtx/ranges.hpp"

namespace sonde::capture::nvtx {
namespace {

struct Category {
  Category* next;
  std::uint32_t domain;
  std::uint32_t number;
  const char* name;
};

// Every module of a program makes its own domains, and asks for the same ones.
struct KnownDomain {
  Domain domain;
  KnownDomain* next;
};

constexpr std::uint32_t kBuckets = 256;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Category* categories[kBuckets];
KnownDomain* domains;
std::uint32_t domain_count;
Domain usual = {SONDE_DOMAIN_INIT("NVTX"), 0};

std::uint32_t bucket_of(std::uint32_t domain, std::uint32_t number) {
  return (domain * 31 + number) % kBuckets;
}

char* copy(const char* text) {
  const std::size_t size = strnlen(text, kLongestText);
  char* const out = static_cast<char*>(keep(size + 1));
  if (out) {
    memcpy(out, text, size);
    out[size] = 0;
  }
  return out;
}

}  // namespace

Domain* default_domain() { return &usual; }

Domain* make_domain(const char* name) {
  if (!name) return nullptr;
  pthread_mutex_lock(&mutex);
  KnownDomain* known = domains;
  while (known && strcmp(known->domain.domain.text, name) != 0) known = known->next;
  if (!known) {
    known = static_cast<KnownDomain*>(keep(sizeof *known));
    const char* const text = known ? copy(name) : nullptr;
    if (text) {
      *known = {{SONDE_DOMAIN_INIT(text), ++domain_count}, domains};
      domains = known;
    } else {
      known = nullptr;
    }
  }
  pthread_mutex_unlock(&mutex);
  return known ? &known->domain : nullptr;
}

Text* register_text(const char* text) {
  if (!text) return nullptr;
  const std::size_t size = strnlen(text, kLongestText);
  Text* const out = static_cast<Text*>(keep(sizeof *out + size));
  if (!out) return nullptr;
  out->name = sonde_intern(text);
  memcpy(out->text, text, size);
  out->text[size] = 0;
  return out;
}

void name_category(const Domain& domain, std::uint32_t number, const char* name) {
  if (!name) return;
  char* const text = copy(name);
  auto* const category = static_cast<Category*>(keep(sizeof(Category)));
  if (!text || !category) return;
  Category*& first = categories[bucket_of(domain.number, number)];
  pthread_mutex_lock(&mutex);
  *category = {first, domain.number, number, text};
  // Readers take no lock: the newest name is found first.
  __atomic_store_n(&first, category, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&mutex);
}

const char* category_name(const Domain& domain, std::uint32_t number) {
  const Category* at =
      __atomic_load_n(&categories[bucket_of(domain.number, number)], __ATOMIC_ACQUIRE);
  for (; at; at = at->next) {
    if (at->domain == domain.number && at->number == number) return at->name;
  }
  return nullptr;
}

}  // namespace sonde::capture::nvtx
