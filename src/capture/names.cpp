#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/recorder.hpp"

namespace sonde::capture {
namespace {

constexpr std::uint32_t kBuckets = 8192;
constexpr std::uint32_t kMaxNames = 1u << 20;
constexpr std::uint32_t kMaxDomains = 65535;
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kBlockBytes = 256 * 1024;

// One name, kept as long as the process: call sites remember its id, whatever file is written.
struct Node {
  Node* next;   // in its bucket
  Node* later;  // in the order of making
  std::uint32_t hash;
  std::uint32_t id;
  std::uint32_t size;
  NameKind kind;
  char text[1];
};

std::atomic<Node*> buckets[kBuckets];
Node* first_node;
Node* last_node;
std::uint32_t counts[2];
char* block_next;
char* block_end;

std::uint32_t hash_of(NameKind kind, const char* text, std::size_t size) {
  std::uint32_t hash = 2166136261u ^ static_cast<std::uint32_t>(kind);
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 16777619u;
  }
  return hash ^ hash >> 15;
}

// Not through the middle of a UTF-8 character.
std::size_t cut_size(const char* text) {
  std::size_t size = strnlen(text, kMaxText + 1);
  if (size <= kMaxText) return size;
  size = kMaxText;
  while (size > kMaxText - 4 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return size;
}

const Node* find(NameKind kind, const char* text, std::size_t size, std::uint32_t hash) {
  const Node* node = buckets[hash % kBuckets].load(std::memory_order_acquire);
  for (; node; node = node->next) {
    if (node->hash == hash && node->kind == kind && node->size == size &&
        memcmp(node->text, text, size) == 0) {
      return node;
    }
  }
  return nullptr;
}

Node* allocate(std::size_t size) {
  const std::size_t bytes = (offsetof(Node, text) + size + 8) & ~std::size_t{7};
  if (static_cast<std::size_t>(block_end - block_next) < bytes) {
    void* const block =
        mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return nullptr;
    block_next = static_cast<char*>(block);
    block_end = block_next + kBlockBytes;
  }
  Node* const node = reinterpret_cast<Node*>(block_next);
  block_next += bytes;
  return node;
}

bool write_name(Session& session, const Node& node) {
  const std::size_t bytes = (sizeof(file::NameEntry) + node.size + 7) & ~std::size_t{7};
  char* const place = append(session, session.names, file::ChunkType::Names, bytes);
  if (!place) return false;
  auto* const entry = reinterpret_cast<file::NameEntry*>(place);
  memcpy(place + sizeof *entry, node.text, node.size);
  store(entry->size, node.size | (node.kind == NameKind::Domain ? file::kDomainBit : 0u));
  __atomic_store_n(&entry->id, node.id, __ATOMIC_RELEASE);
  return true;
}

}  // namespace

std::uint32_t intern(NameKind kind, const char* text) {
  if (!text) text = "";
  const std::size_t size = cut_size(text);
  if (const Node* node = find(kind, text, size, hash_of(kind, text, size))) return node->id;
  const Guard guard;
  if (!guard) {
    count_drop(true);
    return 0;
  }
  std::uint32_t id;
  {
    const Lock lock;
    id = intern_locked(kind, text);
  }
  if (id == 0) count_drop(false);
  return id;
}

std::uint32_t intern_locked(NameKind kind, const char* text) {
  const std::size_t size = cut_size(text);
  const std::uint32_t hash = hash_of(kind, text, size);
  if (const Node* node = find(kind, text, size, hash)) return node->id;
  std::uint32_t& count = counts[static_cast<std::uint32_t>(kind)];
  if (count == (kind == NameKind::Domain ? kMaxDomains : kMaxNames)) return 0;
  Session* const session = current_session.load(std::memory_order_relaxed);
  if (session && session->full.load(std::memory_order_relaxed) &&
      session->names.end - session->names.next < static_cast<std::ptrdiff_t>(size + 16)) {
    return 0;
  }
  Node* const node = allocate(size);
  if (!node) {
    if (session && session->header->drop_reason == 0) {
      store(session->header->drop_reason, static_cast<std::uint32_t>(ENOMEM));
    }
    return 0;
  }
  node->hash = hash;
  node->id = count + 1;
  node->size = static_cast<std::uint32_t>(size);
  node->kind = kind;
  node->later = nullptr;
  memcpy(node->text, text, size);
  // A name that is not in the file gets no id: nothing may refer to it.
  if (session && !write_name(*session, *node)) {
    block_next = reinterpret_cast<char*>(node);
    return 0;
  }
  ++count;
  (last_node ? last_node->later : first_node) = node;
  last_node = node;
  std::atomic<Node*>& bucket = buckets[hash % kBuckets];
  node->next = bucket.load(std::memory_order_relaxed);
  bucket.store(node, std::memory_order_release);
  return node->id;
}

bool write_names(Session& session) {
  for (const Node* node = first_node; node; node = node->later) {
    if (!write_name(session, *node)) return false;
  }
  return true;
}

}  // namespace sonde::capture
