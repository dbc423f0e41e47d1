#include "analysis/libstdcxx_map.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sonde {
namespace {

constexpr std::uint64_t kMultiplier = (std::uint64_t{0xC6A4A793} << 32) + 0x5BD1E995;
constexpr std::uint64_t kSeed = 0xC70F6907;

// At most eight bytes as a number, the first one lowest.
std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

std::uint64_t fold(std::uint64_t value) { return value ^ value >> 47; }

// The numbers of buckets that a growing map goes through: each is the first of the library's list
// of primes that is at least twice the one before.
constexpr std::array<std::uint64_t, 30> kBucketCounts = {
    2,        5,         11,        23,        47,         97,        199,      409,
    823,      1741,      3739,      7517,      15173,      30727,     62233,    126271,
    256279,   520241,    1056323,   2144977,   4355707,    8844859,   17961079, 36473443,
    74066549, 150406843, 305431229, 620239453, 1259520799, 2557710269};

constexpr std::uint32_t kNone = UINT32_MAX;

// One list through all nodes, in which the nodes of a bucket stand side by side.
class OldHashMap {
 public:
  explicit OldHashMap(std::span<const std::string_view> names) : next_(names.size(), kNone) {
    hashes_.reserve(names.size());
    for (const std::string_view name : names) hashes_.push_back(libstdcxx_hash(name));
    std::size_t growth = 0;
    for (std::uint32_t node = 0; node < names.size(); ++node) {
      const std::uint64_t count = node + 1;
      if (count >= buckets_.size() && growth < kBucketCounts.size()) grow(kBucketCounts[growth++]);
      insert(node);
    }
  }

  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> out;
    out.reserve(next_.size());
    for (std::uint32_t node = first_; node != kNone; node = next_[node]) out.push_back(node);
    return out;
  }

 private:
  // Who stands before the first node of a bucket.
  struct Bucket {
    bool used = false;
    std::uint32_t before = kNone;  // kNone: nobody, the bucket is the first of the list
  };

  void grow(std::uint64_t count) {
    std::uint32_t node = first_;
    first_ = kNone;
    buckets_.assign(count, {});
    while (node != kNone) {
      const std::uint32_t following = next_[node];
      insert(node);
      node = following;
    }
  }

  // A node of a new bucket goes to the front of the list, one of a known bucket to its front.
  void insert(std::uint32_t node) {
    Bucket& bucket = buckets_[hashes_[node] % buckets_.size()];
    std::uint32_t& link = bucket.used && bucket.before != kNone ? next_[bucket.before] : first_;
    next_[node] = link;
    link = node;
    if (bucket.used) return;
    bucket.used = true;
    if (next_[node] != kNone) buckets_[hashes_[next_[node]] % buckets_.size()].before = node;
  }

  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> next_;
  std::vector<Bucket> buckets_{1};
  std::uint32_t first_ = kNone;
};

}  // namespace

std::uint64_t libstdcxx_hash(std::string_view text) {
  std::uint64_t hash = kSeed ^ (text.size() * kMultiplier);
  for (; text.size() >= 8; text.remove_prefix(8)) {
    hash ^= fold(little_endian(text.substr(0, 8)) * kMultiplier) * kMultiplier;
    hash *= kMultiplier;
  }
  if (!text.empty()) {
    hash ^= little_endian(text);
    hash *= kMultiplier;
  }
  return fold(fold(hash) * kMultiplier);
}

std::vector<std::uint32_t> libstdcxx_map_order(std::span<const std::string_view> names) {
  return OldHashMap(names).order();
}

}  // namespace sonde
