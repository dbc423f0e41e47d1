#pragma once

#include <stdlib.h>
#include <string.h>

#include <cstddef>

namespace sonde::python {

// A growing list of plain values. Where there is no memory it stays as it is and says so.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { free(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void push(const T& value) {
    if (size_ == capacity_ && !reserve(capacity_ ? 2 * capacity_ : 64)) return;
    data_[size_++] = value;
  }
  // All of them `value`.
  void fill(std::size_t size, const T& value) {
    if (size > capacity_ && !reserve(size)) return;
    for (std::size_t i = 0; i < size; ++i) data_[i] = value;
    size_ = size;
  }

  bool failed() const { return failed_; }
  std::size_t size() const { return size_; }
  int count() const { return static_cast<int>(size_); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](int index) { return data_[index]; }
  const T& operator[](int index) const { return data_[index]; }

 private:
  bool reserve(std::size_t capacity) {
    void* const longer = realloc(data_, capacity * sizeof(T));
    if (!longer) {
      failed_ = true;
      return false;
    }
    data_ = static_cast<T*>(longer);
    capacity_ = capacity;
    return true;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool failed_ = false;
};

}  // namespace sonde::python
