#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::capture::torch {

// Texts that come again and again, each with its number in the recording. Finding one takes no
// lock; a new one is interned once. When the table is full, new texts are interned each time.
class NameCache {
 public:
  // 0 where nothing records.
  std::uint32_t find(const char* text);
  // The same for a key that stands for a text which `make` writes only when it is new.
  template <class Make>
  std::uint32_t find_key(const std::int64_t* key, std::size_t words, Make&& make) {
    const std::uint64_t hash = hash_of(reinterpret_cast<const char*>(key), words * sizeof *key);
    if (const std::uint32_t id =
            look_up(hash, reinterpret_cast<const char*>(key), words * sizeof *key)) {
      return id;
    }
    return add(hash, reinterpret_cast<const char*>(key), words * sizeof *key, make());
  }

 private:
  struct Entry {
    std::uint64_t hash;  // 0: free. Stored last
    const char* key;
    std::uint32_t size;
    std::uint32_t id;
  };
  static constexpr std::size_t kEntries = 16384;

  static std::uint64_t hash_of(const char* bytes, std::size_t size);
  std::uint32_t look_up(std::uint64_t hash, const char* key, std::size_t size) const;
  std::uint32_t add(std::uint64_t hash, const char* key, std::size_t size, const char* text);

  Entry entries_[kEntries] = {};
  std::size_t used_ = 0;
  char* store_ = nullptr;  // where keys are copied to
  std::size_t store_left_ = 0;
};

}  // namespace sonde::capture::torch
