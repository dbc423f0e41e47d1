#pragma once

#include <map>
#include <string>

#include "sampler/python_objects.hpp"

namespace sonde {

// The names that the program gave its threads: sys.modules['threading']._active, by pthread_t.
// Empty where threading was not imported or cannot be read just now.
std::map<Address, std::string> read_thread_names(const PythonObjects& objects, Address interpreter);

}  // namespace sonde
