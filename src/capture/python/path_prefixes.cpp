#include "capture/python/path_prefixes.hpp"

#include <stdlib.h>
#include <string.h>

namespace sonde::python {

bool PathPrefixes::take(PyObject* list) {
  clear();
  const Reference fast(PySequence_Fast(list, "sonde: a list of path prefixes is needed"));
  if (!fast) return false;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(fast.get());
  list_ = static_cast<Prefix*>(calloc(static_cast<std::size_t>(count) + 1, sizeof(Prefix)));
  if (!list_) return PyErr_NoMemory(), false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    Py_ssize_t size = 0;
    const char* const text =
        PyUnicode_AsUTF8AndSize(PySequence_Fast_GET_ITEM(fast.get(), i), &size);
    if (!text) return false;
    Prefix& prefix = list_[count_];
    prefix.text = strdup(text);
    if (!prefix.text) return PyErr_NoMemory(), false;
    prefix.size = static_cast<std::size_t>(size);
    ++count_;
  }
  return true;
}

void PathPrefixes::clear() {
  for (std::size_t i = 0; i < count_; ++i) free(list_[i].text);
  free(list_);
  list_ = nullptr;
  count_ = 0;
}

bool PathPrefixes::has_one_of(const char* text, std::size_t size) const {
  for (std::size_t i = 0; i < count_; ++i) {
    const Prefix& prefix = list_[i];
    if (size >= prefix.size && memcmp(text, prefix.text, prefix.size) == 0) return true;
  }
  return false;
}

}  // namespace sonde::python
