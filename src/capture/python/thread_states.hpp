#pragma once

#include "capture/python/interpreter.hpp"

namespace sonde::python {

// Visits the states of all threads of this interpreter, until a visit is false.
template <class Visit>
bool for_each_state(Visit visit) {
  PyInterpreterState* const interpreter = PyInterpreterState_Get();
  for (PyThreadState* state = PyInterpreterState_ThreadHead(interpreter); state;
       state = PyThreadState_Next(state)) {
    if (!visit(state)) return false;
  }
  return true;
}

}  // namespace sonde::python
