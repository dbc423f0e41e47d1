#pragma once

#include <cstddef>

#include "capture/python/interpreter.hpp"

namespace sonde::python {

// Beginnings of file names, as a program gave them. Lives as long as the process.
class PathPrefixes {
 public:
  // Takes the texts of a Python list in place of those before. False with an exception set.
  bool take(PyObject* list);
  void clear();

  bool has_one_of(const char* text, std::size_t size) const;

 private:
  struct Prefix {
    char* text;
    std::size_t size;
  };

  Prefix* list_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace sonde::python
