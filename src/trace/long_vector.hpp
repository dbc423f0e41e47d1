#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sonde {

// Memory for long lists. The kernel is asked for large pages: a trace of hundreds of megabytes is
// filled once from front to back, and a fault for every 4 KiB of it would cost a tenth of the time.
template <class T>
struct LongVectorAllocator {
  using value_type = T;

  LongVectorAllocator() = default;
  template <class U>
  LongVectorAllocator(const LongVectorAllocator<U>&) {
  }  // NOLINT: allocators convert into each other

  T* allocate(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
    const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
    void* memory = ::operator new(rounded, std::align_val_t(kPage));
#if defined(MADV_HUGEPAGE)
    // Without success the pages are small: slower, and no worse otherwise.
    (void)madvise(memory, rounded, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kLarge)
      ::operator delete(memory);
    else
      ::operator delete(memory, std::align_val_t(kPage));
  }

  friend bool operator==(const LongVectorAllocator&, const LongVectorAllocator&) { return true; }

 private:
  static constexpr std::size_t kPage = 2 * 1024 * 1024;
  static constexpr std::size_t kLarge = 2 * kPage;
};

// A list with one element for each slice, row or link.
template <class T>
using LongVector = std::vector<T, LongVectorAllocator<T>>;

}  // namespace sonde
