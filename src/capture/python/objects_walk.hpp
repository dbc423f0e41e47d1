#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/python/interpreter.hpp"

namespace sonde::python {

// The objects of one type at a moment.
struct TypeSum {
  PyTypeObject* type;    // held
  const char* addition;  // behind the type's name: where the data of a tensor lies; "" mostly
  std::uint64_t count;
  std::uint64_t bytes;
};

// All objects that can be found: those that the garbage collector tracks, without frames, and
// everything untracked that they lead to, each once. Sizes are those of sys.getsizeof(); the base
// of a numpy array counts where it is found only through its views, and the storage of a torch
// tensor with the first tensor that uses it.
class ObjectSums {
 public:
  ObjectSums() = default;
  ~ObjectSums();
  ObjectSums(const ObjectSums&) = delete;
  ObjectSums& operator=(const ObjectSums&) = delete;

  // False where there is no memory; no exception is left set.
  bool walk();
  const TypeSum* begin() const { return sums_; }
  const TypeSum* end() const { return sums_ + count_; }

  // "module.qualname" as UTF-8; false where the type has no usable name. `out` gets a new reference
  // that holds the text.
  static bool name_of(const TypeSum& sum, PyObject*& out);

 private:
  TypeSum* find(PyTypeObject* type, const char* addition);

  TypeSum* sums_ = nullptr;
  std::size_t count_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace sonde::python
